package handlers

import (
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"
)

// openAPI describes every route of the API, by hand; openapi_test.go holds it against the routes, the table of codes and
// what the calls really answer.
//
//go:embed openapi.json
var openAPI []byte

// apiOpenAPI is GET /openapi.json. It asks for no token: the document holds nothing of a clinic.
func (s *Server) apiOpenAPI(c echo.Context) error {
	return c.Blob(http.StatusOK, "application/json", openAPI)
}
