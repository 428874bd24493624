package compact_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/crew"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// noted is an archive that records a session's files and the lines of its manifest, and
// can do something before each write.
type noted struct {
	*memory.Archive
	before func(what string)
	notes  []string
}

func (n *noted) note(what string) {
	n.notes = append(n.notes, what)
	if n.before != nil {
		n.before(what)
	}
}

func (n *noted) Append(ctx context.Context, k storage.Key, at int64, b storage.Blob) error {
	if k.Base() == "manifest.jsonl" {
		var text bytes.Buffer
		_, _ = b.WriteTo(&text)
		var ops []string
		for line := range strings.Lines(text.String()) {
			_, op, _ := strings.Cut(line, `"op":"`)
			op, _, _ = strings.Cut(op, `"`)
			ops = append(ops, op)
		}
		n.note(strings.Join(ops, " "))
	}
	return n.Archive.Append(ctx, k, at, b)
}

func kindsOf(notes []string) (announced int) {
	for _, n := range notes {
		if strings.Contains(n, "put") || strings.Contains(n, "commit") {
			announced++
		}
	}
	return announced
}

// A step is announced once if no file was stored while a model worked. A large
// transcript is stored before the announcement, because other agents that commit wait
// for an announced step.
func TestTranscriptIsAnnouncedWithItsStep(t *testing.T) {
	for name, c := range map[string]struct {
		writer  strategy.Summarizer
		history int // tokens of a result
		want    int
	}{
		"no model":           {nil, 200, 1},
		"a model":            {&counting{}, 200, 2},
		"a large transcript": {nil, 1000, 2},
	} {
		t.Run(name, func(t *testing.T) {
			a := &noted{Archive: memory.New()}
			r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a, Summarize: c.writer})
			history := loop(100, c.history)
			res := r.preflight(history)
			if got := kindsOf(a.notes); res.Step != 1 || got != c.want {
				t.Errorf("step %d is announced %d times, want %d: %q", res.Step, got, c.want, a.notes)
			}
			crew.Verify(t, a, 1)
			for _, e := range r.named(trace.NameArchival) {
				if d := e.Data.String(); !strings.Contains(d, `"archived_count":202`) || !strings.Contains(d, `"step":1`) || strings.Contains(d, `"bytes":0`) {
					t.Errorf("the event of the archive is %s", d)
				}
			}
			if n := len(r.named(trace.NameArchival)); n != 1 {
				t.Errorf("%d events of the archive, want 1", n)
			}
			if res.Archived == nil || res.Archived.Files[0] != "transcript-pre-compact-001.jsonl" || res.Timing.Archive <= 0 {
				t.Errorf("archived %+v in %v, want more than 0", res.Archived, res.Timing.Archive)
			}
		})
	}
}

// The first process to take the names of transcript, ledger, index and references keeps
// them.
func TestTranscriptWithATakenNameGetsAnotherName(t *testing.T) {
	a := &noted{Archive: memory.New()}
	taken := false
	a.before = func(what string) {
		if taken || !strings.Contains(what, "commit") {
			return
		}
		taken = true
		s, err := record.OpenSession(t.Context(), a.Archive, "s")
		if err == nil {
			_, err = s.Transcript(t.Context(), 1, []redact.Text{redact.Lit(`{"role":"user","content":"somebody else"}`)})
		}
		if err != nil {
			t.Error(err)
		}
	}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
	history := loop(100, 200)
	res := r.preflight(history)
	if !taken || res.Archived.Files[0] != "transcript-pre-compact-001.2.jsonl" {
		t.Fatalf("taken %v, stored as %q, want true", taken, res.Archived.Files)
	}
	crew.Verify(t, a, 1)
	again := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a.Archive})
	if got := again.preflight(history); bytesOf(got.Messages) != bytesOf(res.Messages) {
		t.Error("another process makes a different view")
	}
	for _, d := range []policy.Decision{policy.Masked, policy.Summarized} {
		for _, i := range decided(res, d) {
			p := history[i].Parts[0]
			if got, err := again.Recall(t.Context(), "s", testkey.Ref(p)); p.Text != "" && (err != nil || !strings.Contains(got, p.Text)) {
				t.Fatalf("message %d is not found: %q, %v", i, got, err)
			}
		}
	}
}

// A lost number costs only another number: files that are stored by then are not stored
// again.
func TestLostNumberKeepsTheTranscript(t *testing.T) {
	a := &overtakenArchive{Archive: memory.New()}
	other := rival(t, a.Archive)
	a.by = func(n int) {
		if n <= 2 {
			other(n, asAgent(fmt.Sprint("other-", n)))
		}
	}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
	history := historyOf(0, 100)
	res := r.preflight(history)
	if res.Step != 3 || !res.Triggered || len(res.Warnings) > 0 {
		t.Errorf("step %d, triggered %v, warnings %q; want 3 and true", res.Step, res.Triggered, res.Warnings)
	}
	if n := transcriptFiles(t, a); n != 3 {
		t.Errorf("%d transcripts of three steps, want 3", n)
	}
	if got := stepsSaid(t, everything(t, r)); !slices.Equal(got, []int{3}) {
		t.Errorf("exporters hear of steps %v, want 3 alone", got)
	}
	crew.Verify(t, a, 3)
	lostLines(t, a, []int{1, 2})
	if again := r.preflight(history); again.Triggered || bytesOf(again.Messages) != bytesOf(res.Messages) {
		t.Error("the next call has a different view")
	}
}

