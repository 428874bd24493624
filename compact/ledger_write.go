package compact

import (
	"encoding/json"
	"errors"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// atOnce is how many edits of a ledger are encoded and redacted at a time. The
// ledger of a step that edits all of a large history is a quarter as large as
// the history, and was in memory three times on its way through the encoder and
// the redactor.
const atOnce = 512

var errNoList = errors.New("compact: a list of the ledger has no place in it")

// A ledgerWriter encodes a record with one empty element in place of each of its
// long lists, redacts it, and writes the true lists where these stand.
type ledgerWriter struct {
	redactor secrets
	out      []redact.Text
	err      error // the first one
}

// ledgerPieces is the ledger of a step as encoding/json writes it, redacted, in
// pieces.
func (s *session) ledgerPieces(step ledgerStep) ([]redact.Text, error) {
	w := ledgerWriter{redactor: s.redactor}
	w.ledger(step)
	return w.out, w.err
}

func (w *ledgerWriter) ledger(step ledgerStep) {
	recipes, evicted := step.Recipes, step.Evicted
	if len(recipes) > 0 {
		step.Recipes = make([]policy.Recipe, 1)
	}
	if len(evicted) > 0 {
		step.Evicted = make([]eviction, 1)
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

func (w *ledgerWriter) recipe(r policy.Recipe) {
	texts := r.Texts
	if len(texts) > 0 {
		r.Texts = make([]policy.TextRecipe, 1)
	}
	rest := w.encode(r)
	if len(texts) > 0 {
		rest = w.upTo(rest, `"texts":`, r.Texts)
		w.add(redact.Lit(`"texts":`))
		writeList(w, texts)
	}
	w.add(rest)
}

// writeList writes a list, some elements at a time.
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

// upTo writes a record up to where a list stands, and returns what stands behind
// it. Nothing before it looks the same: a quote inside of a string is escaped.
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
