package compact

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/strategy"
)

// slowSummarizer is a summarizer that needs time of the fake clock.
type slowSummarizer struct{}

func (slowSummarizer) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	time.Sleep(time.Second)
	return strategy.Draft{Text: "## Goals and success criteria\n- [open] the tests of the module pass\n"}, nil
}

// A call that could not wait for its summary leaves the summary and the stored
// transcript in memory; they are counted, and removed if they use too much.
func TestStateAfterACallIsWeighed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := bounded(t, Config{Preset: "summarize", Summarize: slowSummarizer{}}, 1<<40)
		history := long(1, 1_000_000)
		ctx, hangUp := context.WithCancel(t.Context())
		time.AfterFunc(200*time.Millisecond, hangUp)
		if _, err := m.Preflight(ctx, "s", history); err == nil {
			t.Fatal("the call has waited")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		s := m.sessions["s"]
		l := s.lanes[ledger.Owner{}]
		if l.shelf == nil || !l.flights.Waiting() || s.users != 0 {
			t.Fatalf("a transcript %v, a summary %v, %d users, want 0", l.shelf != nil, l.flights.Waiting(), s.users)
		}
		texts, summary := weigh(history), l.flights.Weight()
		if l.shelf.weight() < texts || summary < 64*int64(len(history)/2) {
			t.Errorf("the transcript weighs %d of %d, the summary %d", l.shelf.weight(), texts, summary)
		}
		if want := l.weight + l.shelf.weight() + summary; m.bytes != s.bytes || m.bytes < want {
			t.Errorf("%d bytes are counted, but the state has at least %d", m.bytes, want)
		}
		s.slim()
		if l.shelf != nil || !l.flights.Waiting() || s.weight() > sessionWeight+seenWeight*int64(len(history))+summary {
			t.Errorf("the transcript exists: %v, the summary: %v, %d bytes", l.shelf != nil, l.flights.Waiting(), s.weight())
		}
		m.cfg.Sessions.MaxBytes = 1
		if _, err := m.Preflight(t.Context(), "other", long(2, 10_000)); err != nil {
			t.Fatal(err)
		}
		if m.sessions["s"] != nil {
			t.Error("the session is still in memory")
		}
	})
}

// Indexes that were recreated in memory are counted, and are removed together with the
// caches.
func TestRebuiltIndexesAreWeighed(t *testing.T) {
	a := memory.New()
	history := long(1, 400_000)
	if res, err := bounded(t, Config{Archive: a}, 1<<40).ManualCompact(t.Context(), "s", history, ""); err != nil || res.Step != 1 {
		t.Fatalf("step %d, %v; want 1 and no error", res.Step, err)
	}
	k, err := record.SessionKey("s", "turns-001.idx")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Remove(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	m := bounded(t, Config{Archive: a}, 1<<40)
	find := func() {
		t.Helper()
		text, err := m.Recall(t.Context(), "s", testkey.Sealed(history[3].Fingerprint()).String())
		if err != nil || !strings.Contains(text, history[3].ResultText()) {
			t.Fatalf("%.60q, %v, want the text of the result and no error", text, err)
		}
	}
	find()
	s := m.sessions["s"]
	made := s.reads.Weight()
	if least := int64(64 * len(history)); made < least || m.bytes < made || m.bytes != s.weight() {
		t.Errorf("the index weighs %d, want at least %d; the session weighs %d", made, least, m.bytes)
	}
	if find(); s.reads.Weight() != made {
		t.Errorf("the index weighs %d at the second use, want %d", s.reads.Weight(), made)
	}
	if s.slim(); s.weight() > m.bytes-made || s.canSlim() {
		t.Errorf("%d bytes are left of %d", s.weight(), m.bytes)
	}
	find()
}
