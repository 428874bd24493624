package compact

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// slowAppends is an archive whose appends take a tenth of a second, like in a
// bucket, and fail for one session.
type slowAppends struct {
	*memory.Archive
	slow bool
}

func (a *slowAppends) Append(ctx context.Context, k storage.Key, at int64, b storage.Blob) error {
	if a.slow {
		time.Sleep(100 * time.Millisecond)
		if strings.HasPrefix(k.String(), "s7/") {
			return fmt.Errorf("no room for %s", k)
		}
	}
	return a.Archive.Append(ctx, k, at, b)
}

// When a manager is closed, the remaining lines of many sessions are written
// concurrently: one after the other, hundreds would not be finished before the
// process is killed.
func TestCloseWritesWhatManySessionsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &slowAppends{Archive: memory.New()}
		m, err := New(t.Context(), Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: a})
		if err != nil {
			t.Fatal(err)
		}
		const sessions = 64
		for i := range sessions {
			if _, err := m.Preflight(t.Context(), fmt.Sprint("s", i), reads(2)); err != nil {
				t.Fatal(err)
			}
		}
		a.slow = true
		began := time.Now()
		err = m.Close(t.Context())
		if err == nil || strings.Count(err.Error(), "archive failed") != 1 || !strings.Contains(err.Error(), "no room for s7/") {
			t.Errorf("a log that can't be written: %v", err)
		}
		if took := time.Since(began); took < 400*time.Millisecond || took > sessions*100*time.Millisecond/4 {
			t.Errorf("%d sessions took %v", sessions, took)
		}
	})
}

// The provider's answer comes after the session of the call has left memory and the audit
// log of the session was written. Flush and Close write the usage nevertheless, also when the session is in
// memory again.
func TestFlushAndCloseWriteTheUsageOfSessionsThatLeftMemory(t *testing.T) {
	for name, write := range map[string]func(*CompactManager) error{
		"Flush": func(m *CompactManager) error { return m.Flush(t.Context()) },
		"Close": func(m *CompactManager) error { return m.Close(t.Context()) },
	} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", in memory again: ", again), func(t *testing.T) {
				a := memory.New()
				m, err := New(t.Context(), Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: a, Sessions: SessionsConfig{MaxBytes: 1}})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = m.Close(t.Context()) }()
				call := func(session string) *Result {
					res, err := m.Preflight(t.Context(), session, reads(2))
					if err = errors.Join(err, m.Flush(t.Context())); err != nil {
						t.Fatal(err)
					}
					return res
				}
				res := call("left")
				call("other")
				if m.sessions["left"] != nil {
					t.Fatal("the session is in memory")
				}
				if again {
					call("left")
				}
				m.Observe(res, Usage{PromptTokens: res.After.Total, OutputTokens: 5})
				if err := write(m); err != nil {
					t.Fatal(err)
				}
				if n := strings.Count(strings.Join(linesOf(t, a, "left"), "\n"), `"name":"compact.usage"`); n != 1 {
					t.Errorf("the log has %d lines of the usage, want 1", n)
				}
				if n := len(m.backlog.late); n > 0 {
					t.Errorf("the manager still keeps %d logs", n)
				}
			})
		}
	}
}

// Two places of a program close the manager: none of them continues before the log is
// written. After a Close that ran out of time, another one writes the rest.
func TestEachCloseReturnsWhenEverythingIsWritten(t *testing.T) {
	for name, first := range map[string]time.Duration{"at once": time.Hour, "after a failed Close": 10 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &slowAppends{Archive: memory.New()}
				m, err := New(t.Context(), Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: a})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := m.Preflight(t.Context(), "s", reads(2)); err != nil {
					t.Fatal(err)
				}
				a.slow = true
				go func() {
					ctx, cancel := context.WithTimeout(t.Context(), first)
					defer cancel()
					if err := m.Close(ctx); (err != nil) != (first < time.Second) {
						t.Errorf("the first Close: %v", err)
					}
				}()
				synctest.Wait()
				if err := m.Close(t.Context()); err != nil {
					t.Errorf("the second Close: %v", err)
				}
				if len(linesOf(t, a, "s")) == 0 {
					t.Error("the second Close returned before the audit log was written")
				}
			})
		})
	}
}

// closable is an archive that counts the appends before and after its Close.
type closable struct {
	*memory.Archive
	closed        bool
	before, after int
}

func (a *closable) Append(ctx context.Context, k storage.Key, at int64, b storage.Blob) error {
	if a.closed {
		a.after++
	} else {
		a.before++
	}
	return a.Archive.Append(ctx, k, at, b)
}

func (a *closable) Close(context.Context) error {
	a.closed = true
	return nil
}

// A manager closes the archive that it opened, after the last lines of its logs.
func TestCloseClosesTheArchiveLast(t *testing.T) {
	m, err := New(t.Context(), Config{Model: "gpt-4", MaxContextTokens: 8_000, Storage: StorageConfig{Adapter: "memory"}})
	if err != nil {
		t.Fatal(err)
	}
	a := &closable{Archive: memory.New()}
	m.archive = a
	if _, err := m.Preflight(t.Context(), "s", reads(2)); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(t.Context()); err != nil || !a.closed || a.before == 0 || a.after > 0 {
		t.Errorf("closed %v, %d appends before and %d after it: %v", a.closed, a.before, a.after, err)
	}
}
