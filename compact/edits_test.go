package compact_test

import (
	"context"
	"errors"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/recall"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

var everyCall = []string{"masking", "gateway"}

func everyCallConfig(preset string, a storage.Archive) compact.Config {
	return compact.Config{Preset: preset, Model: "gpt-4o", MaxContextTokens: costWindow(preset), Archive: a}
}

// Presets that work on every call make one step in 32 calls that change
// something, and every one of these calls is stored before it answers.
func TestEveryCallPresetsMakeStepsInBatches(t *testing.T) {
	ctx := context.Background()
	for _, preset := range everyCall {
		t.Run(preset, func(t *testing.T) {
			a := memory.New()
			m := costRig(t, everyCallConfig(preset, a))
			history, changing, steps := costHistory(150), 0, 0
			for n := range history {
				res, err := m.Preflight(ctx, "s", history[:n+1])
				if err != nil {
					t.Fatal(err)
				}
				if res.Triggered {
					changing++
				}
				if res.Triggered && res.Archived == nil {
					t.Fatalf("call %d changed the view, and stored nothing", n)
				}
				if res.Step > 0 {
					steps++
				}
			}
			if changing < 100 || steps != changing/32 {
				t.Fatalf("%d steps for %d calls that changed something", steps, changing)
			}
			if err := m.Flush(ctx); err != nil {
				t.Fatal(err)
			}
			verified(t, a)
		})
	}
}

func verified(t *testing.T, a storage.Archive) {
	t.Helper()
	report, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Refs: recall.Refs, Edits: recall.EditRefs})
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("%v, %v, want no error and no problems", err, report.Problems)
	}
}

// In the middle of a batch, and in another process, everything that a view
// has a placeholder for is found.
func TestUnarchivedPartOfABatchIsRecalled(t *testing.T) {
	ctx := context.Background()
	for _, preset := range everyCall {
		t.Run(preset, func(t *testing.T) {
			a := memory.New()
			m := costRig(t, everyCallConfig(preset, a))
			history := costHistory(70)
			for n := range history {
				res, err := m.Preflight(ctx, "s", history[:n+1])
				if err != nil {
					t.Fatal(err)
				}
				if !res.Triggered || n%7 != 0 {
					continue
				}
				for i, d := range res.Decisions {
					if d.Decision.String() == "kept" {
						continue
					}
					ref, want := testkey.Ref(history[i].Parts[0]), history[i].Parts[0].Text
					if text, err := m.Recall(ctx, "s", ref); err != nil || text != want {
						t.Fatalf("message %d: %.40q, %v; want %q and no error", i, text, err, want)
					}
					if i%3 != n%3 {
						continue // elsewhere rereads the archive for each
					}
					if text, err := recall.Text(ctx, a, "s", ref); err != nil || text != want {
						t.Fatalf("message %d, elsewhere: %.40q, %v; want %q and no error", i, text, err, want)
					}
				}
			}
		})
	}
}

// An agent that drops its oldest turns in the middle of a batch also drops messages
// that the next step would have archived: they can still be recalled, by this process
// and by others.
func TestMessagesDroppedBeforeABatchWasArchivedAreRecalled(t *testing.T) {
	ctx := context.Background()
	for _, preset := range everyCall {
		t.Run(preset, func(t *testing.T) {
			a := memory.New()
			m := costRig(t, everyCallConfig(preset, a))
			whole := costHistory(90)
			from, steps, out := 1, 0, map[string]string{}
			for n := 20; steps < 2; n++ {
				if n == 40 {
					from = 1 + 2*15
				}
				history := append([]message.Message{whole[0]}, whole[from:n+1]...)
				res, err := m.Preflight(ctx, "s", history)
				if err != nil {
					t.Fatal(err)
				}
				for i, d := range res.Decisions {
					if p := &history[i].Parts[0]; d.Decision.String() != "kept" && p.Kind == message.KindToolResult {
						out[testkey.Ref(*p)] = p.Text
					}
				}
				if res.Step > 0 {
					steps++
				}
			}
			other := costRig(t, everyCallConfig(preset, a))
			for ref, want := range out {
				for _, reads := range []*compact.CompactManager{m, other} {
					if text, err := reads.Recall(ctx, "s", ref); err != nil || text != want {
						t.Fatalf("%s of %d: %.40q, %v; want %.40q", ref, len(out), text, err, want)
					}
				}
			}
			s, err := recall.Open(ctx, a, "s")
			if err != nil {
				t.Fatal(err)
			}
			found, err := s.Search(ctx, regexp.MustCompile(`^// file 3$`), 0)
			if err != nil || len(found.Matches) != 1 {
				t.Errorf("%+v, %v, want one match and no error", found, err)
			}
		})
	}
}

// Results that were masked in one request's loop stay masked in a process that sees
// only the next request.
func TestEditsOfABatchSurviveTheProcess(t *testing.T) {
	ctx := context.Background()
	a := memory.New()
	history := costHistory(20)
	m := costRig(t, everyCallConfig("gateway", a))
	res, err := m.Preflight(ctx, "s", history)
	if err != nil || res.MaskedCount == 0 || res.Step != 0 {
		t.Fatalf("%d masked in step %d, %v; want 0 and no error", res.MaskedCount, res.Step, err)
	}
	history = append(history, message.Assistant("Done."), message.User("And now the next."))
	other := costRig(t, everyCallConfig("gateway", a))
	again, err := other.Preflight(ctx, "s", history)
	if err != nil || again.MaskedCount != res.MaskedCount || again.Triggered {
		t.Fatalf("%d masked, were %d; triggered %v, %v; want false and no error", again.MaskedCount, res.MaskedCount, again.Triggered, err)
	}
}

// answerLoser is an archive that loses the answer to an append of edits, or does not
// make the append.
type answerLoser struct {
	storage.Archive
	lose, fail bool
}

