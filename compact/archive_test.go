package compact_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/recall"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/crew"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// failing is an archive that fails at keys which contain a word.
type failing struct {
	storage.Archive
	word  string
	fails atomic.Int64
}

// Append fails as Create does.
func (f *failing) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if f.word != "" && strings.Contains(k.String(), f.word) {
		f.fails.Add(1)
		return &storage.Error{Op: "append", Key: k, Err: errors.New("no space left on device")}
	}
	return f.Archive.Append(ctx, k, seq, b)
}

func (f *failing) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if f.word != "" && strings.Contains(k.String(), f.word) {
		f.fails.Add(1)
		return &storage.Error{Op: "create", Key: k, Err: errors.New("no space left on device")}
	}
	return f.Archive.Create(ctx, k, b)
}

func TestArchiveFailureLeavesTheHistoryUntouched(t *testing.T) {
	for word, op := range map[string]string{"transcript-pre-compact": "transcript", "manifest": "transcript", "summary-": "commit", "turns-": "commit", "events": "events", "ledger-": "commit"} {
		t.Run(word, func(t *testing.T) {
			a := &failing{Archive: memory.New(), word: word}
			r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
			history := loop(100, 200)
			before := bytesOf(history)
			res, err := r.Preflight(context.Background(), "s", history)
			var failed *compact.ArchiveError
			if !errors.Is(err, compact.ErrArchiveFailed) || !errors.As(err, &failed) {
				t.Fatalf("got %v, want ErrArchiveFailed", err)
			}
			if failed.Op != op {
				t.Errorf("the failed operation is %q, want %q", failed.Op, op)
			}
			if a.fails.Load() == 0 {
				t.Fatal("the archive was never used")
			}
			if bytesOf(res.Messages) != before || res.Step != 0 || res.Triggered {
				t.Error("text was removed that is not stored")
			}
			if res.Bill != nil {
				t.Errorf("a call that failed has a bill: %+v", res.Bill)
			}
			if res.SummarizedCount+res.MaskedCount+res.KeptCount != 0 || res.Decisions != nil || res.Stages != nil || res.Summary != nil ||
				res.ReductionStage != compact.ReductionNone || res.Savings != (compact.Savings{}) || res.After != res.Before {
				t.Errorf("the result reports edits that were not made: %+v", res)
			}
			a.word = "" // the disk is free again
			if n := len(r.named(trace.NameError)); n != 1 {
				t.Errorf("%d error events, want 1", n)
			}
			if res.Messages[0] = message.User("mine"); bytesOf(history) != before {
				t.Error("the result shares its slice with the caller's history")
			}
			res, err = r.Preflight(context.Background(), "s", history)
			if err != nil || res.Step != 1 || !res.Triggered {
				t.Errorf("after the failure: %v, step %d; want no error and 1", err, res.Step)
			}
		})
	}
}

func TestOnErrorContinueCompactsAndReportsIt(t *testing.T) {
	a := &failing{Archive: memory.New(), word: "transcript-pre-compact"}
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Archive, c.Storage.OnError = "gpt-4", 8_000, a, "continue"
	r := newRig(t, c)
	history := loop(100, 200)
	first := r.preflight(history)
	if !first.Triggered || first.After.Total > first.Budget || len(first.Warnings) == 0 {
		t.Fatalf("triggered %v, %d tokens, warnings %v; want true, at most %d, and a warning", first.Triggered, first.After.Total, first.Warnings, first.Budget)
	}
	if e := r.named(trace.NameError); len(e) == 0 || !strings.Contains(e[0].Data.String(), "ArchiveFailed") {
		t.Errorf("no event reports the failure: %v", e)
	}
	if again := r.preflight(history); bytesOf(again.Messages) != bytesOf(first.Messages) {
		t.Error("the view differs")
	}
}

// noLedgers is an archive that accepts everything but ledgers.
type noLedgers struct{ storage.Archive }

func (a noLedgers) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if strings.Contains(k.String(), "ledger-") {
		return &storage.Error{Op: "create", Key: k, Err: errors.New("disk full")}
	}
	return a.Archive.Create(ctx, k, b)
}

// The audit log has the line of a call before its step is committed. If the commit fails and the
// call continues, another line says so.
func TestAuditLogReportsAStepThatWasNotStored(t *testing.T) {
	mem := memory.New()
	config := compact.Config{MaxContextTokens: 8_000, Archive: noLedgers{mem}}
	config.Storage.OnError = "continue"
	r := newRig(t, config)
	if res := r.preflight(loop(60, 200)); !res.Triggered || len(res.Warnings) == 0 {
		t.Fatalf("triggered %v, warnings %v, want true", res.Triggered, res.Warnings)
	}
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if log := allStored(t, mem); !strings.Contains(log, `"unarchived":true`) {
		t.Error("the audit log does not say that the step is not stored")
	}
}

