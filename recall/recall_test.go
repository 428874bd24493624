package recall_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// loop returns an agent loop: one user message, then rounds of one call and its result.
func loop(rounds int) []message.Message {
	msgs := []message.Message{message.System("You fix bugs."), message.User("Make all tests of module_a pass.")}
	for i := range rounds {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs,
			message.Assistant("", message.Call(id, "read_file", fmt.Sprintf(`{"path":"pkg/file_%d.go"}`, i))),
			message.ToolResult(id, fmt.Sprintf("file_%d.go: %s", i, strings.TrimSpace(strings.Repeat("word ", 200)))))
	}
	return msgs
}

// agent returns a function that compacts histories of session s into an archive.
func agent(t *testing.T, a storage.Archive) (compacts func([]message.Message) *compact.Result) {
	t.Helper()
	m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: a})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return func(history []message.Message) *compact.Result {
		res, err := m.Preflight(t.Context(), "s", history)
		if err != nil {
			t.Fatal(err)
		}
		if !res.Triggered {
			t.Fatal("no compaction was triggered")
		}
		return res
	}
}

func TestRecallWithoutAManagerOnlyReads(t *testing.T) {
	a := memory.New()
	history := loop(100)
	agent(t, a)(history)
	before := listing(t, a)
	got, err := recall.Text(t.Context(), a, "s", testkey.Sealed(history[3].Parts[0].Fingerprint()).String(), recall.Head(1), recall.AtMost(20))
	if err != nil || got != "file_0.go: word word\n[0 of 1 lines follow, 990 bytes are left out]" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := recall.Text(t.Context(), a, "", "12345678"); !errors.Is(err, compact.ErrSession) {
		t.Errorf("without session: %v", err)
	}
	if _, err := recall.Text(t.Context(), a, "another", testkey.Ref(history[3].Parts[0])); !errors.Is(err, compact.ErrNotFound) {
		t.Errorf("another session's reference: %v", err)
	}
	if after := listing(t, a); after != before {
		t.Errorf("the archive was %s, is %s", before, after)
	}
}

func listing(t *testing.T, a storage.Archive) string {
	t.Helper()
	var b strings.Builder
	for info, err := range a.List(t.Context(), storage.Key{}) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %d\n", info.Key, info.Size)
	}
	return b.String()
}

// An open session sees later commits, and several goroutines may read it at once.
func TestAnOpenSessionSeesLaterSteps(t *testing.T) {
	a := memory.New()
	compacts, history := agent(t, a), loop(200)
	compacts(history[:202])
	s, err := recall.Open(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	late := history[243]
	if _, err := s.Text(t.Context(), testkey.Ref(late.Parts[0])); !errors.Is(err, recall.ErrNotFound) {
		t.Fatalf("before: %v", err)
	}
	compacts(history)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			m := history[3+2*i]
			if got, err := s.Text(t.Context(), testkey.Ref(m.Parts[0])); err != nil || got != m.ResultText() {
				t.Errorf("%d: %.60q, %v", i, got, err)
			}
			found, err := s.Search(t.Context(), regexp.MustCompile(`file_120\.go: `), 0)
			if err != nil || !slices.ContainsFunc(found.Matches, func(m recall.Match) bool { return m.Ref == testkey.Ref(late.Parts[0]) }) {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
	wg.Wait()
	if got, err := s.Text(t.Context(), testkey.Ref(late.Parts[0])); err != nil || got != late.ResultText() {
		t.Errorf("after: %.60q, %v", got, err)
	}
}

const secret = "ghp_" + "x8Kq2LmZ0pWv7Rt3" + "Yb9Nc5Hd1Fg4Js6Aa0Qe"

// broken is an archive whose reads panic with a secret in the message.
type broken struct{ storage.Archive }

func (broken) Open(context.Context, storage.Key, int64, int64) (io.ReadCloser, error) {
	panic("no disk for " + secret)
}

func (broken) List(context.Context, storage.Key) iter.Seq2[storage.Info, error] {
	panic("no list for " + secret)
}

// failing is an archive that stops working.
type failing struct {
	storage.Archive
	fails, panics bool
}

var errDisk = errors.New("no disk\nat all")

func (f *failing) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	switch {
	case f.panics:
		panic("no disk for " + secret)
	case f.fails:
		return nil, &storage.Error{Op: "open", Key: k, Err: errDisk}
	}
	return f.Archive.Open(ctx, k, off, n)
}

// A panic and a failure of the archive become errors, at any point of a read.
func TestAFailureOfTheArchiveIsAnError(t *testing.T) {
	var said bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
	defer slog.SetDefault(was)

	a := &failing{Archive: memory.New()}
	history := loop(100)
	agent(t, a)(history)
	ref, pattern := testkey.Ref(history[3].Parts[0]), regexp.MustCompile("file")
	s, err := recall.Open(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	a.panics = true
	_, opened := recall.Open(t.Context(), broken{memory.New()}, "s")
	_, text := recall.Text(t.Context(), broken{memory.New()}, "s", ref)
	_, found := recall.Search(t.Context(), broken{memory.New()}, "s", pattern, 0)
	_, later := s.Text(t.Context(), ref)
	_, laterFound := s.Search(t.Context(), pattern, 0)
	for name, err := range map[string]error{"Open": opened, "Text": text, "Search": found, "Session.Text": later, "Session.Search": laterFound} {
		if !errors.Is(err, recall.ErrInternal) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := said.String(); strings.Count(s, "stack=") != 5 || strings.Contains(s, secret) {
		t.Errorf("logged %q", s)
	}

	a.panics, a.fails = false, true
	_, opened = recall.Open(t.Context(), a, "s")
	_, later = s.Text(t.Context(), ref)
	_, laterFound = s.Search(t.Context(), pattern, 0)
	for name, err := range map[string]error{"Open": opened, "Session.Text": later, "Session.Search": laterFound} {
		var failed *recall.ReadError
		if !errors.As(err, &failed) || failed.Session != "s" || !errors.Is(err, errDisk) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrorForASlotNamesTheSlotsOfTheTurn(t *testing.T) {
	a := memory.New()
	agent(t, a)(loop(100))
	for ref, want := range map[string]string{
		"turn:2:request":   "compact: not in the archive: turn:2:request; of turn 2 it has action, observation",
		"turn:1:reasoning": "compact: not in the archive: turn:1:reasoning; of turn 1 it has request, action, observation",
	} {
		if _, err := recall.Text(t.Context(), a, "s", ref); !errors.Is(err, compact.ErrNotFound) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, err := recall.Text(t.Context(), a, "s", "turn:900:request")
	if want := "turn:900:request; turns 1 to "; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
