package handlers

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/internal/clinic"
)

// What a message costs before any tool is called: the server of one actor, with the tool that is called, is made anew each time.
func BenchmarkServerOfOneMessage(b *testing.B) {
	s := newSiteless()
	for b.Loop() {
		if s.mcpServer(clinic.Actor{}, "http://127.0.0.1", "find_patient") == (*mcp.Server)(nil) {
			b.Fatal("none")
		}
	}
}