// When the archive works again, decisions made without it are stored with the next
// step. Another process then returns the same view, and no summary is paid for twice.
func TestStepsWithoutAnArchiveAreMadeDurableLater(t *testing.T) {
	for _, word := range []string{"transcript-pre-compact", "ledger-"} {
		t.Run(word, func(t *testing.T) {
			a := &failing{Archive: memory.New(), word: word}
			c, err := compact.Preset("graduated")
			if err != nil {
				t.Fatal(err)
			}
			c.Model, c.MaxContextTokens, c.Archive, c.Storage.OnError = "gpt-4", 8_000, a, "continue"
			r := newRig(t, c)
			history, without := loop(100, 200), 0
			for n := range 2 {
				if res := r.preflight(history); res.Triggered && res.Archived == nil {
					without++
				}
				for i := range 30 {
					history = append(history, round(1000+100*n+i, 200)...)
				}
			}
			if without != 2 {
				t.Fatalf("%d steps without an archive: the test proves nothing", without)
			}
			// Another process has taken the first number in the meantime.
			other := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a.Archive})
			theirs, err := other.Preflight(t.Context(), "s", loop(90, 210), compact.WithAgent("other"))
			if err != nil || theirs.Step != 1 {
				t.Fatalf("%v, step %d; want no error and 1", err, theirs.Step)
			}
			a.word = ""
			res := r.preflight(history)
			if !res.Triggered || res.Archived == nil || res.Step != 4 {
				t.Fatalf("triggered %v, archived %v, step %d, warnings %q; want true and 4", res.Triggered, res.Archived, res.Step, res.Warnings)
			}
			if again := r.preflight(history); again.Triggered || bytesOf(again.Messages) != bytesOf(res.Messages) || len(again.Warnings) > 0 {
				t.Errorf("again: triggered %v, warnings %q, want false", again.Triggered, again.Warnings)
			}
			crew.Verify(t, a.Archive, 4)
			got, err := r.Preflight(t.Context(), "s", loop(90, 210), compact.WithAgent("other"))
			if err != nil || got.Triggered || bytesOf(got.Messages) != bytesOf(theirs.Messages) {
				t.Errorf("the step of the other process: triggered %v, %v", got.Triggered, err)
			}
			there := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a.Archive})
			if got := there.preflight(history); got.Triggered || bytesOf(got.Messages) != bytesOf(res.Messages) {
				t.Errorf("another process: triggered %v, %d messages, want %d", got.Triggered, len(got.Messages), len(res.Messages))
			}
		})
	}
}

// A changed ledger of another process is reported by each call that reads it, including
// the call that stores its own earlier steps after it.
func TestAChangedStepIsReportedWhenStepsAreStoredLater(t *testing.T) {
	dir := t.TempDir()
	disk := mustOpen(t, dir)
	a := &failing{Archive: disk, word: "transcript-pre-compact"}
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Archive, c.Storage.OnError = "gpt-4", 8_000, a, "continue"
	r, history := newRig(t, c), loop(100, 200)
	if res := r.preflight(history); !res.Triggered || res.Archived != nil {
		t.Fatalf("triggered %v, archived %+v: the test proves nothing", res.Triggered, res.Archived)
	}
	other := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: disk})
	if res, err := other.Preflight(t.Context(), "s", loop(90, 210), compact.WithAgent("other")); err != nil || res.Step != 1 {
		t.Fatalf("%v, step %d; want no error and 1", err, res.Step)
	}
	ledger := filepath.Join(dir, "s", "ledger-001.json")
	data, err := os.ReadFile(ledger)
	if err == nil {
		err = os.WriteFile(ledger, bytes.Replace(data, []byte(`"step":1`), []byte(`"step":7`), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	a.word = ""
	for i := range 30 {
		history = append(history, round(1000+i, 200)...)
	}
	res := r.preflight(history)
	if res.Step != 3 || !strings.Contains(strings.Join(res.Warnings, "\n"), "the archive was changed: ledger-001.json") {
		t.Errorf("step %d, warnings %q, want 3", res.Step, res.Warnings)
	}
}

// slowTranscripts is an archive whose transcripts become durable only on request.
type slowTranscripts struct {
	storage.Archive
	entered  chan struct{} // closed when the transcript is being written
	release  chan struct{}
	stored   atomic.Bool
	violated atomic.Bool
}

func (s *slowTranscripts) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if strings.Contains(k.String(), "transcript-pre-compact") {
		close(s.entered)
		<-s.release
		defer s.stored.Store(true)
	}
	if strings.Contains(k.String(), "ledger-") && !s.stored.Load() {
		s.violated.Store(true)
	}
	return s.Archive.Create(ctx, k, b)
}

func TestNothingIsCommittedBeforeTheTranscriptIsDurable(t *testing.T) {
	for name, writer := range map[string]strategy.Summarizer{"with its step": nil, "beside a model": &counting{}} {
		t.Run(name, func(t *testing.T) { committedBefore(t, writer) })
	}
}

func committedBefore(t *testing.T, writer strategy.Summarizer) {
	a := &slowTranscripts{Archive: memory.New(), entered: make(chan struct{}), release: make(chan struct{})}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a, Summarize: writer})
	done := make(chan *compact.Result)
	go func() {
		res, err := r.Preflight(context.Background(), "s", loop(100, 200))
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	<-a.entered
	select {
	case <-done:
		t.Fatal("the call returned before the transcript was durable")
	case <-time.After(100 * time.Millisecond): // enough time to store a ledger, if the call did not wait for the transcript
	}
	close(a.release)
	if res := <-done; !res.Triggered || a.violated.Load() {
		t.Errorf("triggered %v, committed before the archive: %v", res.Triggered, a.violated.Load())
	}
}

