package handlers

import (
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"countersign/internal/clinic"
	"countersign/internal/refusal"
)

// list is the shape of every list of the API: newest first, next_cursor null at the end.
type list[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

func listOf[T any](items []T, next string) list[T] {
	l := list[T]{Items: items}
	if l.Items == nil {
		l.Items = []T{}
	}
	if next != "" {
		l.NextCursor = &next
	}
	return l
}

// pageSize reads `limit`: 50 when absent, at most 200.
func pageSize(c echo.Context) (int, error) {
	q := c.QueryParam("limit")
	if q == "" {
		return 50, nil
	}
	n, err := strconv.Atoi(q)
	if err != nil || n < 1 || n > 200 {
		return 0, refusal.Invalid(refusal.Field{Name: "limit", Message: "Give a number from 1 to 200."})
	}
	return n, nil
}

// cutPage cuts a page out of a list that is read whole. The cursor is the id of the last row of the page before.
func cutPage[T any](c echo.Context, whole []T, id func(T) string) (list[T], error) {
	if err := onlyQuery(c, "cursor", "limit"); err != nil {
		return list[T]{}, err
	}
	limit, err := pageSize(c)
	if err != nil {
		return list[T]{}, err
	}
	if after := c.QueryParam("cursor"); after != "" {
		i := slices.IndexFunc(whole, func(x T) bool { return id(x) == after })
		if i < 0 {
			return list[T]{}, refusal.Invalid(refusal.Field{Name: "cursor", Message: "This is not the cursor of a list."})
		}
		whole = whole[i+1:]
	}
	next := ""
	if len(whole) > limit {
		whole = whole[:limit]
		next = id(whole[limit-1])
	}
	return listOf(whole, next), nil
}

// onlyQuery refuses query parameters that the call does not have: a mistyped filter must not widen an answer.
func onlyQuery(c echo.Context, names ...string) error {
	var wrong []refusal.Field
	for name := range c.QueryParams() {
		if !slices.Contains(names, name) {
			wrong = append(wrong, refusal.Field{Name: name, Message: "This call has no such parameter."})
		}
	}
	if len(wrong) > 0 {
		return refusal.Invalid(wrong...)
	}
	return nil
}

// body reads the members of a JSON object, noting every wrong one.
type body struct {
	members map[string]any
	wrong   []refusal.Field
	known   map[string]bool
}

func bodyOf(c echo.Context) (*body, error) {
	m, err := jsonBody(c)
	return &body{members: m, known: map[string]bool{}}, err
}

func (b *body) bad(name, message string) {
	b.wrong = append(b.wrong, refusal.Field{Name: name, Message: message})
}

// text is a string member, "" when absent or null.
func (b *body) text(name string, required bool) string {
	b.known[name] = true
	v := b.members[name]
	s, ok := v.(string)
	switch {
	case v == nil && required:
		b.bad(name, "This is needed.")
	case v != nil && !ok:
		b.bad(name, "Give text.")
	}
	return s
}

// number is a whole number that is needed.
func (b *body) number(name string) int {
	b.known[name] = true
	n, ok := b.members[name].(int64)
	if !ok || n < 0 || n > 1<<31-1 {
		b.bad(name, "Give a whole number.")
	}
	return int(n)
}

// object is an object member, empty when absent or null.
func (b *body) object(name string) map[string]any {
	b.known[name] = true
	v := b.members[name]
	m, ok := v.(map[string]any)
	if v != nil && !ok {
		b.bad(name, "Give an object.")
	}
	if m == nil {
		m = map[string]any{}
	}
	return m
}

// any is a member that a service reads.
func (b *body) any(name string) any {
	b.known[name] = true
	return b.members[name]
}

// refuse gives every wrong and every unknown member at once, or nil.
func (b *body) refuse() error {
	for name := range b.members {
		if !b.known[name] {
			b.bad(name, "This call has no such field.")
		}
	}
	if len(b.wrong) > 0 {
		return refusal.Invalid(b.wrong...)
	}
	return nil
}

// keyOf is the idempotency key of header or field; both given must be equal. "" when there is none.
func keyOf(c echo.Context, field any) (string, error) {
	header := c.Request().Header.Get("Idempotency-Key")
	inBody, isText := field.(string)
	if field != nil && !isText || header != "" && field != nil && header != inBody {
		return "", refusal.New(refusal.IdempotencyKeyMissing, "The key in the header and the key in the body must be one and the same text. Nothing was done.")
	}
	if header != "" {
		return header, nil
	}
	return inBody, nil
}

// pathID is the id in the path; what has not the shape of an id does not exist.
func pathID(c echo.Context) (string, error) {
	id := c.Param("id")
	if !clinic.ValidID(id) {
		return "", refusal.New(refusal.NotFound)
	}
	return id, nil
}
