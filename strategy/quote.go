package strategy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A quoted line is cut to about maxQuote bytes around the quoted name, with at most about
// ahead bytes before the name. One bullet quotes at most quotesTogether lines.
const (
	maxQuote       = 150
	ahead          = 50
	mostQuotable   = 1200 // bytes of a line; a longer line is a record, not text
	quotesTogether = 3
)

// A quotation collects lines of one text, each quoted for a name in it.
type quotation struct {
	lines []string
	names int
}

// add quotes the line of text that contains the name. ok is false if the line
// can't be quoted or the quotation is full.
func (q *quotation) add(text, name string) (ok bool) {
	for _, l := range q.lines {
		if strings.Contains(l, name) {
			q.names++
			return true
		}
	}
	if len(q.lines) == quotesTogether {
		return false
	}
	l := lineWith(text, name)
	if l == "" || prose.CodeLine(l) || claims(l) || statesExit(l) || !saysOf(l, name) || strings.HasSuffix(l, ":") || fragment(l) {
		return false // a line that ends with a colon has no meaning without the next ones
	}
	q.lines = append(q.lines, l)
	q.names++
	return true
}

// fragment reports whether a line of wrapped text continues a bracket of the line before it.
func fragment(l string) bool {
	end := strings.IndexByte(l, ')')
	return end > 0 && !strings.Contains(l[:end], "(")
}

// saysOf reports whether a line says something about a name: it has two other
// words or values.
func saysOf(l, name string) bool {
	rest, n := strings.Replace(l, name, " ", 1), 0
	for _, w := range strings.FieldsFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' }) {
		if len(w) > 2 || unicode.IsDigit(rune(w[0])) && len(rest) > 30 {
			n++
		}
	}
	return n >= 2 || n == 1 && strings.ContainsAny(l, "=(")
}

// statesExit reports whether a line mentions a status. Next to a command, such a line
// would read as the status of that command.
func statesExit(l string) bool {
	return prose.HasAny(strings.ToLower(l), []string{"exit", "error", "returned"})
}

func (q *quotation) String() string {
	return "“" + strings.Join(q.lines, "” and “") + "”"
}

// lineWith returns the first line of a text that contains name as a word, cut
// for a quotation.
func lineWith(text, name string) string {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return ""
		}
		at := from + i
		if end := at + len(name); (at == 0 || !prose.IsWordByte(text[at-1])) && (end == len(text) || !prose.IsWordByte(text[end])) {
			return around(text, at, end)
		}
		from = at + len(name)
	}
}

// around returns the line of text[at:end]. A long line is cut between words on
// both sides.
func around(text string, at, end int) string {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	stop := len(text)
	if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
		stop = end + i
	}
	if stop-start > mostQuotable || searchHit(strings.TrimSpace(text[start:stop])) {
		return "" // a part of a record, or a line that was found for another word
	}
	before, after := "", ""
	if stop-start > maxQuote {
		if at-start > ahead {
			start, before = wordsFrom(text, at-ahead, at), "… "
		}
		if stop-start > maxQuote {
			stop, after = wordsUpTo(text, max(start+maxQuote, end), end), " …"
		}
	}
	line := strings.Trim(prose.Squash(testrun.Uncolored(text[start:stop])), "“”")
	if framed(line) || ourOwn(line) || navigates(line) || saysCut(line) || noOutcome(line) {
		return ""
	}
	return before + strings.ReplaceAll(line, "`", "'") + after
}

// cutNotices are parts of lines in which a harness says that it shows only a part of an
// output. Such lines do not come from the file or the tool.
var cutNotices = []string{"output capped at ", "output too large", "the output was truncated", "output truncated", "full output saved to", "use offset=", "(end of file", "output is being written to", "lines omitted", "characters omitted", "[truncated"}

// saysCut reports whether a line says that the rest of an output is not shown.
func saysCut(line string) bool {
	return len(line) < 2*maxQuote && prose.HasAny(strings.ToLower(line), cutNotices)
}