// files returns the names of a session's files on disk.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !e.IsDir() && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", e.Name(), info.Mode().Perm())
		}
		names = append(names, e.Name())
	}
	return names
}

func TestArchiveHasTheLayoutOfTheDesign(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: mustOpen(t, dir)})
	history := loop(100, 200)
	res := r.preflight(history)
	if !res.Triggered || res.Summary == nil {
		t.Fatalf("triggered %v, summary %v, want true", res.Triggered, res.Summary)
	}
	if err := r.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	names := files(t, filepath.Join(dir, "s"))
	for _, want := range []string{"transcript-pre-compact-001.jsonl", "summary-001.json", "ledger-001.json", "events.jsonl", "manifest.jsonl"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing; the archive has %v", want, names)
		}
	}
	report, err := record.Verify(context.Background(), mustOpen(t, dir), "s", record.VerifyOptions{})
	if err != nil || !report.OK() {
		t.Errorf("verify: %v, %+v", err, report)
	}
	if res.Archived == nil || res.Archived.Head == "" || !slices.Contains(res.Archived.Files, "ledger-001.json") {
		t.Errorf("the result does not name the files: %+v", res.Archived)
	}
}

func TestRecallReturnsTheOriginalOfAPlaceholder(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, compact.Config{MaxContextTokens: 32_000, Archive: mustOpen(t, dir)})
	history := loop(100, 300)
	res := r.preflight(history, compact.WithRecall())
	if res.MaskedCount == 0 {
		t.Fatal("nothing is masked")
	}
	placeholder := regexp.MustCompile(`^\[observation masked — (\d+) chars · read_file "pkg/file_\d+.go" · recall ([0-9a-f]{12})\]$`)
	other := onDisk(t, dir, nil) // reads the archive, not the memory of the first
	found := 0
	for i, m := range res.Messages {
		match := placeholder.FindStringSubmatch(m.ResultText())
		if match == nil {
			continue
		}
		found++
		got, err := other.Recall(context.Background(), "s", match[2])
		if err != nil {
			t.Fatal(err)
		}
		if got != history[i].ResultText() {
			t.Fatalf("message %d: recalled %.60q, want %.60q", i, got, history[i].ResultText())
		}
	}
	if found != res.MaskedCount {
		t.Errorf("%d placeholders, %d masked", found, res.MaskedCount)
	}
	if _, err := other.Recall(context.Background(), "s", "ffffffffffff"); !errors.Is(err, compact.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestRecallReturnsTheRequestedLines(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	history := loop(100, 200)
	history[3] = message.ToolResult("call_0", "one\ntwo\nthree error\nfour\nfive\n"+text(300))
	res := r.preflight(history)
	if !res.Triggered {
		t.Fatal("no compaction was triggered")
	}
	ref := testkey.Ref(history[3].Parts[0])
	for name, c := range map[string]struct {
		opt  recall.Option
		want string
	}{
		"head":     {recall.Head(2), "one\ntwo"},
		"lines":    {recall.Lines(2, 3), "two\nthree error"},
		"tail":     {recall.Tail(1), text(300)},
		"matching": {recall.Matching(regexp.MustCompile("error"), 1), "two\nthree error\nfour"},
		"none":     {recall.Lines(100, 200), ""},
	} {
		got, err := r.Recall(context.Background(), "s", ref, c.opt)
		if err != nil || got != c.want {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, c.want)
		}
	}
}