func transcriptFiles(t *testing.T, a storage.Archive) (n int) {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range s.Files(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(f.Key.Base(), "transcript-pre-compact") {
			n++
		}
	}
	return n
}

// A file with the transcript's name that no process has announced is kept.
func TestTranscriptLeavesAForeignFileInPlace(t *testing.T) {
	a := memory.New()
	k, err := storage.ParseKey("s/transcript-pre-compact-001.jsonl")
	if err == nil {
		err = a.Create(t.Context(), k, storage.Redacted(redact.Lit("strange\n")))
	}
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
	history := loop(100, 200)
	res := r.preflight(history)
	if res.Step != 1 || len(res.Warnings) > 0 || res.Archived.Files[0] != "transcript-pre-compact-001.2.jsonl" {
		t.Fatalf("step %d, warnings %q, stored as %+v, want 1", res.Step, res.Warnings, res.Archived)
	}
	i := decided(res, policy.Summarized)[0]
	if got, err := r.Recall(t.Context(), "s", testkey.Ref(history[i].Parts[0])); err != nil || got == "" {
		t.Errorf("message %d is not found: %v", i, err)
	}
}

// Steps that were kept in memory while the archive failed are stored with the next one,
// and use its transcript.
func TestStepsKeptInMemoryUseTheNextTranscript(t *testing.T) {
	a := &failing{Archive: memory.New(), word: "s/"}
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Archive, c.Storage.OnError = "gpt-4", 8_000, a, "continue"
	r := newRig(t, c)
	history := loop(100, 200)
	if res := r.preflight(history); !res.Triggered || len(res.Warnings) == 0 {
		t.Fatalf("triggered %v, warnings %q, want true", res.Triggered, res.Warnings)
	}
	a.word = ""
	res := r.preflight(append(history, loop(100, 200)[2:]...))
	if !res.Triggered || len(res.Warnings) > 0 || transcriptFiles(t, a) != 1 {
		t.Errorf("triggered %v, warnings %q, %d transcripts; want true and 1", res.Triggered, res.Warnings, transcriptFiles(t, a))
	}
	crew.Verify(t, a, 2)
}

// A new decision after a step of the same agent uses the transcript that is stored by
// then.
func TestRedecidedStepKeepsTheTranscript(t *testing.T) {
	a := &overtakenArchive{Archive: memory.New()}
	a.by = func(n int) {
		if n > 1 {
			return
		}
		if _, err := crew.Manager(t, a.Archive, &counting{}).ManualCompact(t.Context(), "s", historyOf(1, 101), ""); err != nil {
			t.Error(err)
		}
	}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
	if res := r.preflight(historyOf(0, 100)); res.Step != 2 || transcriptFiles(t, a) != 2 {
		t.Errorf("step %d, %d transcripts of two; want 2 and 2", res.Step, transcriptFiles(t, a))
	}
	crew.Verify(t, a, 2)
}

// A commit with a lost answer is identified by its transcript.
func TestStepWithALostAnswerIsIdentifiedByItsTranscript(t *testing.T) {
	a := &overtakenArchive{Archive: memory.New(), after: storage.ErrExists}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
	res := r.preflight(historyOf(0, 100))
	if res.Step != 1 || !res.Triggered || transcriptFiles(t, a) != 1 {
		t.Errorf("step %d, triggered %v, %d transcripts; want 1, true and 1", res.Step, res.Triggered, transcriptFiles(t, a))
	}
	crew.Verify(t, a, 1)
}

// rushedStage is a stage that offers nothing, while another process commits first.
type rushedStage func()

func (rushedStage) Name() string { return "rushed" }

func (r rushedStage) Propose(context.Context, *policy.View) (policy.Proposal, error) {
	r()
	return policy.Proposal{}, nil
}

// If others of the same agent always commit first, the view is sent without a step; the
// removed messages are stored nevertheless.
func TestViewWithoutAStepIsArchived(t *testing.T) {
	a := &noted{Archive: memory.New()}
	n := 0
	first := rushedStage(func() {
		n++
		if _, err := crew.Manager(t, a.Archive, &counting{}).ManualCompact(t.Context(), "s", historyOf(n, 100+n), ""); err != nil {
			t.Error(err)
		}
	})
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a, Stages: []compact.OwnStage{{Stage: first}}})
	history := historyOf(0, 100)
	res := r.preflight(history)
	if res.Step != 0 || !res.Triggered || res.Archived == nil || len(res.Archived.Files) != 1 {
		t.Fatalf("step %d, triggered %v, archived %+v, warnings %q; want 0 and true", res.Step, res.Triggered, res.Archived, res.Warnings)
	}
	s, err := record.OpenSession(t.Context(), a.Archive, "s")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, err := range s.Lines(t.Context(), res.Archived.Files[0]) {
		if err != nil {
			t.Fatal(err)
		}
		lines++
	}
	if lines != len(history) {
		t.Errorf("%d of %d messages are stored", lines, len(history))
	}
}
