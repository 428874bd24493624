package recall_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// The transcript of a later step refers to messages that an earlier step has stored. Such
// a message has the file, the line and the time of the earlier step.
func TestAMessageHasThePlaceAndTheTimeOfTheFileThatHoldsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: a})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for _, rounds := range []int{40, 80} {
			if res, err := m.Preflight(t.Context(), "s", loop(rounds), compact.WithAgent("helper")); err != nil || !res.Triggered {
				t.Fatalf("%d rounds: triggered %v, %v", rounds, res.Triggered, err)
			}
			time.Sleep(time.Hour)
		}
		if err := errors.Join(m.Archive(t.Context(), "s", loop(81)), m.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
		s, err := record.OpenSession(t.Context(), a, "s")
		if err != nil {
			t.Fatal(err)
		}
		type whose struct {
			file  string
			step  int
			after time.Duration
		}
		got, steps := map[whose]int{}, []int{}
		for msg, err := range recall.Messages(t.Context(), s) {
			if err != nil {
				t.Fatal(err)
			}
			got[whose{msg.File, msg.Step, msg.At.Sub(began).Round(time.Minute)}]++
			if n := len(steps); n == 0 || steps[n-1] != msg.Step {
				steps = append(steps, msg.Step)
			}
			if msg.Turn == 0 || msg.Step > 0 && (msg.Agent != "helper" || msg.Model != "gpt-4") {
				t.Errorf("%s, line %d: agent %q, model %q, turn %d", msg.File, msg.Line, msg.Agent, msg.Model, msg.Turn)
			}
		}
		if !slices.Equal(steps, []int{1, 2, 0}) {
			t.Errorf("files in the order of the steps %v; a final transcript belongs to no step, and comes last", steps)
		}
		first, second := "transcript-pre-compact-001.jsonl", "transcript-pre-compact-002.jsonl"
		for w, n := range map[whose]int{{first, 1, 0}: 82, {first, 2, 0}: 82, {second, 2, time.Hour}: 80} {
			if got[w] != n {
				t.Errorf("%d messages of %+v, want %d; all: %v", got[w], w, n, got)
			}
		}
	})
}

// A failed step can arrive late, and the next step then has the same transcript. Its
// messages belong to the first of the two steps.
func TestAMessageOfTwoStepsBelongsToTheFirst(t *testing.T) {
	s, err := record.OpenSession(t.Context(), memory.New(), "s")
	if err != nil {
		t.Fatal(err)
	}
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := s.Transcript(t.Context(), 1, []redact.Text{r.JSON([]byte(`{"role":"user","content":"hello"}`))})
	if err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= 2; step++ {
		ledger := fmt.Appendf(nil, `{"v":2,"step":%d,"model":"model-%d","archive":%q,"recipes":[]}`, step, step, file.Key.Base())
		if _, err := s.Commit(t.Context(), step, r.Record(ledger), file); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for msg, err := range recall.Messages(t.Context(), s) {
		if n++; err != nil || msg.Step != 1 || msg.Model != "model-1" {
			t.Errorf("%q is of step %d, model %q, %v", msg.Message.Text(), msg.Step, msg.Model, err)
		}
	}
	if n != 1 {
		t.Errorf("%d messages", n)
	}
}

// A line that is an edit and cannot be read is an error of the verification, not an edit
// without originals.
func TestRefsOfDamagedLinesAreErrors(t *testing.T) {
	if refs, ok, err := recall.EditRefs([]byte(`{"edit":{"step":"x"}}`)); err == nil || !ok || len(refs) > 0 {
		t.Errorf("an edit: %v, %v, %v", refs, ok, err)
	}
	if refs, ok, err := recall.EditRefs([]byte(`{"role":"user","content":"{\"edit\":"}`)); err != nil || ok || len(refs) > 0 {
		t.Errorf("an original: %v, %v, %v", refs, ok, err)
	}
	if refs, err := recall.Refs(record.Ledger{Step: 1, Data: []byte(`{"v":2,"step":"x"}`)}); err == nil || len(refs) > 0 {
		t.Errorf("a ledger: %v, %v", refs, err)
	}
}

// dated is an archive whose files have times of their own.
type dated struct {
	*memory.Archive
	at map[string]time.Time // by the last segment of the key
}

func (a dated) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		for info, err := range a.Archive.List(ctx, prefix) {
			if info.Modified = a.at[info.Key.Base()]; !yield(info, err) {
				return
			}
		}
	}
}

