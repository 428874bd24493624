package eval

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// The session of build has an edit of gone.go that the editor refused.
func TestRefusedEditIsNotAChange(t *testing.T) {
	f := FactsOf(build())
	for text, want := range map[string]int{
		"the file importer/gone.go was edited as planned":         1,
		"[s9] created `/src/importer/gone.go` in the end":         1,
		"an edit of `importer/gone.go` was refused: no such file": 0,
		"the importer does not change importer/gone.go any more":  0,
		"the file importer/store.go was edited":                   0,
		"what would have edited importer/gone.go was refused":     0,
		"what would have edited importer/gone.go was rejected":    0,
		"what would have edited importer/gone.go failed":          0,
		"whoever edited importer/gone.go left it unchanged":       0,
		"the call that edited importer/gone.go ended in an error": 0,
		"importer/gone.go was never edited":                       0,
		"importer/gone.go is not edited":                          0,
		"all is done without having edited importer/gone.go":      0,
		"importer/gone.go couldn’t be edited":                     0,
		"importer/gone.go wasn't edited":                          0,
	} {
		if h := f.judge(text); h.Unmade != want || h.UnmadeOf != 1 {
			t.Errorf("%q: %d of %d refused edits count as made, want %d of 1", text, h.Unmade, h.UnmadeOf, want)
		}
	}
}

func TestLaterEditMakesRefusedFileChanged(t *testing.T) {
	msgs := append(build(), message.Assistant("", message.Call("z", "Edit", `{"file_path":"/src/importer/gone.go"}`)), message.ToolResult("z", "The file has been updated."))
	if f := FactsOf(msgs); len(f.Refused) != 0 || len(f.Changed) != 2 {
		t.Errorf("refused %q, changed %q", f.Refused, f.Changed)
	}
}

// The cheapest way to report every change is to call every file edited, so false claims are
// counted.
func TestFalseClaimsOfChangesAreCounted(t *testing.T) {
	f := FactsOf(build())
	var b strings.Builder
	for _, p := range []string{"importer/store.go", "importer/gone.go", "db/schema.sql"} {
		b.WriteString("- the file " + p + " was edited\n")
	}
	if h := f.judge(b.String()); h.Changed != 1 || h.Unmade != 1 {
		t.Errorf("got %+v, want one change and one false claim", h)
	}
}

func TestQuotedResultIsAnOutcome(t *testing.T) {
	f := FactsOf([]message.Message{
		message.Assistant("", message.Call("1", "refund_order", `{"id":"4711"}`)),
		message.ToolResult("1", `{"status": "refunded", "amount": 40.5}`),
		message.Assistant("", message.Call("2", "cancel_order", `{"id":"4711"}`)),
		message.ToolResult("2", `{"id": "4711", "items": ["a", "b"], "status": "cancelled"}`),
	})
	for text, want := range map[string][2]int{
		"called `refund_order` 4711, which returned: status: refunded, amount: 40.5": {1, 0},
		"called `refund_order` 4711, which returned: status: rejected by the bank":   {1, 1},
		"called `cancel_order` 4711, which returned: status: cancelled, id: 4711":    {1, 0}, // the state before the object
		"called `cancel_order` 4711, which returned: status: pending, id: 4711":      {1, 1},
		"called `cancel_order` 4711, which returned: … status: cancelled":            {1, 0}, // the beginning is left out
		"called `cancel_order` 4711, which returned: … status: pending":              {1, 1},
		"called `refund_order_now`, which returned: status: refunded, all of it":     {0, 0},
	} {
		if h := f.judge(text); h.Stated != want[0] || h.False != want[1] {
			t.Errorf("%q: %d stated, %d false; want %d and %d", text, h.Stated, h.False, want[0], want[1])
		}
	}
}

func TestWordsOfSearchAreNotClaims(t *testing.T) {
	f := FactsOf([]message.Message{
		message.Assistant("", message.Call("1", "bash", `{"command":"grep -rn 'failed to open' store"}`)),
		message.ToolResult("1", "Exit code: 0\nstore/a.go:3: failed to open"),
	})
	if h := f.judge("looked with `grep -rn 'failed to open' store` for it"); h.Stated != 0 {
		t.Errorf("got %+v, want no stated outcome", h)
	}
	if h := f.judge("- `grep -rn 'failed to open' store` failed at once"); h.False != 1 {
		t.Errorf("got %+v, want one false outcome", h)
	}
}
