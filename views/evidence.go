package views

import "net/url"

// EvidenceURL is the evidence of one proposal.
func EvidenceURL(proposal string) string {
	return "/proposals/" + url.PathEscape(proposal) + "/evidence"
}
