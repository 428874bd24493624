package compact

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"testing"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/slope"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// editOf returns the step of a call that masked the message before the last.
func editOf(i int) ledger.Step {
	fp := func(of string) message.Fingerprint { return message.User(fmt.Sprint(of, i)).Fingerprint() }
	return ledger.Step{
		V: ledger.Version, Session: "s", Kind: "always", Model: "gpt-4o", Window: 128_000, Preset: "masking",
		In: reduce.Link{N: 2 * i, Hash: fp("in")}, Out: reduce.Link{N: 2 * i, Hash: fp("out")}, Before: 1000, After: 900, Bound: 900,
		Keep: policy.Keep{Turns: 6, Pairs: 4},
		Recipes: []reduce.Recipe{{Stage: "mask", Texts: []reduce.TextRecipe{{
			At: 2 * i, Was: fp("was"), Is: fp("is"), Decision: "masked", Reason: "observation outside of the window",
			Segments: []policy.Segment{{Mark: &policy.Mark{Form: "observation@1", Chars: 1000, Turn: i, Ref: "d469954efb98"}}},
		}}}},
		Evicted: []ledger.Eviction{{FP: fp("was"), Len: 1100, SHA256: fmt.Sprintf("%064x", i), Is: "masked"}},
	}
}

// BenchmarkReloadLength measures how the time to open a session grows with the number
// of edits in its log.
func BenchmarkReloadLength(b *testing.B) {
	ctx := context.Background()
	plain, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		b.Fatal(err)
	}
	slope.Report(b, func(n int) func() {
		a := memory.New()
		s, err := record.OpenSession(ctx, a, "s")
		if err != nil {
			b.Fatal(err)
		}
		for i := range n {
			raw, err := json.Marshal(ledger.Edit{Edit: editOf(i)})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Edits(ctx, []redact.Text{plain.Record(raw)}); err != nil {
				b.Fatal(err)
			}
		}
		return func() {
			s, err := openSession(ctx, a, "s", someKeys())
			if err != nil || len(s.edits.All) != n {
				b.Fatal(len(s.edits.All), err)
			}
		}
	})
}

// stepOf returns a step that has masked a given number of messages.
func stepOf(number, messages int, archived string) ledger.Step {
	step := editOf(number)
	step.Step, step.Kind, step.Preset, step.Archive = number, "preflight", "graduated", archived
	for i := range messages - 1 {
		one := editOf(number*messages + i)
		step.Recipes[0].Texts = append(step.Recipes[0].Texts, one.Recipes[0].Texts...)
		step.Evicted = append(step.Evicted, one.Evicted...)
	}
	return step
}

// BenchmarkReloadSteps measures how the time to open a session grows with the number of
// its steps, each of 40 messages.
func BenchmarkReloadSteps(b *testing.B) {
	ctx := context.Background()
	plain, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		b.Fatal(err)
	}
	slope.ReportOver(b, []int{10, 100, 1_000}, func(n int) func() {
		a := memory.New()
		s, err := record.OpenSession(ctx, a, "s")
		if err != nil {
			b.Fatal(err)
		}
		for number := 1; number <= n; number++ {
			w, err := s.Transcript(ctx, number, []redact.Text{redact.Lit("{}")})
			if err != nil {
				b.Fatal(err)
			}
			raw, err := json.Marshal(stepOf(number, 40, path.Base(w.Key.String())))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Commit(ctx, number, plain.Record(raw), w); err != nil {
				b.Fatal(err)
			}
		}
		return func() {
			s, err := openSession(ctx, a, "s", someKeys())
			if err != nil || len(s.steps) != n || len(s.steps[n-1].Evicted) != 40 {
				b.Fatal(len(s.steps), err)
			}
		}
	})
}
