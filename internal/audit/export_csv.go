package audit

import (
	"errors"
	"strconv"
	"strings"
)

// csvFile is CSV as RFC 4180 has it, in UTF-8 with a byte order mark so that spreadsheets read it as that.
type csvFile struct{}

const bom = "\ufeff"

// The last five columns prove the others.
const csvHeader = "number,at,actor_kind,actor,actor_name,on_behalf_of,on_behalf_of_name,role,via,action,outcome,code,object_kind,object,version," +
	"patient,proposal,revision,plan_hash,risk,request,entry,content,content_hash,prev_hash,chain_hash"

func (csvFile) quoted() bool    { return true }
func (csvFile) opening() []byte { return []byte(bom + csvHeader + "\r\n") }

func (csvFile) row(x Exported) []byte {
	f := x.fields()
	version, revision := "", ""
	if f.Version != 0 {
		version = strconv.FormatInt(f.Version, 10)
	}
	if f.Revision != 0 {
		revision = strconv.Itoa(f.Revision)
	}
	return csvRecord([]string{strconv.FormatInt(x.Seq, 10), f.At, f.ActorKind, f.Actor, x.ActorName, f.OnBehalfOf, x.OnBehalfOfName, f.Role, f.Via, f.Action,
		f.Outcome, f.Code, f.ObjectKind, f.Object, version, f.Patient, f.Proposal, revision, f.PlanHash, f.Risk, f.Request, x.Entry,
		string(x.Content), x.Link.Content.String(), x.Prev.String(), x.Chain.String()})
}

func (csvFile) manifest(note string) []byte {
	cells := make([]string, strings.Count(csvHeader, ",")+1)
	cells[0], cells[22] = "manifest", note
	return csvRecord(cells)
}

func (csvFile) read(record []byte) (x Exported, note string, err error) {
	cells, err := csvCells(string(record))
	if err != nil || len(cells) != strings.Count(csvHeader, ",")+1 {
		return x, "", errors.New("this is not one of its records")
	}
	if cells[0] == "manifest" {
		return x, cells[22], nil
	}
	var ok [3]bool
	x.Seq, err = strconv.ParseInt(cells[0], 10, 64)
	x.Entry, x.ActorName, x.OnBehalfOfName = cells[21], cells[4], cells[6]
	if cells[22] != "" {
		x.Row.Content = []byte(cells[22])
	}
	x.Link.Content, ok[0] = ParseHash(cells[23])
	x.Prev, ok[1] = ParseHash(cells[24])
	x.Chain, ok[2] = ParseHash(cells[25])
	if ok != [3]bool{true, true, true} {
		err = errors.New("a hash cannot be read")
	}
	return x, "", err
}

func csvRecord(cells []string) []byte {
	var b strings.Builder
	for i, c := range cells {
		if i > 0 {
			b.WriteByte(',')
		}
		c = harmless(c)
		if strings.ContainsAny(c, "\",\r\n") || strings.TrimSpace(c) != c {
			c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		}
		b.WriteString(c)
	}
	return []byte(b.String() + "\r\n")
}

// csvCells undoes csvRecord.
func csvCells(record string) (cells []string, err error) {
	record = strings.TrimSuffix(record, "\r\n")
	for more := true; more; {
		var cell string
		if rest, quoted := strings.CutPrefix(record, `"`); quoted {
			var b strings.Builder
			for {
				part, after, closed := strings.Cut(rest, `"`)
				if !closed {
					return nil, errors.New("a quotation mark is not closed")
				}
				b.WriteString(part)
				if rest, closed = strings.CutPrefix(after, `"`); !closed {
					record = after
					break
				}
				b.WriteByte('"')
			}
			cell = b.String()
		} else {
			end := strings.IndexByte(record, ',')
			if end < 0 {
				end = len(record)
			}
			cell, record = record[:end], record[end:]
		}
		cells = append(cells, bare(cell))
		record, more = strings.CutPrefix(record, ",")
	}
	if record != "" {
		return nil, errors.New("something stands behind a quotation mark")
	}
	return cells, nil
}

// harmless puts an apostrophe before what a spreadsheet could take for a formula, also behind quotation marks and white
// space, and before an apostrophe, so that bare can take it off again.
func harmless(cell string) string {
	if cell == "" {
		return cell
	}
	first := strings.TrimLeft(cell, "\"' \n\v\f\u00a0")
	if cell[0] == '\'' || first != "" && strings.ContainsRune("=+-@\t\r\uff1d\uff0b\uff0d\uff20", []rune(first)[0]) {
		return "'" + cell
	}
	return cell
}

func bare(cell string) string { return strings.TrimPrefix(cell, "'") }
