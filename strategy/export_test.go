package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/ident"
)

// The machinery of the extractors, for tests in strategy_test.
var (
	TaskState   = taskState
	Brief       = brief
	DecisionLog = decisionLog
	CodeDelta   = codeDelta
)

// Op is what a call did to a file.
type Op = fileOpKind

// The operations of calls on files that tests name.
const (
	Edited  = opEdited
	Created = opCreated
	Deleted = opDeleted
)

// Index returns the identifiers of the history.
func (h *History) Index() *nameIndex { return h.index }

// Files returns the net effect of the history on each file.
func (h *History) Files() []fileState { return h.fileStates() }

// Items returns the items of work.
func (h *History) Items() []item { return h.items() }

// Constraints returns the rules that bind.
func (h *History) Constraints() []fact { return h.constraints() }

// Files returns the operations of the call on files.
func (c *Call) Files() []fileOp { return c.files }

// Features of an identifier, for the training of the ranking.
func (x *nameIndex) Features(e *entity) []float64 {
	f := x.features(e)
	return f[:]
}

// Weights returns those of the ranking.
func Weights() []float64 { return append([]float64(nil), weights[:]...) }

// SetWeights makes the ranking use others.
func SetWeights(w []float64) { copy(weights[:], w) }

// FeatureNames says what the weights weigh, in their order.
func FeatureNames() []string {
	out := []string{"bias", "told", "said", "shown", "total", "task", "never", "since", "company", "changed", "previous", "length",
		"single", "words", "folder", "named", "dots"}
	for k := range ident.Kinds {
		out = append(out, "kind "+ident.Kind(k).String())
	}
	return out
}

// Verify checks a text as [Writer] checks a model's draft, and returns what is
// left, how many lines there were and went, and how many identifiers were cut.
func Verify(s Strategy, text string, msgs []message.Message) (left string, lines, removed, invented int) {
	d := ParseDocument(s, text)
	d.all(func(l []string) []string { lines += len(l); return l })
	d, v := verify(d, newSource(msgs))
	return d.Render(s), lines, v.lines, v.invented
}

// Inventions returns what verification would cut out of a text.
func Inventions(text string, msgs []message.Message) []string {
	src, v, seen := newSource(msgs), verdict{}, map[string]bool{}
	var out []string
	for line := range strings.Lines(text) {
		hits, _ := inventedIn(line, src, &v, seen)
		for _, h := range hits {
			out = append(out, line[h.start:h.end])
		}
	}
	return out
}

// FullPaths returns a summary with its paths as they were.
func FullPaths(text string) string { return fullPaths(text) }

// SawNames reports whether a line only says where names were seen.
func SawNames(line string) bool { return sawNames(strings.TrimPrefix(line, "- ")) }

// ExcerptScores returns the scores of the excerpts that a summary may quote.
func ExcerptScores(h *History) []float64 {
	var out []float64
	for _, p := range newExcerpter(h).pieces() {
		out = append(out, p.score)
	}
	return out
}
