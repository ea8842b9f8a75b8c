package proposal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// The canonical form of a plan (design/contract.md section 3): RFC 8785
// restricted to objects, arrays, strings, booleans, null and integers within
// ±(2^53-1), with member names of printable ASCII. One document has exactly one
// form, so equal hashes mean equal plans.
//
// A Value is nil, bool, int64, string, []any or map[string]any of Values.

const (
	// MaxInt is the largest integer the canonical form holds; -MaxInt the smallest.
	MaxInt = 1<<53 - 1
	// MaxDepth is how many objects and arrays may be open at once.
	MaxDepth = 64

	planPrefix = "countersign.plan.v1\n"
)

// ValueError says where a Value cannot be encoded, and why. It holds member
// names and positions, never member values.
type ValueError struct {
	Path   string // e.g. "before.slots[2].id"; "" is the value itself
	Reason string
}

func (e *ValueError) Error() string {
	if e.Path == "" {
		return "plan: " + e.Reason
	}
	return "plan: " + e.Path + ": " + e.Reason
}

// Canonical encodes a Value. An int is taken as an int64. Strings are encoded as
// they are: text is normalised when it is entered, never here. The error is a
// *ValueError.
func Canonical(v any) ([]byte, error) {
	e := encoder{out: make([]byte, 0, 2048)}
	if err := e.value(v, 1); err != nil {
		return nil, err
	}
	return e.out, nil
}

// HashPlan is the plan hash: lower-case hex sha256 of the line
// "countersign.plan.v1" and the canonical bytes.
func HashPlan(canonical []byte) string {
	h := sha256.New()
	h.Write([]byte(planPrefix))
	h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil))
}

// Digest is the plain lower-case hex sha256 of the bytes.
func Digest(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

type encoder struct {
	out   []byte
	names []string // member names of the open objects, one run after the other
}

func (e *encoder) value(v any, depth int) *ValueError {
	switch v := v.(type) {
	case nil:
		e.out = append(e.out, "null"...)
	case bool:
		e.out = strconv.AppendBool(e.out, v)
	case int64:
		return e.integer(v)
	case int:
		return e.integer(int64(v))
	case string:
		return e.text(v)
	case []any:
		return e.array(v, depth)
	case map[string]any:
		return e.object(v, depth)
	default:
		return refuse(fmt.Sprintf("a %T has no canonical form", v))
	}
	return nil
}

func (e *encoder) integer(n int64) *ValueError {
	if n > MaxInt || n < -MaxInt {
		return refuse("integer beyond ±(2^53-1)")
	}
	e.out = strconv.AppendInt(e.out, n, 10)
	return nil
}

func (e *encoder) array(items []any, depth int) *ValueError {
	if depth > MaxDepth {
		return refuse("nested too deeply")
	}
	e.out = append(e.out, '[')
	for i, item := range items {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		if err := e.value(item, depth+1); err != nil {
			return err.inside("[" + strconv.Itoa(i) + "]")
		}
	}
	e.out = append(e.out, ']')
	return nil
}

func (e *encoder) object(members map[string]any, depth int) *ValueError {
	if depth > MaxDepth {
		return refuse("nested too deeply")
	}
	mine := len(e.names)
	for name := range members {
		if !printableASCII(name) {
			return refuse("a member name is not printable ASCII")
		}
		e.names = append(e.names, name)
	}
	end := len(e.names)
	// RFC 8785 sorts by UTF-16 code units; for ASCII that is byte order.
	slices.Sort(e.names[mine:end])

	e.out = append(e.out, '{')
	for i := mine; i < end; i++ {
		name := e.names[i]
		if i > mine {
			e.out = append(e.out, ',')
		}
		e.quote(name)
		e.out = append(e.out, ':')
		if err := e.value(members[name], depth+1); err != nil {
			return err.inside(name)
		}
	}
	e.out = append(e.out, '}')
	e.names = e.names[:mine]
	return nil
}

func (e *encoder) text(s string) *ValueError {
	if !utf8.ValidString(s) {
		return refuse("text is not valid UTF-8")
	}
	e.quote(s)
	return nil
}

// quote escapes only what RFC 8785 section 3.2.2.2 escapes.
func (e *encoder) quote(s string) {
	const hexDigits = "0123456789abcdef"
	e.out = append(e.out, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		e.out = append(e.out, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			e.out = append(e.out, '\\', c)
		case '\b':
			e.out = append(e.out, '\\', 'b')
		case '\t':
			e.out = append(e.out, '\\', 't')
		case '\n':
			e.out = append(e.out, '\\', 'n')
		case '\f':
			e.out = append(e.out, '\\', 'f')
		case '\r':
			e.out = append(e.out, '\\', 'r')
		default:
			e.out = append(e.out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	e.out = append(e.out, s[start:]...)
	e.out = append(e.out, '"')
}

func printableASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func refuse(reason string) *ValueError { return &ValueError{Reason: reason} }

// inside puts one more step before the path, on the way out of the tree.
func (e *ValueError) inside(step string) *ValueError {
	switch {
	case e.Path == "":
		e.Path = step
	case e.Path[0] == '[':
		e.Path = step + e.Path
	default:
		e.Path = step + "." + e.Path
	}
	return e
}
