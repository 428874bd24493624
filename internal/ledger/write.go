package ledger

import (
	"encoding/json"
	"errors"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// atOnce is the number of edits of a ledger that are encoded and redacted together. If
// a step edits a whole large history, its ledger has a quarter of the history's size.
// Encoded as a whole, the ledger would be in memory three times.
const atOnce = 512

var errNoList = errors.New("compact: the encoded ledger lacks the member of a list")

// A ledgerWriter encodes and redacts a record with one empty element in place of
// each long list, and writes the real lists in their places.
type ledgerWriter struct {
	redactor *redact.Session
	out      []redact.Text
	err      error // the first piece
}

// Pieces returns the redacted ledger of a step in pieces, in the form of
// encoding/json.
func Pieces(step Step, redactor *redact.Session) ([]redact.Text, error) {
	w := ledgerWriter{redactor: redactor}
	w.ledger(step)
	return w.out, w.err
}

func (w *ledgerWriter) ledger(step Step) {
	recipes, evicted := step.Recipes, step.Evicted
	if len(recipes) > 0 {
		step.Recipes = make([]reduce.Recipe, 1)
	}
	if len(evicted) > 0 {
		step.Evicted = make([]Eviction, 1)
	}
	rest := w.encode(step)
	if len(recipes) > 0 {
		rest = w.upTo(rest, `"recipes":`, step.Recipes)
		w.add(redact.Lit(`"recipes":[`))
		for i, r := range recipes {
			w.comma(i)
			w.recipe(r)
		}
		w.add(redact.Lit("]"))
	}
	if len(evicted) > 0 {
		rest = w.upTo(rest, `"evicted":`, step.Evicted)
		w.add(redact.Lit(`"evicted":`))
		writeList(w, evicted)
	}
	w.add(rest)
}

func (w *ledgerWriter) recipe(r reduce.Recipe) {
	texts := r.Texts
	if len(texts) > 0 {
		r.Texts = make([]reduce.TextRecipe, 1)
	}
	rest := w.encode(r)
	if len(texts) > 0 {
		rest = w.upTo(rest, `"texts":`, r.Texts)
		w.add(redact.Lit(`"texts":`))
		writeList(w, texts)
	}
	w.add(rest)
}

// writeList writes a list, atOnce elements at a time.
func writeList[T any](w *ledgerWriter, all []T) {
	w.add(redact.Lit("["))
	for i := 0; i < len(all); i += atOnce {
		w.comma(i)
		some := w.encode(all[i:min(i+atOnce, len(all))])
		_, some, _ = some.Cut("[")
		w.add(some.TrimSuffix("]"))
	}
	w.add(redact.Lit("]"))
}

// upTo writes a record up to a list, and returns the rest after it. The search
// can't match inside a string, where quotes are escaped.
func (w *ledgerWriter) upTo(record redact.Text, name string, list any) (rest redact.Text) {
	before, rest, ok := record.Cut(name + w.encode(list).String())
	if !ok {
		w.fail(errNoList)
	}
	w.add(before)
	return rest
}

func (w *ledgerWriter) encode(v any) redact.Text {
	raw, err := json.Marshal(v)
	w.fail(err)
	return w.redactor.Record(raw)
}

func (w *ledgerWriter) add(t redact.Text) { w.out = append(w.out, t) }

func (w *ledgerWriter) comma(i int) {
	if i > 0 {
		w.add(redact.Lit(","))
	}
}

func (w *ledgerWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// SummaryFile returns the content of summary-NNN.json.
func SummaryFile(step int, sum *policy.SummaryInfo, redactor *redact.Session) redact.Text {
	raw, err := json.Marshal(struct {
		V    int `json:"v"`
		Step int `json:"step"`
		*policy.SummaryInfo
	}{1, step, sum})
	if err != nil {
		raw = []byte(`{"v":1}`) // not reached: numbers, strings and lists can be encoded
	}
	return redactor.Record(raw)
}
