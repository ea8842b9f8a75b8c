package db

import (
	"strconv"
	"strings"
)

// where gathers the conditions of a query with optional filters, so that each combination is its own prepared
// statement with its own plan: a generic plan of ($1 IS NULL OR x = $1) could not use an index on x.
type where struct {
	text strings.Builder
	args []any
}

// and adds a condition whose ? stand for args.
func (w *where) and(condition string, args ...any) {
	if w.text.Len() == 0 {
		w.text.WriteString(" WHERE ")
	} else {
		w.text.WriteString(" AND ")
	}
	pieces := strings.Split(condition, "?")
	w.text.WriteString(pieces[0])
	for i, piece := range pieces[1:] {
		w.args = append(w.args, args[i])
		w.text.WriteString("$" + strconv.Itoa(len(w.args)) + piece)
	}
}

// String is the WHERE clause, "" without conditions.
func (w *where) String() string { return w.text.String() }

// orTrue is String, or a condition that always holds, for more to be added with AND.
func (w *where) orTrue() string {
	if w.text.Len() == 0 {
		return " WHERE true"
	}
	return w.String()
}

// arg adds an argument that no condition holds yet, and gives its placeholder.
func (w *where) arg(v any) string {
	w.args = append(w.args, v)
	return w.last()
}

// last is the placeholder of the last argument.
func (w *where) last() string { return "$" + strconv.Itoa(len(w.args)) }
