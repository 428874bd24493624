package compact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// tale is an agent's session with different texts: results of some thousand
// characters, like tool results.
type tale struct {
	rng     *rand.Rand
	history []message.Message
}

func newTale() *tale {
	return &tale{rng: rand.New(rand.NewPCG(7, 11)), history: []message.Message{message.System("You fix bugs."), message.User("Make all tests pass.")}}
}

func (h *tale) text(words int) string {
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "w%d ", h.rng.IntN(50_000))
	}
	return b.String()
}

// grow adds rounds.
func (h *tale) grow(rounds int) {
	for range rounds {
		id := fmt.Sprintf("call_%d", len(h.history))
		h.history = append(h.history,
			message.Assistant("Now the next file. "+h.text(20), message.Call(id, "read_file", fmt.Sprintf(`{"path":"pkg/f%d.go"}`, len(h.history)))),
			message.ToolResult(id, h.text(300+h.rng.IntN(600))))
	}
}

// steps takes a session through compactions, each in a process of its own if
// requested, and returns the last view.
func (h *tale) steps(t *testing.T, n int, c compact.Config, alone bool) (view string) {
	t.Helper()
	return h.stepsOf(t, n, 12, c, alone)
}

// stepsOf returns steps with a given number of rounds before each.
func (h *tale) stepsOf(t *testing.T, n, rounds int, c compact.Config, alone bool) (view string) {
	t.Helper()
	var r *rig
	for k := range n {
		h.grow(rounds)
		if r == nil || alone {
			r = newRig(t, c)
		}
		res, err := r.ManualCompact(context.Background(), "s", h.history, "")
		if err != nil {
			t.Fatal(err)
		}
		if res.Step != k+1 {
			t.Fatalf("step %d is %d", k+1, res.Step)
		}
		view = bytesOf(res.Messages)
	}
	return view
}

// sizes returns the bytes of a session in the archive, and the bytes of its
// transcripts.
func sizes(t *testing.T, a storage.Archive) (all, transcripts int64) {
	t.Helper()
	for info, err := range a.List(t.Context(), storage.Key{}) {
		if err != nil {
			t.Fatal(err)
		}
		if info.Key.Dir() == "s" {
			all += info.Size
			if strings.HasPrefix(info.Key.Base(), "transcript-") {
				transcripts += info.Size
			}
		}
	}
	return all, transcripts
}

// Each message is stored once: after nine steps the transcripts are as large as the
// history, in one process and with one for each step.
func TestEachMessageIsStoredOnce(t *testing.T) {
	views := map[string]bool{}
	for _, q := range []struct {
		repeat      string
		alone       bool
		least, most float64
	}{{"reference", false, 0, 1.1}, {"reference", true, 0, 1.1}, {"full", false, 4, 9}} {
		a := memory.New()
		c := compact.Config{Archive: a}
		c.Storage.Repeat = q.repeat
		h := newTale()
		views[h.steps(t, 9, c, q.alone)] = true
		all, transcripts := sizes(t, a)
		history := float64(len(bytesOf(h.history)))
		ratio := float64(transcripts) / history
		t.Logf("%s, a process for each step %v: transcripts %.2f times the history, everything %.2f times", q.repeat, q.alone, ratio, float64(all)/history)
		if ratio < q.least || ratio > q.most {
			t.Errorf("%s: %.2f times the history, want at least %.2f and at most %.2f", q.repeat, ratio, q.least, q.most)
		}
		h.has(t, a)
	}
	if len(views) != 1 {
		t.Errorf("%d views of one history, want 1", len(views))
	}
}

