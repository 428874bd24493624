package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/ident"
)

// The built-in strategies, for tests in strategy_test.
var (
	TaskState   = taskState
	Brief       = brief
	DecisionLog = decisionLog
	CodeDelta   = codeDelta
)

// Op is the operation of a call on a file.
type Op = fileops.Kind

// The operations of calls on files that tests name.
const (
	Edited  = fileops.Edited
	Created = fileops.Created
	Deleted = fileops.Deleted
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
func (c *Call) Files() []fileops.Op { return c.files }

// Features returns the features of an identifier, for the training of the ranking.
func (x *nameIndex) Features(e *entity) []float64 {
	f := x.features(e)
	return f[:]
}

// Weights returns the weights of the ranking.
func Weights() []float64 { return append([]float64(nil), weights[:]...) }

// SetWeights replaces the weights of the ranking.
func SetWeights(w []float64) { copy(weights[:], w) }

// FeatureNames returns the names of the features, in the order of the weights.
func FeatureNames() []string {
	out := []string{"bias", "told", "said", "shown", "total", "task", "never", "since", "company", "changed", "previous", "length",
		"single", "words", "folder", "named", "dots"}
	for k := range ident.Kinds {
		out = append(out, "kind "+ident.Kind(k).String())
	}
	return out
}

// Verify checks a text as [Task.Complete] checks a model's draft. It returns the remaining text,
// and the numbers of lines, of removed lines and of removed identifiers.
func Verify(s Strategy, text string, msgs []message.Message) (left string, lines, removed, invented int) {
	d := ParseDocument(s, text)
	d.all(func(l []string) []string { lines += len(l); return l })
	d, v := verify(d, newSource(msgs))
	return d.Render(s), lines, v.lines, v.invented
}

// Inventions returns the parts of a text that verification would remove.
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

// FullPaths returns a summary with the abbreviated paths written in full.
func FullPaths(text string) string { return fullPaths(text) }

// SawNames reports whether a line only states where names were seen.
func SawNames(line string) bool { return sawNames(strings.TrimPrefix(line, "- ")) }

// ExcerptScores returns the scores of the excerpts that a summary may quote.
func ExcerptScores(h *History) []float64 {
	var out []float64
	for _, p := range newExcerpter(h).pieces() {
		out = append(out, p.score)
	}
	return out
}

// Excerpts returns the excerpts that a summary may quote.
func Excerpts(h *History) (out []string) {
	for _, l := range h.excerptLines(0) {
		out = append(out, l.Text)
	}
	return out
}
