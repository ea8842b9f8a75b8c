package gallery

import "countersign/views"

func signIns() []Item {
	demo := []views.DemoAccount{{Email: "staff@demo.test", Role: "staff"}, {Email: "reviewer@demo.test", Role: "reviewer"}, {Email: "admin@demo.test", Role: "admin"}}
	wrong := views.Refusal{Status: 422, Code: "validation_failed", Title: "That did not match", Words: "The e-mail address or the password is wrong.", Next: "Check both and try again."}
	return []Item{
		{Name: "signin", Component: views.SignIn(views.SignInPage{Next: "/", Demo: demo})},
		{Name: "signin-wrong", Component: views.SignIn(views.SignInPage{Next: "/queue", Email: "ida.skov@demo.test", Refusal: wrong})},
		{Name: "signin-expired", Component: views.SignIn(views.SignInPage{Next: "/proposals", Expired: true, Kept: []views.Hidden{{Name: "kept_action", Value: views.ActionMove}}})},
	}
}
