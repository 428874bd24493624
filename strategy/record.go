package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A field is a member of a record, that is, of a result which is a JSON object.
type field struct {
	key  string // name in lower case, without _ and -
	kind byte   // first byte of the value
	text string // value in words, "" if it is empty
	span jsonscan.Span
	name string
}

// nested reports whether the value is a record or a list.
func (f *field) nested() bool { return f.kind == '{' || f.kind == '[' }

// mostFields is the maximum number of members that are read from a record.
const mostFields = 60

var plainKey = strings.NewReplacer("_", "", "-", "")

// recordOf returns the members of the record at the beginning of a result, nil if there
// is no record. Only these members describe the call. Nested members describe the parts
// of the record, such as the address of a comment's author.
func recordOf(text string) []field {
	text = strings.TrimLeft(text, " \t\r\n")
	if text == "" || text[0] != '{' || len(text) > mostDigested {
		return nil
	}
	d := &digester{data: []byte(text)}
	at, err := jsonscan.Value(d.data, 0)
	if err != nil || jsonscan.Check(at.Of(d.data)) != nil {
		return nil
	}
	out := d.fields(at)
	if len(out) == 1 && out[0].kind == '{' && slices.Contains(wrappers, out[0].key) {
		return d.fields(out[0].span)
	}
	return out
}

// wrappers are keys of outer records. If such a key is the only member of a record, its
// value is the record to read.
var wrappers = []string{"data", "result", "response", "output", "body"}

func (d *digester) fields(at jsonscan.Span) (out []field) {
	_ = jsonscan.Object(d.data, at, func(m jsonscan.Member) error {
		if raw := m.Value.Of(d.data); len(raw) > 0 && len(out) < mostFields {
			out = append(out, field{plainKey.Replace(strings.ToLower(m.Key)), raw[0], d.words(m.Value, 0), m.Value, m.Key})
		}
		return nil
	})
	return out
}

// recordBrief returns the record in a result on one line. If the call changed something,
// and the other members say so, it cuts long nested values, because returnedLines offers
// them separately.
func (c *Call) recordBrief() string {
	fields := recordOf(body(c.Result))
	if c.attempts() && slices.ContainsFunc(fields, c.memberReports) {
		for i := range fields {
			if f := &fields[i]; f.nested() && len(f.text) > maxWords {
				f.text = prose.CutText(f.text, maxNested)
			}
		}
	}
	return recordWords(c.news(fields))
}

// news returns the members of a record that add information to the call. It leaves out
// values that an argument already has, and bare acknowledgments. If nothing else is left,
// it returns the acknowledgments.
func (c *Call) news(fields []field) []field {
	var out, acknowledged []field
	for _, f := range fields {
		switch {
		case f.acknowledges():
			acknowledged = append(acknowledged, f)
		case f.nested() || !c.asked(f):
			out = append(out, f)
		}
	}
	switch {
	case len(out) > 0:
		return out
	case len(acknowledged) > 0:
		return acknowledged
	}
	return fields
}

// asked reports whether an argument already has the value of a member. A small number and a
// truth value can stand for different things, so the names have to be equal too.
func (c *Call) asked(f field) bool {
	return slices.ContainsFunc(c.Args, func(a Arg) bool {
		return a.Value == f.text && (len(f.text) >= leastTelltale && f.text != "false" || plainKey.Replace(strings.ToLower(a.Name)) == f.key)
	})
}

// leastTelltale is the minimum length, in bytes, of a value that identifies its object.
const leastTelltale = 5

// acknowledges reports whether a member only states that the call succeeded or failed.
func (f *field) acknowledges() bool {
	switch f.key {
	case "ok", "success", "succeeded", "iserror":
		return f.text == "true" || f.text == "false"
	case "status", "result":
		return slices.Contains([]string{"ok", "success"}, strings.ToLower(f.text))
	}
	return false
}

// shortRecord reports whether the result is a record of plain values that one line quotes,
// from a tool that does not only query something. Such a line has the arguments of its
// call, so that equal answers to different calls can be told apart.
func (c *Call) shortRecord() bool {
	if slices.ContainsFunc(toolWords(c.Tool), func(w string) bool { return slices.Contains(effects.AskingVerbs, w) }) {
		return false
	}
	fields := recordOf(body(c.Result))
	return len(fields) > 0 && len(recordWords(fields)) <= maxWords && !slices.ContainsFunc(fields, func(f field) bool { return f.nested() })
}

// weight returns the rank of a member in the line of a record; lower ranks come first. The
// outcome of the call precedes the identifiers of the object; nested values come last.
func (f *field) weight() int {
	switch k := f.key; {
	case strings.HasPrefix(k, "err"), k == "ok", k == "success", k == "iserror":
		return 0
	case slices.Contains(stateKeys, k), strings.HasSuffix(k, "status"):
		return 1
	case f.nested():
		return 7
	case k == "message", k == "reason", k == "detail":
		return 2
	case k == "id", k == "number", strings.Contains(k, "confirmation"), k == "reference", k == "htmlurl", k == "url":
		return 3
	case strings.HasSuffix(k, "id"):
		return 4
	case strings.HasPrefix(k, "amount"), strings.HasPrefix(k, "total"), strings.HasPrefix(k, "price"), strings.HasPrefix(k, "balance"):
		return 5
	}
	return 6
}

// stateKeys are keys of the state of an object.
var stateKeys = []string{"status", "state", "result", "outcome", "statuscode", "httpstatus"}

// recordWords returns a record on one line, the most important members first.
func recordWords(fields []field) string {
	sorted := slices.Clone(fields)
	slices.SortStableFunc(sorted, func(a, b field) int { return a.weight() - b.weight() })
	var parts []string
	for i := range sorted {
		switch f := &sorted[i]; {
		case f.text == "":
		case f.nested():
			parts = append(parts, f.name+": ("+f.text+")")
		default:
			parts = append(parts, f.name+": "+f.text)
		}
	}
	return strings.Join(parts, ", ")
}