func TestTranscriptHoldsEveryMessageWithItsFingerprint(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: mustOpen(t, dir)})
	history := parse(t, loop(100, 200))
	history[7].Protected = true
	r.preflight(history)
	f, err := os.Open(filepath.Join(dir, "s", "transcript-pre-compact-001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	i := 0
	for line := range scan(f) {
		var got struct {
			Role string
			Meta struct {
				FP        string
				Refs      []string
				Protected bool
			}
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		if got.Role != string(history[i].Role) || got.Meta.FP != testkey.Sealed(history[i].Fingerprint()).String() || len(got.Meta.Refs) != len(history[i].Parts) || got.Meta.Protected != history[i].Protected {
			t.Errorf("line %d is %+v", i, got)
		}
		i++
	}
	if i != len(history) {
		t.Errorf("%d lines, want %d", i, len(history))
	}
}

// A message that a caller wrote over several lines takes one line of a transcript, with
// every kind of line end. Otherwise, tools that read the file line by line would find
// parts of messages.
func TestMessagesOfSeveralLinesAreStoredInOne(t *testing.T) {
	for name, end := range map[string]string{"unix": "\n", "windows": "\r\n", "old mac": "\r"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: mustOpen(t, dir)})
			history := loop(100, 200)
			for i := range history {
				var wide bytes.Buffer
				if err := json.Indent(&wide, openai.AppendMessage(nil, history[i]), "", "  "); err != nil {
					t.Fatal(err)
				}
				m, err := openai.ParseMessage(bytes.ReplaceAll(wide.Bytes(), []byte("\n"), []byte(end)))
				if err != nil {
					t.Fatal(err)
				}
				history[i] = m
			}
			r.preflight(history)
			data, err := os.ReadFile(filepath.Join(dir, "s", "transcript-pre-compact-001.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.FieldsFunc(string(data), func(c rune) bool { return c == '\n' || c == '\r' })
			if len(lines) != len(history) {
				t.Fatalf("%d messages take %d lines", len(history), len(lines))
			}
			for i, line := range lines {
				m, err := openai.ParseMessage([]byte(line))
				if err != nil || m.Role != history[i].Role || m.Text() != history[i].Text() {
					t.Fatalf("line %d is %s, %v", i, line, err)
				}
			}
		})
	}
}

func scan(r io.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		s := bufio.NewScanner(r)
		s.Buffer(nil, 1<<24)
		for s.Scan() {
			if !yield(s.Text()) {
				return
			}
		}
	}
}

func TestArchiveStoresASessionThatNeverCompacts(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, compact.Config{Archive: mustOpen(t, dir)})
	history := turns(3, 10)
	r.preflight(history)
	if err := r.Archive(context.Background(), "s", history); err != nil {
		t.Fatal(err)
	}
	if names := files(t, filepath.Join(dir, "s")); !slices.Contains(names, "transcript-final-001.jsonl") || !slices.Contains(names, "events.jsonl") {
		t.Errorf("the session has the files %v", names)
	}
}

func TestPlanStoresNothing(t *testing.T) {
	dir := t.TempDir()
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Storage.Transcripts, c.Archive = "gpt-4", 8_000, "all", mustOpen(t, dir)
	r := newRig(t, c)
	ctx := t.Context()
	plan, err := r.Plan(ctx, "s", loop(100, 200))
	manual, merr := r.PlanManual(ctx, "s", loop(100, 200))
	if err := errors.Join(err, merr, r.Close(ctx)); err != nil {
		t.Fatal(err)
	}
	if !plan.Triggered || !manual.Triggered {
		t.Error("nothing was planned")
	}
	if _, err := os.Stat(filepath.Join(dir, "s")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the archive has files of the session: %v, want ErrNotExist", err)
	}
	if n := len(r.events.Events()); n != 0 {
		t.Errorf("%d events, want 0", n)
	}
}

func TestJournalHoldsEachMessageOnce(t *testing.T) {
	dir := t.TempDir()
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Storage.Transcripts = "gpt-4", 8_000, "all"
	history := loop(100, 200)
	for _, end := range []int{30, 60, len(history), len(history)} {
		c.Archive = mustOpen(t, dir) // every time another process
		r := newRig(t, c)
		res := r.preflight(history[:end])
		r.preflight(res.Messages) // an SDK that keeps the view must not add placeholders
		if err := r.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(filepath.Join(dir, "s", "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]int{}
	for line := range scan(f) {
		var got struct{ Meta struct{ FP string } }
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		seen[got.Meta.FP]++
	}
	for i, m := range history {
		if n := seen[testkey.Sealed(m.Fingerprint()).String()]; n != 1 {
			t.Errorf("message %d occurs %d times in the journal, want 1", i, n)
		}
	}
	if len(seen) != len(history) {
		t.Errorf("%d messages in the journal, %d in the history", len(seen), len(history))
	}
}
