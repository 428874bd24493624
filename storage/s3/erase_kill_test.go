package s3_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3"
)

// toErase stores a session of some steps, and returns its agent.
func toErase(t *testing.T, a storage.Archive, id string) *record.Session {
	t.Helper()
	s := session(t, a, id)
	s.KeepHeads(record.NewHeads(a, nil))
	for n := 1; n <= 2; n++ {
		must(t, tryWholeStepOf(t.Context(), s, n))
	}
	return s
}

// eraserOf returns a session that a process of its own is about to erase.
func eraserOf(t *testing.T, c s3.Config, id string) *record.Session {
	t.Helper()
	a := open(t, c)
	s := session(t, a, id)
	s.KeepHeads(record.NewHeads(a, nil))
	return s
}

// An erase is killed before each of its requests. After that the session is whole, or named as
// being erased, or gone. The next erase waits until the turn of the killed process is over, and
// removes all of the session. By default each second request is tried.
func TestAnEraseKilledBeforeAnyRequestIsCompleted(t *testing.T) {
	sample(t)
	f, _, server, c := opened(t, func(c *s3.Config) { c.Timeout = time.Second })
	var repeats sync.WaitGroup
	var archives []*s3.Archive
	step := int64(2)
	if samples.All() {
		step = 1
	}
	for at := int64(1); ; at += step {
		fronted, behind := c, server.Config(c.Bucket)
		fronted.Prefix += fmt.Sprintf("/%d", at)
		behind.Prefix = fronted.Prefix
		direct := open(t, behind)
		toErase(t, direct, "s")
		e := eraserOf(t, fronted, "s")
		ctx, kill := context.WithCancel(t.Context())
		var n atomic.Int64
		f.set(func(f *front) {
			f.before = func(*http.Request) bool {
				if n.Add(1) < at {
					return false
				}
				kill()
				return true
			}
		})
		_, err := e.Erase(ctx, redact.Lit("asked for"))
		kill()
		f.set(func(f *front) { f.before = nil })
		if n.Load() < at {
			must(t, err)
			break
		}
		archives = append(archives, direct)
		wantErased(t, direct, false)
		repeats.Go(func() {
			s, err := record.OpenSession(t.Context(), direct, "s")
			if err == nil {
				s.KeepHeads(record.NewHeads(direct, nil))
				_, err = s.Erase(t.Context(), redact.Lit("again"))
			}
			if err != nil {
				t.Errorf("killed before request %d: %v", at, err)
			}
		})
	}
	repeats.Wait()
	if int64(len(archives))*step < 10 {
		t.Errorf("an erase has only %d requests, want at least 10", int64(len(archives))*step)
	}
	for _, a := range archives {
		wantErased(t, a, true)
	}
	for _, name := range server.Names(t, c.Bucket) {
		if !strings.Contains(name, "/_heads/") && !strings.Contains(name, "/_erased.jsonl") {
			t.Errorf("%s is left", name)
		}
	}
}

// wantErased checks that a session is gone, with a tombstone. An incomplete erase may also
// leave the session whole, or named as being erased.
func wantErased(t *testing.T, a *s3.Archive, complete bool) {
	t.Helper()
	id := a.Location(storage.Key{})
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	must(t, err)
	r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Heads: book})
	gone := errors.Is(err, storage.ErrNotExist)
	if !gone {
		must(t, err)
	}
	if named := strings.Contains(strings.Join(r.Notes, "\n"), "began to erase"); !gone && (complete || !r.OK() && !named) {
		t.Errorf("%s: problems %v, notes %q", id, r.Problems, r.Notes)
	}
	lost, err := book.Vanished(t.Context(), a)
	must(t, err)
	for _, r := range lost {
		if !r.OK() {
			t.Errorf("%s: of %s: %v, want no problems", id, r.Dir, r.Problems)
		}
	}
	if stone, ok, err := record.Erased(t.Context(), a, "s"); err != nil || complete && (!ok || !stone.Done) {
		t.Errorf("%s: tombstone %v, %+v (%v)", id, ok, stone, err)
	}
}

// Agents write before each request of an erase: a step, lines of the audit log, and the
// step of an agent that begins at that moment. They succeed or learn of the erase. What is
// left belongs to a session that began after the erased one was gone.
func TestAgentsBesideAnyRequestOfAnErase(t *testing.T) {
	f, _, server, c := opened(t, nil)
	for at := int64(1); ; at++ {
		id := fmt.Sprintf("s%d", at)
		direct := open(t, server.Config(c.Bucket))
		agent, e := toErase(t, direct, id), eraserOf(t, c, id)
		var n atomic.Int64
		var began error
		f.set(func(f *front) {
			f.before = func(*http.Request) bool {
				if n.Add(1) != at {
					return false
				}
				ctx := context.Background()
				for _, err := range []error{tryWholeStepOf(ctx, agent, 3), agent.Events(ctx, []redact.Text{redact.Lit(`{"name":"e"}`)})} {
					if err != nil && !errors.Is(err, record.ErrErased) {
						t.Errorf("before request %d an agent fails with %v", at, err)
					}
				}
				began = beginStep(ctx, direct, id)
				return false
			}
		})
		_, err := e.Erase(t.Context(), redact.Lit("asked for"))
		must(t, err)
		f.set(func(f *front) { f.before = nil })
		if n.Load() < at {
			return
		}
		left := objectsOf(t, server, c, id)
		if len(left) == 0 {
			continue
		}
		r, err := record.Verify(t.Context(), direct, id, record.VerifyOptions{})
		if began != nil || err != nil || !r.OK() || r.Steps != 1 {
			t.Errorf("before request %d an agent began with %v, and there are %q: problems %v (%v)", at, began, left, r.Problems, err)
		}
	}
}

// beginStep opens a session and stores its next step.
func beginStep(ctx context.Context, a storage.Archive, id string) error {
	s, err := record.OpenSession(ctx, a, id)
	if err != nil {
		return err
	}
	head, err := s.Head(ctx)
	if err != nil {
		return err
	}
	return tryWholeStepOf(ctx, s, head+1)
}