// The archive is little larger than the history: a summary is in its own file, and
// ledger and audit log refer to it. The other data of a step has the same size in a
// long session.
func TestArchiveIsLittleLargerThanTheHistory(t *testing.T) {
	for _, q := range []struct {
		rounds int
		most   float64
	}{{12, 1.63}, {60, 1.3}} {
		a, h := memory.New(), newTale()
		h.stepsOf(t, 9, q.rounds, compact.Config{Archive: a}, false)
		all, _ := sizes(t, a)
		history := float64(len(bytesOf(h.history)))
		t.Logf("%d rounds a step (%.0f kB): %.2f times the history", q.rounds, history/9000, float64(all)/history)
		if float64(all) > q.most*history {
			t.Errorf("%d rounds a step: %.2f times the history", q.rounds, float64(all)/history)
		}
		if in := copies(t, a); len(in) > 0 {
			t.Errorf("the text of the last summary is also in %q", in)
		}
	}
}

// A ledger does not store edits of messages that the same step removed afterwards: no
// view showed them. It still names their stage.
func TestLedgersHaveNoEditsOfMessagesThatTheStepRemoves(t *testing.T) {
	a, h := memory.New(), newTale()
	h.stepsOf(t, 2, 30, compact.Config{Archive: a}, false)
	var step struct {
		Recipes []struct {
			Stage string
			Texts []any
			Cut   *struct{ Removed [][2]int }
		}
	}
	key, err := storage.ParseKey("s/ledger-002.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Open(t.Context(), key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(json.NewDecoder(r).Decode(&step), r.Close()); err != nil {
		t.Fatal(err)
	}
	if all := step.Recipes; len(all) != 2 || all[0].Stage != "mask" || len(all[0].Texts) > 0 || all[1].Cut == nil || len(all[1].Cut.Removed) == 0 {
		t.Errorf("the recipes are %+v", all)
	}
}

// copies returns the files with the text of the last summary, apart from summary
// files.
func copies(t *testing.T, a storage.Archive) (in []string) {
	t.Helper()
	files := map[string]string{}
	for info, err := range a.List(t.Context(), storage.Key{}) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Open(t.Context(), info.Key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		files[info.Key.Base()] = string(data)
	}
	_, text, _ := strings.Cut(files["summary-009.json"], "COMPACT-SUMMARY")
	for name, data := range files {
		if strings.Contains(data, text[:60]) && !strings.HasPrefix(name, "summary-") || len(text) < 1000 {
			in = append(in, name)
		}
	}
	return in
}

// has checks that the archive verifies, that its newest transcript equals the
// history, and that each removed message can be recalled.
func (h *tale) has(t *testing.T, a storage.Archive) {
	t.Helper()
	ctx := t.Context()
	report, err := record.Verify(ctx, a, "s", record.VerifyOptions{Refs: recall.Refs})
	if err != nil || !report.OK() {
		t.Fatalf("verify: %v %v, want no error and no problems", err, report.Problems)
	}
	s, err := record.OpenSession(ctx, a, "s")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line, err := range s.Lines(ctx, "transcript-pre-compact-009.jsonl") {
		if err != nil || n == len(h.history) {
			t.Fatalf("line %d: %v", n+1, err)
		}
		if want := strings.TrimSuffix(bytesOf(h.history[n:n+1]), "}\n"); !bytes.HasPrefix(line, []byte(want)) {
			t.Fatalf("line %d is %.80s, want %.80s", n+1, line, want)
		}
		n++
	}
	if n != len(h.history) {
		t.Errorf("%d lines of %d", n, len(h.history))
	}
	turns := 0
	for turn := 1; turn < 90; turn += 7 {
		text, err := recall.Text(ctx, a, "s", fmt.Sprintf("turn:%d", turn))
		want := slices.IndexFunc(h.history, func(m message.Message) bool {
			return len(m.Parts[0].Text) > 1000 && strings.Contains(text, m.Parts[0].Text)
		})
		if err == nil && want >= 0 {
			turns++
		} else {
			t.Errorf("turn %d: %.60q, %v", turn, text, err)
		}
	}
	if turns == 0 {
		t.Error("no turn was recalled")
	}
}

