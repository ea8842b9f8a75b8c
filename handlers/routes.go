package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/internal/audit"
	"countersign/static"
	"countersign/views"
)

// access says who may come in, and in what form they speak.
type access int

const (
	plain  access = iota // nobody is asked and no cookie is read: health, static files, the API's description
	open                 // a page before sign-in
	page                 // a page for who is signed in; otherwise /signin
	api                  // JSON for who has a token; cookies count for nothing
	signed               // JSON that proves itself by its signature; cookies and tokens count for nothing
)

// route is one line of the table of all routes.
type route struct {
	method, path string
	access       access
	handle       echo.HandlerFunc
	// form, of a page's POST: the path of the page whose form sent it. When the session has ended, signing in leads back
	// there, with what was typed (see held). nil = the day sheet.
	form func(echo.Context) string
	// reads, of a GET of one thing: the audit action, so that asking for what is not there is written down too.
	reads string
	// decides: somebody can approve a proposal here. Each such door is tried for self-approval and for one person twice.
	decides bool
}

// routes lists every route there is; the tests walk it.
func (s *Server) routes() []route {
	files := echo.WrapHandler(static.Handler())
	return []route{
		{method: http.MethodGet, path: "/healthz", access: plain, handle: s.healthz},
		{method: http.MethodHead, path: "/healthz", access: plain, handle: s.healthz},
		{method: http.MethodGet, path: "/readyz", access: plain, handle: s.readyz},
		{method: http.MethodHead, path: "/readyz", access: plain, handle: s.readyz},
		{method: http.MethodGet, path: "/static/*", access: plain, handle: files},
		{method: http.MethodHead, path: "/static/*", access: plain, handle: files},

		{method: http.MethodGet, path: "/signin", access: open, handle: s.showSignIn},
		{method: http.MethodPost, path: "/signin", access: open, handle: s.signIn},
		{method: http.MethodPost, path: "/signout", access: open, handle: s.signOut},

		{method: http.MethodGet, path: "/", access: page, handle: s.showDay},
		{method: http.MethodGet, path: dayPoll, access: page, handle: s.dayChanged},
		{method: http.MethodPost, path: "/patients/search", access: page, handle: s.searchPatients},
		{method: http.MethodGet, path: "/patients/new", access: page, handle: s.newPatient},
		{method: http.MethodGet, path: "/patients/:id", access: page, handle: s.showPatient, reads: audit.ReadPatient},
		{method: http.MethodGet, path: "/patients/:id/contact", access: page, handle: s.newContact, reads: audit.ReadPatient},
		{method: http.MethodGet, path: "/patients/:id/message", access: page, handle: s.newMessage, reads: audit.ReadPatient},
		{method: http.MethodGet, path: "/appointments/:id", access: page, handle: s.showAppointment, reads: audit.ReadAppointment},
		{method: http.MethodPost, path: "/appointments/:id/status", access: page, handle: s.setStatus, form: appointmentForm},
		{method: http.MethodGet, path: "/assistant", access: page, handle: s.showAssistant},
		{method: http.MethodGet, path: "/assistant/:thread", access: page, handle: s.showAssistant},
		{method: http.MethodGet, path: "/assistant/:thread" + talkPoll, access: page, handle: s.assistantChanged},
		{method: http.MethodPost, path: "/assistant/:thread/messages", access: page, handle: s.sayToAssistant, form: assistantForm},
		{method: http.MethodGet, path: eventsPath, access: page, handle: s.events},
		{method: http.MethodGet, path: queuePath, access: page, handle: s.showQueue},
		{method: http.MethodPost, path: "/queue/review", access: page, handle: s.reviewTogether, form: queueForm},
		{method: http.MethodPost, path: "/queue/decisions", access: page, handle: s.decideTogether, form: queueForm, decides: true},
		{method: http.MethodGet, path: queuePoll, access: page, handle: s.queueChanged},
		{method: http.MethodPost, path: "/preferences/keys", access: page, handle: s.setKeys},
		{method: http.MethodPost, path: "/preferences/told", access: page, handle: s.setTold},
		{method: http.MethodGet, path: "/leave", access: page, handle: s.showLeave},
		{method: http.MethodGet, path: leaveFormPath, access: page, handle: s.newLeave},
		{method: http.MethodPost, path: leaveFormPath, access: page, handle: s.saveLeave, form: leaveForm},
		{method: http.MethodPost, path: "/leave/:id/end", access: page, handle: s.endLeave, form: leaveList},
		{method: http.MethodGet, path: waitingPath, access: page, handle: s.showWaiting},
		{method: http.MethodGet, path: waitingPath + "/new", access: page, handle: s.newWaiting},
		{method: http.MethodPost, path: waitingPath, access: page, handle: s.addWaiting, form: waitingForm},
		{method: http.MethodPost, path: waitingPath + "/:id/end", access: page, handle: s.endWaiting, form: waitingList},
		{method: http.MethodGet, path: rebookingPath, access: page, handle: s.showRebooking},
		{method: http.MethodPost, path: rebookingPath + "/:id/close", access: page, handle: s.closeRebooking, form: rebookingList},
		{method: http.MethodGet, path: "/proposals/bulk", access: page, handle: s.newBulk},
		{method: http.MethodGet, path: "/outbox", access: page, handle: s.showOutbox},
		{method: http.MethodPost, path: "/outbox/:id/retry", access: page, handle: s.retryMessage, form: outboxForm},
		{method: http.MethodPost, path: "/outbox/demo", access: page, handle: s.setDemoSender, form: outboxForm},
		{method: http.MethodGet, path: views.OperationsURL, access: page, handle: s.showOperations},
		{method: http.MethodGet, path: views.OperationsURL + "/:id", access: page, handle: s.showOperation, reads: audit.ReadOperation},
		{method: http.MethodPost, path: views.OperationsURL + "/:id/look", access: page, handle: s.lookAgain, form: operationForm},
		{method: http.MethodGet, path: "/audit/export", access: page, handle: s.exportAudit},
		{method: http.MethodPost, path: "/audit/checkpoint", access: page, handle: s.takeCheckpoint, form: auditForm},
		{method: http.MethodGet, path: "/audit/:id/receipt", access: page, handle: s.entryReceipt, reads: audit.TakeReceipt},
		{method: http.MethodGet, path: "/proposals/:id/receipt", access: page, handle: s.proposalReceipt, reads: audit.TakeReceipt},
		{method: http.MethodGet, path: "/audit", access: page, handle: s.showAudit},
		{method: http.MethodGet, path: views.PolicyURL, access: page, handle: s.showPolicy},
		{method: http.MethodPost, path: views.PolicyURL, access: page, handle: s.setPolicy, form: policyForm},
		{method: http.MethodGet, path: views.AgentsURL, access: page, handle: s.showAgents},
		{method: http.MethodPost, path: views.GrantBypassURL, access: page, handle: s.grantBypass, form: agentsForm},
		{method: http.MethodPost, path: views.GrantBypassURL + "/:id/end", access: page, handle: s.endBypass, form: agentsForm},

		{method: http.MethodGet, path: "/proposals/new", access: page, handle: s.newProposal},
		{method: http.MethodPost, path: "/proposals", access: page, handle: s.propose, form: proposeForm},
		{method: http.MethodGet, path: "/proposals/:id", access: page, handle: s.showCard, reads: audit.ReadProposal},
		{method: http.MethodGet, path: "/proposals/:id" + talkPoll, access: page, handle: s.cardChanged},
		{method: http.MethodGet, path: "/proposals/:id/evidence", access: page, handle: s.showEvidence, reads: audit.ReadEvidence},
		{method: http.MethodGet, path: "/proposals/:id/edit", access: page, handle: s.editProposal, reads: audit.ReadProposal},
		{method: http.MethodPost, path: "/proposals/:id/revisions", access: page, handle: s.reviseProposal, form: reviseForm},
		{method: http.MethodPost, path: "/proposals/:id/confirm", access: page, handle: s.confirmProposal, form: cardOf, decides: true},
		{method: http.MethodPost, path: "/proposals/:id/claim", access: page, handle: s.claimProposal, form: cardOf},
		{method: http.MethodPost, path: "/proposals/:id/release", access: page, handle: s.releaseProposal, form: cardOf},
		{method: http.MethodPost, path: "/proposals/:id/delegate", access: page, handle: s.delegateProposal, form: cardOf},
		{method: http.MethodPost, path: "/proposals/:id/escalate", access: page, handle: s.escalateProposal, form: cardOf},
		{method: http.MethodPost, path: "/proposals/:id/comments", access: page, handle: s.commentProposal, form: cardOf},
		{method: http.MethodPost, path: "/proposals/:id/reject", access: page, handle: s.rejectProposal, form: cardOf},

		{method: http.MethodPost, path: "/proposals/:id/stop", access: page, handle: s.stopProposal, form: cardOf},

		{method: http.MethodPost, path: receiptsPath, access: signed, handle: s.receiveReceipt},
		{method: http.MethodPost, path: mcpPath, access: api, handle: s.mcpMessage},

		{method: http.MethodGet, path: "/api/v1/openapi.json", access: plain, handle: s.apiOpenAPI},
		{method: http.MethodPost, path: "/api/v1/patients/search", access: api, handle: s.apiSearchPatients},
		{method: http.MethodGet, path: "/api/v1/patients/:id", access: api, handle: s.apiPatient, reads: audit.ReadPatient},
		{method: http.MethodGet, path: "/api/v1/practitioners", access: api, handle: s.apiPractitioners},
		{method: http.MethodGet, path: "/api/v1/locations", access: api, handle: s.apiLocations},
		{method: http.MethodGet, path: "/api/v1/appointment-types", access: api, handle: s.apiTypes},
		{method: http.MethodGet, path: "/api/v1/slots", access: api, handle: s.apiSlots},
		{method: http.MethodGet, path: "/api/v1/appointments", access: api, handle: s.apiAppointments},
		{method: http.MethodGet, path: "/api/v1/appointments/:id", access: api, handle: s.apiAppointment, reads: audit.ReadAppointment},
		{method: http.MethodPost, path: "/api/v1/proposals", access: api, handle: s.apiPropose},
		{method: http.MethodGet, path: "/api/v1/proposals", access: api, handle: s.apiProposals},
		{method: http.MethodGet, path: "/api/v1/proposals/:id", access: api, handle: s.apiProposal, reads: audit.ReadProposal},
		{method: http.MethodGet, path: "/api/v1/proposals/:id/evidence", access: api, handle: s.apiEvidence, reads: audit.ReadEvidence},
		{method: http.MethodPost, path: "/api/v1/proposals/:id/revisions", access: api, handle: s.apiRevise},
		{method: http.MethodPost, path: "/api/v1/proposals/:id/confirm", access: api, handle: s.apiConfirm, decides: true},
		{method: http.MethodPost, path: "/api/v1/proposals/:id/reject", access: api, handle: s.apiReject},
		{method: http.MethodPost, path: "/api/v1/proposals/:id/stop", access: api, handle: s.apiStop},
		{method: http.MethodPost, path: "/api/v1/decisions", access: api, handle: s.apiDecisions, decides: true},
		{method: http.MethodPost, path: "/api/v1/threads", access: api, handle: s.apiStartThread},
		{method: http.MethodGet, path: "/api/v1/threads", access: api, handle: s.apiThreads},
		{method: http.MethodGet, path: "/api/v1/threads/:id", access: api, handle: s.apiThread},
		{method: http.MethodPost, path: "/api/v1/threads/:id/messages", access: api, handle: s.apiSay},
		{method: http.MethodGet, path: "/api/v1/runs/:id", access: api, handle: s.apiRun},
		{method: http.MethodPost, path: "/api/v1/runs/:id/confirm", access: api, handle: s.apiDecide, decides: true},
		{method: http.MethodGet, path: "/api/v1/operations", access: api, handle: s.apiOperations},
		{method: http.MethodGet, path: "/api/v1/operations/:id", access: api, handle: s.apiOperation, reads: audit.ReadOperation},
		{method: http.MethodPost, path: "/api/v1/operations/:id/look", access: api, handle: s.apiLookAgain},
		{method: http.MethodGet, path: "/api/v1/events", access: api, handle: s.events},
		{method: http.MethodGet, path: "/api/v1/audit/export", access: api, handle: s.exportAudit},
		{method: http.MethodGet, path: "/api/v1/audit", access: api, handle: s.apiAudit},
	}
}

// guards are what stands before a route's handler, outermost first.
func (s *Server) guards(r route) (g []echo.MiddlewareFunc) {
	switch r.access {
	case open:
		g = []echo.MiddlewareFunc{s.sameOrigin, s.readForm}
	case page:
		g = []echo.MiddlewareFunc{s.sameOrigin, s.readForm, s.requireSession(r)}
	case api:
		g = []echo.MiddlewareFunc{s.requireToken, s.requireJSON}
	}
	if r.reads != "" {
		g = append(g, s.noteUnknown(r.reads))
	}
	return g
}
