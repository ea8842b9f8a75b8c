package views

// ErrorPage is any refusal that has no page of its own, 404 included, as a page or, with Shell.HTMX, as the words for
// the fixed alert region (the forms send 401, 404 and 5xx fragments there by themselves).
type ErrorPage struct {
	Shell
	Refusal Refusal
	Links   []Link // what to do next; the page adds the day sheet
	// RetryAfter, whole seconds, for 429 and 503; 0 = not said.
	RetryAfter int
}