var errAnswer = errors.New("no answer")

func (a *answerLoser) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if k.Base() != "edits.jsonl" || !a.lose && !a.fail {
		return a.Archive.Append(ctx, k, seq, b)
	}
	if a.lose {
		_ = a.Archive.Append(ctx, k, seq, b)
	}
	return errAnswer
}

func (a *answerLoser) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	return a.Archive.Open(ctx, k, off, n)
}

// A process that ends between the append and its answer has not sent the view. The next
// process finds the edits, and makes no edit twice.
func TestEditsWithoutAnAnswerAreMadeOnce(t *testing.T) {
	ctx := context.Background()
	for _, preset := range everyCall {
		for _, lose := range []bool{false, true} {
			a := &answerLoser{Archive: memory.New(), lose: lose, fail: !lose}
			m := costRig(t, everyCallConfig(preset, a))
			history := costHistory(20)
			res, err := m.Preflight(ctx, "s", history)
			if !errors.Is(err, compact.ErrArchiveFailed) || len(res.Messages) != len(history) || res.MaskedCount != 0 {
				t.Fatalf("%s: %v, %d masked; want ErrArchiveFailed and 0", preset, err, res.MaskedCount)
			}
			a.lose, a.fail = false, false
			next := costRig(t, everyCallConfig(preset, a))
			res, err = next.Preflight(ctx, "s", history)
			if err != nil || res.MaskedCount == 0 || res.Triggered == lose {
				t.Fatalf("%s: %d masked, triggered %v, %v", preset, res.MaskedCount, res.Triggered, err)
			}
			again, err := m.Preflight(ctx, "s", history)
			if err != nil || bytesOf(again.Messages) != bytesOf(res.Messages) {
				t.Fatalf("%s: the process that had no answer sends a different view, %v", preset, err)
			}
			verified(t, a)
		}
	}
}

// Two processes that alternate in one conversation send the same requests as one
// process alone, as soon as they have read each other's edits, and the archive stays
// valid.
func TestTwoProcessesShareABatch(t *testing.T) {
	for _, preset := range everyCall {
		t.Run(preset, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { twoProcesses(t, preset) }) })
	}
}

func twoProcesses(t *testing.T, preset string) {
	ctx := t.Context()
	a := memory.New()
	two := []*compact.CompactManager{costRig(t, everyCallConfig(preset, a)), costRig(t, everyCallConfig(preset, a))}
	alone := costRig(t, everyCallConfig(preset, memory.New()))
	history := costHistory(90)
	for n := range history {
		want, err := alone.Preflight(ctx, "s", history[:n+1])
		if err != nil {
			t.Fatal(err)
		}
		m := two[n/3%2]
		if n%3 == 0 {
			time.Sleep(5 * time.Second) // the next check is due
			if _, err := m.Plan(ctx, "s", history[:n]); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		got, err := m.Preflight(ctx, "s", history[:n+1])
		if err != nil {
			t.Fatal(err)
		}
		if bytesOf(got.Messages) != bytesOf(want.Messages) {
			t.Fatalf("%d messages: the view differs from the view of one process", n+1)
		}
	}
	for _, m := range two {
		if err := m.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	verified(t, a)
}

// Two processes that never read each other's edits detect them when they append, and
// neither fails.
func TestTwoProcessesAppendAtOnce(t *testing.T) {
	ctx := context.Background()
	a := memory.New()
	two := []*compact.CompactManager{costRig(t, everyCallConfig("masking", a)), costRig(t, everyCallConfig("masking", a))}
	alone := costRig(t, everyCallConfig("masking", memory.New()))
	history := costHistory(60)
	for n := range history {
		want, err := alone.Preflight(ctx, "s", history[:n+1])
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range two {
			got, err := m.Preflight(ctx, "s", history[:n+1])
			if err != nil || bytesOf(got.Messages) != bytesOf(want.Messages) {
				t.Fatalf("%d messages: the view differs from the view of one process, %v", n+1, err)
			}
		}
	}
	for _, m := range two {
		if err := m.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	verified(t, a)
}

// Originals that do not match their edits are detected, even with a recomputed chain.
func TestVerifyComparesEditsWithTheirOriginals(t *testing.T) {
	ctx := context.Background()
	a := memory.New()
	m := costRig(t, everyCallConfig("masking", a))
	if _, err := m.Preflight(ctx, "s", costHistory(13)); err != nil {
		t.Fatal(err)
	}
	from, err := record.OpenSession(ctx, a, "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, tamper := range []func([]string) []string{
		func(lines []string) []string {
			return append([]string{strings.Replace(lines[0], "file 0", "FILE 0", 1)}, lines[1:]...)
		},
		func(lines []string) []string { return lines[1:] },
		func(lines []string) []string { return append([]string{lines[1], lines[0]}, lines[2:]...) },
	} {
		var lines []string
		for l, err := range from.EditsLines(ctx, 0) {
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(l.Body))
		}
		b := memory.New()
		to, err := record.OpenSession(ctx, b, "s")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Edits(ctx, asTheyAre(t, tamper(lines))); err != nil {
			t.Fatal(err)
		}
		if err := to.Checkpoint(ctx); err != nil {
			t.Fatal(err)
		}
		report, err := record.Verify(ctx, b, "s", record.VerifyOptions{Refs: recall.Refs, Edits: recall.EditRefs})
		if err != nil || len(report.Problems) == 0 {
			t.Fatalf("%v, no problem was found in %d lines", err, len(lines))
		}
	}
}

func asTheyAre(t *testing.T, lines []string) []redact.Text {
	t.Helper()
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	var out []redact.Text
	for _, l := range lines {
		out = append(out, r.Text(l))
	}
	return out
}