// wordsFrom returns the first beginning of a word from i on, at most end.
func wordsFrom(text string, i, end int) int {
	for i < end && !(utf8.RuneStart(text[i]) && (text[i-1] == ' ' || text[i-1] == ',' || text[i-1] == '\t')) {
		i++
	}
	return i
}

// wordsUpTo returns the last end of a word up to i, at least end.
func wordsUpTo(text string, i, end int) int {
	for i > end && !(utf8.RuneStart(text[i]) && (text[i] == ' ' || text[i] == ',' || text[i] == '\t')) {
		i--
	}
	return i
}

// textAt returns the text of a place, if the history has it, and the verb
// before a quotation from it.
func (h *History) textAt(p place) (text, verb string) {
	if p.call.step < 0 || p.call.step >= len(h.Steps) || p.call.call >= len(h.Steps[p.call.step].Calls) {
		if p.where != textShown {
			return "", ""
		}
		if i := slices.IndexFunc(h.Steps, func(s Step) bool { return s.ID == int(p.step) }); i >= 0 {
			return h.Steps[i].Shown, " says "
		}
		return "", ""
	}
	c := &h.Steps[p.call.step].Calls[p.call.call]
	if p.where == textShown {
		switch {
		case c.Outcome == Failed, c.taskID() != "":
			return "", "" // a notice of the harness
		case c.shownFile() != "":
			return c.Result, " has "
		case c.deed() == deedSend:
			return "", "" // the log has the report, with what was said about it later
		case allCommands(strings.ToLower(c.Command()), showsOrHelps) && !allCommands(strings.ToLower(c.Command()), looksOnly):
			return "", "" // the help of a program
		case c.Check(), clipped(c.Command()):
			return "", "" // another line has the outcome, or the later part of a cut command is not seen
		case c.Command() != "":
			return c.Result, " printed "
		}
		return c.Result, showsVerb
	}
	return "", "" // arguments are not findings
}

// showsVerb precedes a quotation from the result of a tool that is neither a file nor the
// output of a command. The state may have changed since.
const showsVerb = " showed "

// clipped reports whether a line shows only some parts of a command, so that the output
// may come from another part.
func clipped(cmd string) bool {
	return utf8.RuneCountInString(cmd) > maxCommand && (strings.Contains(cmd, "&&") || strings.Contains(cmd, ";")) && !allCommands(cmd, looksOnly)
}

// reliedValue is the base value of a line that quotes names that the assistant used
// later. perName is added for each such name, up to five.
const (
	reliedValue = 0.15
	perName     = 0.08
	mostRelied  = 400 // names
)

// reliedLines returns lines that quote results: the names and numbers that first appeared
// in a result and that the assistant used later.
func (h *History) reliedLines(section int) []Line {
	byCall, opened := map[place]*quotation{}, h.opened()
	var order []place
	n := 0
	for _, e := range h.index.ranked {
		p := e.Origin
		if n == mostRelied {
			break
		}
		if p.where != textShown || p.call.step < 0 || e.LastUsed <= e.First || e.Tool || e.Task || e.Visible || opened[e.Text] {
			continue
		}
		text, verb := h.textAt(p)
		if verb == "" || h.outdates(p) {
			continue
		}
		n++
		q := byCall[p]
		if q == nil {
			q = &quotation{}
			byCall[p] = q
			order = append(order, p)
		}
		q.add(text, e.Text)
	}
	var out []Line
	for _, p := range order {
		q := byCall[p]
		if len(q.lines) > 0 {
			_, verb := h.textAt(p)
			where, step := h.placeName(p)
			out = append(out, Line{Section: section, Text: where + verb + q.String() + cite(step), Value: (reliedValue + perName*float64(min(q.names, 5))) * h.recency(step), Order: 60_000 + step})
		}
	}
	return out
}

// opened returns the addresses that calls opened. The lines of these calls name them.
func (h *History) opened() map[string]bool {
	out := map[string]bool{}
	h.eachCall(func(_ *Step, c *Call) {
		if to := c.Target(); strings.HasPrefix(to, "http") {
			out[to] = true
		}
	})
	return out
}
