package compact

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
)

// reads returns the history of an agent that read a given number of files.
func reads(files int) []message.Message {
	history := []message.Message{message.User("go")}
	for i := range files {
		id := fmt.Sprintf("call_%d", i)
		history = append(history, message.Assistant("", message.Call(id, "read", "{}")),
			message.ToolResult(id, fmt.Sprintf("%d", i)+string(make([]byte, 1000))))
	}
	return history
}

// crowd makes calls for more sessions than a manager holds.
func crowd(t *testing.T, m *CompactManager) {
	t.Helper()
	m.keep = 3
	for i := range 10 {
		if _, err := m.Preflight(t.Context(), fmt.Sprint("other-", i), reads(1)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestIdleSessionsAreForgottenAndReadAgain(t *testing.T) {
	ctx := context.Background()
	m, err := New(ctx, Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(ctx)
	history := reads(60)
	first, err := m.Preflight(ctx, "first", history)
	if err != nil || !first.Triggered {
		t.Fatalf("triggered %v, %v; want true and no error", first.Triggered, err)
	}
	crowd(t, m)
	if n := len(m.sessions); n > m.keep {
		t.Errorf("%d sessions in memory, at most %d are wanted", n, m.keep)
	}
	if m.sessions["first"] != nil {
		t.Error("the session that was idle for longest is still in memory")
	}
	again, err := m.Preflight(ctx, "first", history)
	if err != nil || again.Triggered || again.After.Total != first.After.Total || again.Replayed == 0 {
		t.Errorf("read again: triggered %v, %d tokens, %d edits, %v", again.Triggered, again.After.Total, again.Replayed, err)
	}
}

func TestSessionInUseIsNotForgotten(t *testing.T) {
	ctx := t.Context()
	m, err := New(ctx, Config{Model: "gpt-4", Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(ctx)
	s, err := m.session(ctx, "first")
	if err != nil {
		t.Fatal(err)
	}
	crowd(t, m)
	if n := len(m.sessions); m.sessions["first"] != s || n > m.keep+1 {
		t.Errorf("%d sessions in memory; that in use: %v", n, m.sessions["first"] == s)
	}
	m.release(s)
}

// broken is an archive that rejects files with a word in their names.
type broken struct {
	storage.Archive
	word string

	mu    sync.Mutex
	asked int // number of refusals

	meanwhile func() // called at each write, if set
}

func (b *broken) repair() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.word = ""
}

func (b *broken) fails(k storage.Key) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.meanwhile != nil {
		b.meanwhile()
	}
	if b.word != "" && strings.Contains(k.String(), b.word) {
		b.asked++
		return errors.New("no space left on device")
	}
	return nil
}

func (b *broken) Create(ctx context.Context, k storage.Key, data storage.Blob) error {
	if err := b.fails(k); err != nil {
		return err
	}
	return b.Archive.Create(ctx, k, data)
}

func (b *broken) Append(ctx context.Context, k storage.Key, seq int64, data storage.Blob) error {
	if err := b.fails(k); err != nil {
		return err
	}
	return b.Archive.Append(ctx, k, seq, data)
}

func TestSessionThatOnlyThisProcessKnowsIsNotForgotten(t *testing.T) {
	ctx := t.Context()
	m, err := New(ctx, Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: &broken{Archive: memory.New(), word: "transcript"}, Storage: StorageConfig{OnError: "continue"}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(ctx)
	first, err := m.Preflight(ctx, "first", reads(60))
	if err != nil || !first.Triggered {
		t.Fatalf("triggered %v, %v; want true and no error", first.Triggered, err)
	}
	crowd(t, m)
	again, err := m.Preflight(ctx, "first", reads(60))
	if err != nil || again.Triggered || again.Replayed == 0 {
		t.Errorf("compacted again: %v, %d edits made again, %v", again.Triggered, again.Replayed, err)
	}
}

func TestJournalWaitsForTheArchive(t *testing.T) {
	ctx := t.Context()
	a := &broken{Archive: memory.New(), word: "journal"}
	m, err := New(ctx, Config{Model: "gpt-4", Archive: a, Storage: StorageConfig{Transcripts: "all"}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(ctx)
	if _, err := m.Preflight(ctx, "s", reads(2)); err != nil {
		t.Fatal(err)
	}
	if err := m.Flush(ctx); !errors.Is(err, ErrArchiveFailed) {
		t.Errorf("a flush without a disk: %v, want ErrArchiveFailed", err)
	}
	a.repair()
	if err := m.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range m.sessions["s"].log.JournalLines(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 4 { // the two calls are equal, and are one message
		t.Errorf("%d lines in the journal, want 4", n)
	}
}

// The journal holds each message once, also if the audit log fails after the journal was
// written, and if the session leaves the memory while its messages wait.
func TestJournalHoldsEachMessageOnceDespiteFailures(t *testing.T) {
	for _, word := range []string{"events", "journal"} {
		synctest.Test(t, func(t *testing.T) {
			a := &broken{Archive: memory.New(), word: word}
			m, err := New(t.Context(), Config{Model: "gpt-4", Archive: a, Storage: StorageConfig{Transcripts: "all"}})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close(context.Background())
			talk(t, m, "s", 1)
			if err := m.Flush(t.Context()); !errors.Is(err, ErrArchiveFailed) {
				t.Errorf("%s: a flush without a disk: %v, want ErrArchiveFailed", word, err)
			}
			crowd(t, m)
			synctest.Wait()
			if m.sessions["s"] != nil || len(m.backlog.left()) == 0 {
				t.Fatalf("%s: no log of a forgotten session waits", word)
			}
			if _, err := m.Preflight(t.Context(), "s", reads(2)); err != nil {
				t.Fatal(err)
			}
			a.repair()
			if err := m.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, err := range m.sessions["s"].log.JournalLines(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			if n != 4 { // the two calls are equal, and are one message
				t.Errorf("%s fail at first: %d lines in the journal, want 4", word, n)
			}
		})
	}
}

func TestIdleBranchesOfASessionAreForgottenAndReadAgain(t *testing.T) {
	ctx := context.Background()
	m, err := New(ctx, Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(ctx)
	history := reads(60)
	first, err := m.Preflight(ctx, "s", history, WithBranch("first"))
	if err != nil || !first.Triggered {
		t.Fatalf("triggered %v, %v; want true and no error", first.Triggered, err)
	}
	for i := range 2 * maxLanes {
		if _, err := m.Preflight(ctx, "s", history[:3], WithBranch(fmt.Sprint("other-", i))); err != nil {
			t.Fatal(err)
		}
	}
	lanes := m.sessions["s"].lanes
	if len(lanes) != maxLanes || lanes[ledger.Owner{Branch: "first"}] != nil {
		t.Errorf("%d branches in memory, want %d; the one that was idle for longest: %v", len(lanes), maxLanes, lanes[ledger.Owner{Branch: "first"}])
	}
	again, err := m.Preflight(ctx, "s", history, WithBranch("first"))
	if err != nil || again.Triggered || again.After.Total != first.After.Total || again.Replayed == 0 {
		t.Errorf("read again: triggered %v, %d tokens, %d edits, %v", again.Triggered, again.After.Total, again.Replayed, err)
	}
}

// The branch of a running call and of a waiting call stays in memory: the second
// must see the decision of the first.
func TestBranchInUseIsNotForgotten(t *testing.T) {
	m, err := New(t.Context(), Config{Model: "gpt-4", Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	s, err := m.session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	mine := ledger.Owner{Branch: "mine"}
	l := s.lane(mine)
	for i := range 2 * maxLanes {
		if _, err := m.Preflight(t.Context(), "s", reads(1), WithBranch(fmt.Sprint("other-", i))); err != nil {
			t.Fatal(err)
		}
	}
	if again := s.lane(mine); again != l {
		t.Error("a branch in use was forgotten: a second call of it does not wait for the first")
	}
	l.weight = 1
	if s.slim(); l.weight != 1 {
		t.Error("the memory of a branch in use was dropped")
	}
	m.leave(s, l, nil)
	m.leave(s, l, nil)
	for i := range 2 * maxLanes {
		if _, err := m.Preflight(t.Context(), "s", reads(1), WithBranch(fmt.Sprint("other-", i))); err != nil {
			t.Fatal(err)
		}
	}
	if s.lanes[mine] != nil {
		t.Error("the unused branch stays in memory")
	}
	m.release(s)
}

// pausedSummarizer is a summarizer that answers on demand.
type pausedSummarizer struct{ asked, let chan struct{} }

func (u pausedSummarizer) Summarize(ctx context.Context, _ strategy.Request) (strategy.Draft, error) {
	close(u.asked)
	select {
	case <-u.let:
	case <-ctx.Done():
	}
	return strategy.Draft{Text: "## Goals and success criteria\n- [open] go\n"}, ctx.Err()
}

// While a summary is being written for a branch, neither the branch nor its
// session is forgotten, because the retry needs it.
func TestBranchWithAPendingSummaryIsNotForgotten(t *testing.T) {
	u := pausedSummarizer{make(chan struct{}), make(chan struct{})}
	m, err := New(t.Context(), Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: memory.New(), Summarize: u})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-u.asked
		cancel()
	}()
	if _, err := m.Preflight(ctx, "s", reads(60), WithBranch("mine")); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for i := range 2 * maxLanes {
		if _, err := m.Preflight(t.Context(), "s", reads(1), WithBranch(fmt.Sprint("other-", i))); err != nil {
			t.Fatal(err)
		}
	}
	crowd(t, m)
	m.mu.Lock()
	s := m.sessions["s"]
	m.mu.Unlock()
	if s == nil {
		t.Fatal("the session was forgotten")
	}
	s.mu.Lock()
	l := s.lanes[ledger.Owner{Branch: "mine"}]
	s.mu.Unlock()
	if l == nil || !l.flights.Waiting() {
		t.Error("the branch or its summary was forgotten")
	}
	close(u.let)
}

// Calls may name any number of models and windows.
func TestModelsThatCallsNameAreBounded(t *testing.T) {
	m, err := New(t.Context(), Config{Model: "gpt-4", Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	for i := range 2 * maxEpochs {
		if _, err := m.Preflight(t.Context(), "s", reads(1), WithWindow(10_000+i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.epochs); n > maxEpochs {
		t.Errorf("%d are kept, at most %d are wanted", n, maxEpochs)
	}
}

// Observed steps are only in memory: the session knows its steps, and nothing
// is written.
func TestShadowsAreNotWrittenAnywhere(t *testing.T) {
	m, err := New(t.Context(), Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	res, err := m.Preflight(t.Context(), "s", reads(60), WithObserve())
	if err != nil || res.Projected == nil || !res.Projected.Triggered {
		t.Fatalf("%v: nothing was observed: %q", err, res.Warnings)
	}
	for info, err := range m.shadows.List(t.Context(), storage.Key{}) {
		t.Errorf("%v is written, %v", info.Key, err)
	}
	shadows := 0
	for _, s := range m.sessions {
		if !s.shadow {
			continue
		}
		if shadows++; !s.isVolatile() || s.startIfDue(m.now().Add(headEvery)) {
			t.Error("the steps exist only in memory, and would be read from the archive")
		}
	}
	if shadows != 1 {
		t.Errorf("%d shadows, want 1", shadows)
	}
}

// Two steps can edit different parts of one message. The origins of both parts stay
// known, even for a view that an SDK passes back after a restart.
func TestOriginsOfEarlierPartsStayKnown(t *testing.T) {
	s := &session{origins: map[message.Fingerprint]map[int]policy.Origin{}}
	edit := func(part int, was, is string) reduce.Recipe {
		return reduce.Recipe{Texts: []reduce.TextRecipe{{
			Part: part, Was: message.User(was).Fingerprint(), Is: message.User(is).Fingerprint(), Decision: "masked",
			Segments: []policy.Segment{{Mark: &policy.Mark{Chars: 100 + part}}},
		}}}
	}
	s.learn(ledger.Step{Recipes: []reduce.Recipe{edit(0, "whole", "once")}})
	once := s.known(message.User("once").Fingerprint())
	s.learn(ledger.Step{Recipes: []reduce.Recipe{edit(2, "once", "twice"), edit(1, "twice", "thrice")}})
	want := map[int]policy.Origin{0: {Chars: 100, Masked: true}}
	if !maps.Equal(once, want) {
		t.Errorf("after one edit: %+v", once)
	}
	for _, part := range []int{1, 2} {
		want[part] = policy.Origin{Chars: 100 + part, Masked: true}
	}
	if got := s.known(message.User("thrice").Fingerprint()); !maps.Equal(got, want) {
		t.Errorf("after three edits: %+v, want %+v", got, want)
	}
}

// Steps that could not be stored follow the stored ones, whose number has grown if others
// have stored steps in the meantime.
func TestUnstoredStepsFollowTheStoredOnes(t *testing.T) {
	s := &session{origins: map[message.Fingerprint]map[int]policy.Origin{}}
	s.settle([]ledger.Step{{Step: 1}, {Step: 2}, {Step: 3}}, []ledger.Step{{Step: 2, Volatile: true}, {Step: 3, Volatile: true}})
	for i, step := range s.snapshot() {
		if step.Step != i+1 || step.Volatile != (i >= 3) {
			t.Errorf("step %d has the number %d, unstored %v", i+1, step.Step, step.Volatile)
		}
	}
	if !s.isVolatile() || s.next() != 6 {
		t.Errorf("volatile %v, the next step is %d", s.isVolatile(), s.next())
	}
}
