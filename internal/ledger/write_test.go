package ledger

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// samePieces compares a ledger in pieces with its bytes in one piece.
func samePieces(t *testing.T, o redact.Options, step Step) {
	t.Helper()
	r, err := redact.New(o)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(step)
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := Pieces(step, r.Session())
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, p := range pieces {
		got.WriteString(p.String())
	}
	if diff := cmp.Diff(r.Record(raw).String(), got.String()); diff != "" {
		t.Errorf("%+v: %s", o, diff)
	}
}

func fullStep() (step Step) {
	n := 0
	fill(reflect.ValueOf(&step).Elem(), &n)
	return step
}

// A ledger in pieces has the same bytes as in one piece: with every field, with
// words that look like its lists, with secrets, and with patterns of the user.
func TestLedgerInPiecesIsTheSameBytes(t *testing.T) {
	full, looks, bare := fullStep(), fullStep(), fullStep()
	bare.Recipes[0].Texts, bare.Evicted = nil, nil
	looks.Note = `"recipes":[{"stage":""}] "evicted":[{"fp":""}] "texts":[{"at":0}] password=hunter2hunter2 AKIAIOSFODNN7EXAMPLE`
	looks.Recipes[1].Stage = looks.Note
	looks.Recipes[1].Cut = &reduce.CutRecipe{Summary: &policy.SummaryInfo{Text: looks.Note}}
	for _, o := range []redact.Options{{}, {Disabled: true}, {Strict: true}, {Patterns: []string{`^0+$`, `text \d+`, `mask`}}, {Patterns: []string{`^$|.`}}} {
		for _, step := range []Step{full, looks, bare, {}} {
			samePieces(t, o, step)
		}
	}
}

// The same holds for a ledger whose lists are about as long as a piece, or
// several pieces.
func TestLongLedgerInPiecesIsTheSameBytes(t *testing.T) {
	for _, k := range []int{1, atOnce - 1, atOnce, atOnce + 1, 3 * atOnce} {
		step := fullStep()
		step.Recipes[1].Texts = slices.Repeat(step.Recipes[0].Texts[:1], k)
		step.Evicted = slices.Repeat(step.Evicted[:1], k)
		samePieces(t, redact.Options{Disabled: true}, step)
	}
}

// A number that JSON does not have is an error, not a ledger that lacks a part.
func TestPiecesReportsWhatCannotBeEncoded(t *testing.T) {
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	step := Step{Recipes: []reduce.Recipe{{Cut: &reduce.CutRecipe{Summary: &policy.SummaryInfo{Retention: math.NaN()}}}}}
	step.Recipes, step.Evicted = append(step.Recipes, reduce.Recipe{Texts: make([]reduce.TextRecipe, 1)}), make([]Eviction, 1)
	if _, err := Pieces(step, r.Session()); err == nil {
		t.Error("no error")
	}
}
