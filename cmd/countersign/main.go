// Command countersign is the desk where appointment changes are proposed, reviewed and executed exactly as reviewed.
package main

func main() {}
