package views

// SignInPage is GET and POST /signin. Fields: email, password, next.
type SignInPage struct {
	Shell
	Email   string   // kept after a wrong password
	Next    string   // where one was going; the handler checks that it is a path of this site
	Refusal Refusal  // 422, the same words for an unknown address
	Expired bool     // the session ran out: what was typed on the page before survives (Back brings it)
	Kept    []Hidden // the fields of a POST that met an expired session: posted along, so that nothing typed is lost
	Demo    []DemoAccount
}

// DemoAccount is shown on the sign-in page of a --demo server only.
type DemoAccount struct{ Email, Role string }

// Hidden is one field carried through signing in.
type Hidden struct{ Name, Value string }
