package compact

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// long returns the history of a session, of about a given number of bytes; no two sessions
// share bytes.
func long(session, size int) []message.Message {
	history := []message.Message{message.System("You fix bugs."), message.User(fmt.Sprint("session ", session))}
	for n := 0; n < size; n += 4000 {
		id := fmt.Sprintf("call_%d", n)
		history = append(history, message.Assistant("", message.Call(id, "read", fmt.Sprintf(`{"n":%d}`, n))),
			message.ToolResult(id, fmt.Sprintf("%d %d ", session, n)+strings.Repeat("word ", 790)))
	}
	return history
}

func bounded(t testing.TB, c Config, maxBytes int) *CompactManager {
	t.Helper()
	c.Model, c.MaxContextTokens, c.Sessions.MaxBytes = "gpt-4", 200_000, maxBytes
	if c.Archive == nil {
		c.Archive = memory.New()
	}
	m, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) }) // some archives take no log
	return m
}

type writerFunc func(line []byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// heap returns the bytes of live objects.
func heap() int64 {
	var s runtime.MemStats
	for range 2 {
		runtime.GC()
	}
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

func TestIdleSessionsAreBoundedByBytes(t *testing.T) {
	const size, bound = 200 << 10, 4 << 20
	m := bounded(t, Config{}, bound)
	first := long(0, size)
	was, err := m.ManualCompact(t.Context(), "0", first, "")
	if err != nil || !was.Triggered {
		t.Fatalf("compacted %v, %v; want true and no error", was.Triggered, err)
	}
	before := heap()
	for i := 1; i < 60; i++ {
		if _, err := m.Preflight(t.Context(), fmt.Sprint(i), long(i, size)); err != nil {
			t.Fatal(err)
		}
		if m.bytes > bound {
			t.Fatalf("%d bytes are remembered after session %d, at most %d are wanted", m.bytes, i, bound)
		}
	}
	if n := len(m.sessions); n < 3 || n > bound/size || m.sessions["0"] != nil || m.sessions["59"] == nil {
		t.Errorf("%d sessions are remembered; the first one: %v, the last one: %v", n, m.sessions["0"] != nil, m.sessions["59"] != nil)
	}
	if grown := heap() - before; grown > 2*bound {
		t.Errorf("the heap has grown by %d bytes, at most %d are wanted", grown, 2*bound)
	}
	again, err := m.Preflight(t.Context(), "0", first)
	if err != nil || again.Triggered || again.After.Total != was.After.Total || again.Replayed == 0 {
		t.Errorf("read again: compacted %v, %d tokens, %d edits, %v", again.Triggered, again.After.Total, again.Replayed, err)
	}
}

// A history that is passed again with a little more weighs only that much more.
func TestWeightOfASessionDoesNotGrowByItself(t *testing.T) {
	m := bounded(t, Config{}, 1<<40)
	history := long(1, 50_000)
	var last int64
	for i := range 6 {
		if i == 3 {
			history = append(history, message.User("more"))
			last += 2 * messageWeight
		}
		if _, err := m.Preflight(t.Context(), "s", history); err != nil {
			t.Fatal(err)
		}
		if i > 0 && m.bytes > last+messageWeight {
			t.Errorf("call %d: %d bytes, after %d", i, m.bytes, last)
		}
		last = m.bytes
	}
	if _, err := m.Preflight(t.Context(), "s", history[:4]); err != nil || m.bytes >= last {
		t.Errorf("a shorter history weighs %d after %d, %v", m.bytes, last, err)
	}
}

// The steps of a session count, in the process that made them and in one that read
// them: they stay when the caches are removed. Uncounted, the memory of long
// sessions would have no bound.
func TestWeightOfASessionGrowsWithItsSteps(t *testing.T) {
	archive := memory.New()
	m := bounded(t, Config{Archive: archive}, 1<<40)
	least := int64(sessionWeight)
	for n := range 12 {
		res, err := m.ManualCompact(t.Context(), "s", reads(40*(n+1)), "")
		if err != nil || res.Step != n+1 {
			t.Fatalf("step %d, %v; want %d and no error", res.Step, err, n+1)
		}
		s := m.sessions["s"]
		removed := len(s.snapshot()[n].Evicted)
		if removed < 40 {
			t.Fatalf("step %d removed %d messages, want at least 40", n+1, removed)
		}
		least += int64(removed) * recipeWeight
		s.slim()
		if got := s.weight(); got < least {
			t.Errorf("after step %d the session weighs %d bytes, its steps alone at least %d", n+1, got, least)
		}
	}
	other := bounded(t, Config{Archive: archive}, 1<<40)
	s, err := other.session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	defer other.release(s)
	if got := s.weight(); got < least {
		t.Errorf("read again, the session weighs %d bytes, its steps alone at least %d", got, least)
	}
}

// The counted memory is close to the real memory.
func TestWeightOfSessionsIsAboutTheirMemory(t *testing.T) {
	m := bounded(t, Config{}, 1<<40)
	if _, err := m.Preflight(t.Context(), "warm", long(0, 10_000)); err != nil {
		t.Fatal(err)
	}
	before := heap()
	for i := 1; i <= 40; i++ {
		if _, err := m.Preflight(t.Context(), fmt.Sprint(i), long(i, 410_000)); err != nil {
			t.Fatal(err)
		}
	}
	grown := heap() - before
	if share := float64(m.bytes) / float64(grown); share < 0.8 || share > 2 {
		t.Errorf("%d bytes are counted, but the heap has %d", m.bytes, grown)
	}
	t.Logf("a session of 410,000 bytes: %d in memory, %d counted", grown/40, m.bytes/41)
	runtime.KeepAlive(m)
}

// The last used session stays with any size. A session in use or without an archive
// stays, too, and only its caches are removed.
func TestProtectedSessionsStayAtAnySize(t *testing.T) {
	t.Run("the last one", func(t *testing.T) {
		m := bounded(t, Config{}, 1)
		for i := range 3 {
			if _, err := m.Preflight(t.Context(), fmt.Sprint(i), long(i, 50_000)); err != nil {
				t.Fatal(err)
			}
			if s := m.sessions[fmt.Sprint(i)]; s == nil || len(m.sessions) != 1 || m.bytes != s.weight() {
				t.Errorf("%d sessions of %d bytes are remembered", len(m.sessions), m.bytes)
			}
		}
	})
	t.Run("that no archive has", func(t *testing.T) {
		m := bounded(t, Config{Archive: &broken{Archive: memory.New(), word: "transcript"}, Storage: StorageConfig{OnError: "continue"}}, 200_000)
		first := long(0, 150_000)
		was, err := m.ManualCompact(t.Context(), "0", first, "")
		if err != nil || !was.Triggered {
			t.Fatalf("compacted %v, %v; want true and no error", was.Triggered, err)
		}
		for i := 1; i < 5; i++ {
			if _, err := m.Preflight(t.Context(), fmt.Sprint(i), long(i, 150_000)); err != nil {
				t.Fatal(err)
			}
		}
		s := m.sessions["0"]
		if s == nil || s.canSlim() {
			t.Fatalf("the last session exists: %v, or still has its caches", s != nil)
		}
		again, err := m.Preflight(t.Context(), "0", first)
		if err != nil || again.Triggered || again.Replayed == 0 {
			t.Errorf("compacted %v, %d edits, %v; want false and no error", again.Triggered, again.Replayed, err)
		}
	})
	t.Run("that no archive has, when they are too many", func(t *testing.T) {
		var m *CompactManager
		told := 0
		log := slog.New(slog.NewTextHandler(writerFunc(func(line []byte) {
			if bytes.Contains(line, []byte("too many sessions")) {
				told++
				m.sayOnce("") // takes the lock of the manager, as a handler that asks it would
			}
		}), nil))
		m = bounded(t, Config{Archive: &broken{Archive: memory.New(), word: "transcript"}, Storage: StorageConfig{OnError: "continue"}, Logger: log}, 1<<30)
		m.keep = 3
		for i := range 8 {
			if _, err := m.ManualCompact(t.Context(), fmt.Sprint(i), long(i, 50_000), ""); err != nil {
				t.Fatal(err)
			}
		}
		if len(m.sessions) > m.keep || m.sessions["7"] == nil {
			t.Errorf("%d sessions are remembered, want at most %d", len(m.sessions), m.keep)
		}
		if told != 5 {
			t.Errorf("the log names %d removed sessions, want 5", told)
		}
	})
	t.Run("in use", func(t *testing.T) {
		m := bounded(t, Config{}, 1)
		s, err := m.session(t.Context(), "0")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Preflight(t.Context(), "1", long(1, 50_000)); err != nil {
			t.Fatal(err)
		}
		if m.sessions["0"] != s {
			t.Error("the session is not in memory")
		}
		m.release(s)
	})
}

// The headers of replaced indexes are not kept.
func TestIndexesThatWereMergedAreForgotten(t *testing.T) {
	m, err := New(t.Context(), Config{Model: "gpt-4", MaxContextTokens: 100_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	const steps = 33
	for n := range steps {
		res, err := m.ManualCompact(t.Context(), "s", reads(40+2*n), "")
		if err != nil || res.Step != n+1 {
			t.Fatalf("step %d, %v; want %d and no error", res.Step, err, n+1)
		}
	}
	if n := m.sessions["s"].reads.Tables(); n > 6 {
		t.Errorf("%d indexes are open after %d steps, want at most 6", n, steps)
	}
}

// Removed caches are not referenced elsewhere: the bill of a lane also knows the
// conversation of its last call.
func TestSlimSessionsHoldNoConversation(t *testing.T) {
	m := bounded(t, Config{}, 1<<40)
	history := long(1, 50_000)
	if _, err := m.Preflight(t.Context(), "s", history); err != nil {
		t.Fatal(err)
	}
	s := m.sessions["s"]
	l := s.lanes[ledger.Owner{}]
	if l.account.conv == nil {
		t.Fatal("the conversation is not known")
	}
	s.slim()
	if l.memo.now.conv != nil || l.account.conv != nil {
		t.Error("the lane still holds the conversation")
	}
	history = append(history, message.User("more"))
	if _, err := m.Preflight(t.Context(), "s", history); err != nil || len(l.account.sent) != len(history) {
		t.Errorf("%d messages were sent, %v; want %d and no error", len(l.account.sent), err, len(history))
	}
}