// A final transcript refers to the files of steps and to the previous final transcript,
// even if another process wrote them.
func TestFinalTranscriptRefersToTheSteps(t *testing.T) {
	a := memory.New()
	h := newTale()
	h.steps(t, 2, compact.Config{Archive: a}, false)
	_, before := sizes(t, a)
	for n := range 3 {
		h.grow(1)
		if err := newRig(t, compact.Config{Archive: a}).Archive(t.Context(), "s", h.history); err != nil {
			t.Fatal(err)
		}
		s, err := record.OpenSession(t.Context(), a, "s")
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for _, err := range s.Lines(t.Context(), fmt.Sprintf("transcript-final-%03d.jsonl", n+1)) {
			if err != nil {
				t.Fatal(err)
			}
			lines++
		}
		if lines != len(h.history) {
			t.Errorf("%d lines of %d", lines, len(h.history))
		}
	}
	if _, after := sizes(t, a); after > before+before/3 {
		t.Errorf("%d bytes of transcripts before, %d after", before, after)
	}
}

// flipIn changes a byte of a file in the archive.
func flipIn(t *testing.T, a *memory.Archive, name string, at int) {
	t.Helper()
	key, err := storage.ParseKey("s/" + name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Open(t.Context(), key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close(), a.Remove(t.Context(), key)); err != nil {
		t.Fatal(err)
	}
	data[at] ^= 1
	plain, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Create(t.Context(), key, storage.Redacted(plain.Text(string(data)))); err != nil {
		t.Fatal(err)
	}
}

// No file refers to a changed file: a new process stores its content again, reports
// it, and recalls nothing from it.
func TestChangedTablesAreRewritten(t *testing.T) {
	a := memory.New()
	h := newTale()
	h.steps(t, 2, compact.Config{Archive: a}, false)
	flipIn(t, a, "transcript-pre-compact-001.jsonl", 20_000)
	h.grow(12)
	res, err := newRig(t, compact.Config{Archive: a}).ManualCompact(t.Context(), "s", h.history, "")
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(res.Warnings, "\n"); !strings.Contains(said, "transcript-pre-compact-001.jsonl") {
		t.Errorf("warnings: %s, want text with %q", said, "transcript-pre-compact-001.jsonl")
	}
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	n, old := 0, 0
	for line, err := range s.Whole(t.Context(), "transcript-pre-compact-003.jsonl") {
		if err != nil {
			t.Fatal(err)
		}
		if line.File == "transcript-pre-compact-001.jsonl" {
			t.Fatalf("line %d is referred to where it was changed", n+1)
		}
		if line.File == "transcript-pre-compact-002.jsonl" {
			old++
		}
		n++
	}
	if n != len(h.history) || old == 0 {
		t.Errorf("%d lines of %d, %d of them are in the second transcript", n, len(h.history), old)
	}
	report, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Refs: recall.Refs})
	if err != nil || report.OK() || report.Problems[0].File != "transcript-pre-compact-001.jsonl" {
		t.Errorf("verify: %v %v", err, report.Problems)
	}
}

// Two concurrent processes write separate transcripts. Both refer only to existing
// files and end with one view.
func TestTwoProcessesReferToExistingFiles(t *testing.T) {
	a := memory.New()
	h := newTale()
	one, two := newRig(t, compact.Config{Archive: a}), newRig(t, compact.Config{Archive: a})
	for k := range 6 {
		h.grow(8)
		m := []*rig{one, two}[k%2]
		if _, err := m.ManualCompact(t.Context(), "s", h.history, ""); err != nil {
			t.Fatal(err)
		}
		mine, fresh := m.preflight(h.history), newRig(t, compact.Config{Archive: a}).preflight(h.history)
		if bytesOf(mine.Messages) != bytesOf(fresh.Messages) {
			t.Fatalf("step %d: another process has a different view", k+1)
		}
	}
	if _, transcripts := sizes(t, a); float64(transcripts) > 1.1*float64(len(bytesOf(h.history))) {
		t.Errorf("%d bytes of transcripts for %d of history", transcripts, len(bytesOf(h.history)))
	}
	if report, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Refs: recall.Refs}); err != nil || !report.OK() {
		t.Errorf("verify: %v %v, want no error and no problems", err, report.Problems)
	}
}
