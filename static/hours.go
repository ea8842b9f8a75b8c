package static

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// HoursCSS is the stylesheet of one day sheet's rows: .lane's row heights, .r1.. (starts in row n), .s1.. (spans n
// rows) and .k1..k99 (the now-line, n percent into its row). from and to are minutes after midnight, to beyond from
// and at most two days on; grid is the minutes of a row, 5 to 60; rows that begin inside [lunchFrom, lunchTo) are half
// as high. The content security policy forbids inline styles, so this is a file with parameters. Nil for impossible
// hours.
func HoursCSS(from, to, grid, lunchFrom, lunchTo int) []byte {
	if from < 0 || to <= from || to > 2880 || grid < 5 || grid > 60 {
		return nil
	}
	rows := (to - from + grid - 1) / grid
	var b bytes.Buffer
	fmt.Fprintf(&b, ".day{--row:%s}\n.lane{grid-template-rows:", rowHeight(grid))
	for i := 0; i < rows; {
		lunch := inLunch(from+i*grid, lunchFrom, lunchTo)
		j := i
		for j < rows && inLunch(from+j*grid, lunchFrom, lunchTo) == lunch {
			j++
		}
		height := "var(--row)"
		if lunch {
			height = "calc(var(--row)/2)"
		}
		fmt.Fprintf(&b, " repeat(%d,%s)", j-i, height)
		i = j
	}
	b.WriteString("}\n")
	for i := 1; i <= rows; i++ {
		fmt.Fprintf(&b, ".r%d{grid-row-start:%d}.s%d{grid-row-end:span %d}", i, i, i, i)
	}
	b.WriteByte('\n')
	for i := 1; i < 100; i++ {
		fmt.Fprintf(&b, ".k%d{--in:%d%%}", i, i)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func inLunch(minute, from, to int) bool { return minute >= from && minute < to }

// rowHeight keeps every row a target of 24 px or more, and longer rows tall enough for two lines of text.
func rowHeight(grid int) string {
	switch {
	case grid <= 20:
		return "1.5rem"
	case grid <= 30:
		return "2.75rem"
	}
	return "4rem"
}

// HoursURL is where HoursCSS is served.
func HoursURL(from, to, grid, lunchFrom, lunchTo int) string {
	return fmt.Sprintf("/static/hours.css?from=%d&to=%d&grid=%d&lunch=%d-%d", from, to, grid, lunchFrom, lunchTo)
}

func serveHours(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	lunchFrom, lunchTo, _ := strings.Cut(q.Get("lunch"), "-")
	css := HoursCSS(number(q, "from"), number(q, "to"), number(q, "grid"), atoi(lunchFrom), atoi(lunchTo))
	if css == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", types[".css"])
	w.Header().Set("Cache-Control", "public, max-age=86400")
	_, _ = w.Write(css) // a reader that went away is no error of ours
}

func number(q url.Values, name string) int { return atoi(q.Get(name)) }

// atoi gives -1 for what is no number, which no hours allow.
func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}