// Originals between steps and messages of the journal come last, with their lines and the
// time of their log. A caller can stop after each message.
func TestMessagesOfTheLogsComeLast(t *testing.T) {
	times := map[string]time.Time{"edits.jsonl": time.Unix(1000, 0), "journal.jsonl": time.Unix(2000, 0)}
	s, err := record.OpenSession(t.Context(), dated{memory.New(), times}, "s")
	if err != nil {
		t.Fatal(err)
	}
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	said := func(text string) redact.Text { return r.JSON(fmt.Appendf(nil, `{"role":"user","content":%q}`, text)) }
	_, err = s.Edits(t.Context(), []redact.Text{said("one"), said("two"), r.Record([]byte(`{"edit":{"v":2}}`)), said("three")})
	if err := errors.Join(err, s.Journal(t.Context(), []redact.Text{said("four"), said("five")})); err != nil {
		t.Fatal(err)
	}
	want := []string{"edits.jsonl 1 one", "edits.jsonl 2 two", "edits.jsonl 4 three", "journal.jsonl 1 four", "journal.jsonl 2 five"}
	for stop := range len(want) + 1 {
		var got []string
		for msg, err := range recall.Messages(t.Context(), s) {
			if len(got) == stop {
				break
			}
			if err != nil || !msg.At.Equal(times[msg.File]) || msg.Step != 0 {
				t.Errorf("%s: archived at %s, step %d, %v", msg.File, msg.At, msg.Step, err)
			}
			got = append(got, fmt.Sprint(msg.File, " ", msg.Line, " ", msg.Message.Text()))
		}
		if !slices.Equal(got, want[:stop]) {
			t.Errorf("%q, want %q", got, want[:stop])
		}
	}
}

// altered is an archive that returns other bytes for one file, or fails to open it.
type altered struct {
	storage.Archive
	base string // last segment of the key
	err  error
}

func (a *altered) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	r, err := a.Archive.Open(ctx, k, off, n)
	if err != nil || k.Base() != a.base {
		return r, err
	}
	data, err := io.ReadAll(r)
	data = bytes.ReplaceAll(data, []byte(`"model":"gpt-4"`), []byte(`"model":"gpt-5"`)) // in a ledger
	return io.NopCloser(bytes.NewReader(bytes.ReplaceAll(data, []byte("word"), []byte("dorw")))), errors.Join(err, r.Close(), a.err)
}

// A file that was changed is reported, and the other files are still read. A file that cannot
// be read ends the iteration with its error. A caller can stop at any message.
func TestMessagesOfDamagedFiles(t *testing.T) {
	a := &altered{Archive: memory.New()}
	compacts, history := agent(t, a), loop(150)
	compacts(history[:102])
	compacts(history)
	s, err := record.OpenSession(t.Context(), a, "s")
	if err = errors.Join(err, s.Journal(t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"late"}`)})); err != nil {
		t.Fatal(err)
	}
	read := func(stop int) (files map[string]int, errs []error) {
		files, n := map[string]int{}, 0
		for m, err := range recall.Messages(t.Context(), s) {
			if n++; err != nil {
				errs = append(errs, err)
			} else {
				files[m.File]++
			}
			if n == stop {
				break
			}
		}
		return files, errs
	}
	const first, second = "transcript-pre-compact-001.jsonl", "transcript-pre-compact-002.jsonl"
	if one, errs := read(1); len(one) != 1 || len(errs) > 0 {
		t.Errorf("up to the first message: %v, %v", one, errs)
	}
	whole, errs := read(0)
	if whole[first] == 0 || whole[second] == 0 || len(errs) > 0 {
		t.Fatalf("%v, %v", whole, errs)
	}
	a.base = second
	if got, errs := read(0); got[second] > 0 || got[first] == 0 || len(errs) != 1 || !errors.Is(errs[0], storage.ErrChanged) {
		t.Errorf("a changed file: %v, %v", got, errs)
	}
	a.base, a.err = first, errDisk
	if got, errs := read(0); len(got) > 0 || len(errs) != 1 || !errors.Is(errs[0], errDisk) {
		t.Errorf("a file that cannot be read: %v, %v", got, errs)
	}
	a.base = "journal.jsonl"
	if got, errs := read(0); got[second] != whole[second] || len(errs) != 1 || !errors.Is(errs[0], errDisk) {
		t.Errorf("a journal that cannot be read: %v, %v", got, errs)
	}
}

// The references of a ledger name each removed message, its place and the index that finds it.
func TestRefsOfALedgerNameTheRemovedMessages(t *testing.T) {
	a := memory.New()
	agent(t, a)(loop(100))
	n := 0
	if _, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Refs: func(l record.Ledger) ([]record.Ref, error) {
		refs, err := recall.Refs(l)
		for _, r := range refs {
			if n++; r.File == "" || r.Index == "" || r.Len == 0 || len(r.SHA256) != 64 || r.ID == "" {
				t.Errorf("%+v", r)
			}
		}
		return refs, err
	}}); err != nil || n == 0 {
		t.Errorf("%d references, %v", n, err)
	}
	id := strings.Repeat("a", 32)
	refs, ok, err := recall.EditRefs(fmt.Appendf(nil, `{"edit":{"v":2,"evicted":[{"fp":%q,"sha256":"s"}]}}`, id))
	if err != nil || !ok || len(refs) != 1 || refs[0].ID != id || refs[0].SHA256 != "s" {
		t.Errorf("an edit: %+v, %v, %v", refs, ok, err)
	}
}
