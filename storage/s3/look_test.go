package s3_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// An erase before any one of the requests of a step leaves nothing of the step: its
// writer removes its later files again, including the lines of logs.
func TestAnEraseBeforeAnyRequestOfAStepLeavesNothing(t *testing.T) {
	t.Run("beside", func(t *testing.T) { erasedBefore(t, 3, tryStepOf) })
	t.Run("with its step", func(t *testing.T) { erasedBefore(t, 5, tryWholeStepOf) })
}

// erasedBefore erases a session before each request of its step with the given number, in which
// the manifest is rolled up.
func erasedBefore(t *testing.T, number int, step func(context.Context, *record.Session, int) error) {
	f, a, server, c := opened(t, nil)
	direct := open(t, server.Config(c.Bucket))
	told := 0
	for at := int64(1); ; at++ {
		id := fmt.Sprintf("s%d", at)
		s := session(t, a, id)
		s.KeepHeads(record.NewHeads(a, nil))
		for n := 1; n < number; n++ {
			must(t, step(t.Context(), s, n))
		}
		if len(objectsOf(t, server, c, id)) < 7 {
			t.Fatalf("a step has %q: the test proves nothing", objectsOf(t, server, c, id))
		}
		var n atomic.Int64
		f.set(func(f *front) {
			f.before = func(*http.Request) bool {
				if n.Add(1) == at {
					if _, err := session(t, direct, id).Erase(context.Background(), redact.Lit("asked for")); err != nil {
						t.Error(err)
					}
				}
				return false
			}
		})
		err := step(t.Context(), s, number)
		asked := f.asked()
		f.set(func(f *front) { f.before = nil })
		if n.Load() < at { // the step has fewer requests
			if !slices.Contains(asked, rolledUp) {
				t.Errorf("nothing was rolled up: %q", asked)
			}
			if told < 8 {
				t.Errorf("of %d requests only %d learned of an erase before them, want at least 8", at-1, told)
			}
			return
		}
		if errors.Is(err, record.ErrErased) {
			told++
		} else if err != nil {
			t.Errorf("an erase before request %d: %v", at, err)
		}
		for _, o := range objectsOf(t, server, c, id) {
			t.Errorf("an erase before request %d leaves %s (%v)", at, o, err)
		}
	}
}

// A step that fails in an erased session leaves nothing either, because no later line
// would find its files.
func TestStepFailingInAnErasedSessionLeavesNothing(t *testing.T) {
	_, a, server, c := opened(t, nil)
	s := session(t, a, "s")
	must(t, stepOf(t, s, 1))
	transcript, err := s.Transcript(t.Context(), 2, []redact.Text{redact.Lit(`{"role":"user","content":"hello"}`)})
	must(t, err)
	failed := errors.New("failed")
	_, err = s.CommitStep(t.Context(), record.Step{
		Number: 2, Files: []record.Written{transcript}, Drafts: []record.Draft{s.SummaryDraft(redact.Lit(`{"v":1}`))},
		Ledger: func([]record.Written) ([]redact.Text, error) { return []redact.Text{redact.Lit(`{"v":1}`)}, nil },
		Beside: func(ctx context.Context, _ []record.Written) error {
			_, err := session(t, open(t, server.Config(c.Bucket)), "s").Erase(ctx, redact.Lit("asked for"))
			return errors.Join(failed, err)
		},
	})
	if !errors.Is(err, failed) {
		t.Errorf("the step ends with %v, want failed", err)
	}
	for _, o := range objectsOf(t, server, c, "s") {
		t.Errorf("%s is left", o)
	}
}

// An erase fails when only the last segment of the manifest is left, and a file of a
// late writer appears. The next erase, or a prune, removes both.
func TestEraseThatLeftTheEndOfTheManifestIsCompleted(t *testing.T) {
	for name, again := range map[string]func(s *record.Session, a storage.Archive) error{
		"erase": func(s *record.Session, _ storage.Archive) error {
			_, err := s.Erase(t.Context(), redact.Lit("again"))
			return err
		},
		"prune": func(_ *record.Session, a storage.Archive) (err error) {
			for r, perr := range record.Prune(t.Context(), a, record.PruneOptions{Before: time.Now().Add(time.Hour)}) {
				err = errors.Join(err, perr, r.Err)
			}
			return err
		},
	} {
		f, a, server, c := opened(t, nil)
		must(t, stepOf(t, session(t, open(t, server.Config(c.Bucket)), "s"), 1))
		f.set(func(f *front) {
			f.own = func(w http.ResponseWriter, r *http.Request) bool {
				last := r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "manifest.jsonl!")
				if last {
					w.WriteHeader(http.StatusForbidden)
				}
				return last
			}
		})
		if _, err := session(t, a, "s").Erase(t.Context(), redact.Lit("asked for")); err == nil || len(objectsOf(t, server, c, "s")) != 2 { // the second ends the turn
			t.Fatalf("the erase ends with %v, and %q", err, objectsOf(t, server, c, "s"))
		}
		f.set(func(f *front) { f.own = nil })
		must(t, a.Create(t.Context(), key(t, "s/summary-002.json"), raw("late")))
		direct := open(t, server.Config(c.Bucket))
		must(t, again(session(t, direct, "s"), direct))
		for _, o := range objectsOf(t, server, c, "s") {
			t.Errorf("after %s there is %s", name, o)
		}
		var last record.Tombstone
		for stone, err := range record.Tombstones(t.Context(), direct) {
			must(t, err)
			last = stone
		}
		if !last.Done || last.Reason != "asked for" {
			t.Errorf("after %s the tombstone is %+v", name, last)
		}
		must(t, stepOf(t, session(t, direct, "s"), 1)) // another session can begin
	}
}

// A restarted log is independent of the removed log of that name.
func TestRestartedLogNeedsNoCheck(t *testing.T) {
	_, a, server, c := opened(t, nil)
	k := key(t, "s/log")
	must(t, a.Append(t.Context(), k, 0, raw("one\n")))
	must(t, a.AppendUnseen(t.Context(), k, 4, raw("two\n")))
	must(t, open(t, server.Config(c.Bucket)).Remove(t.Context(), k))
	must(t, a.Append(t.Context(), k, 0, raw("first\n")))
	must(t, a.Append(t.Context(), k, 6, raw("second\n")))
	if got, err := read(t.Context(), a, k, 0, -1); got != "first\nsecond\n" || err != nil {
		t.Errorf("the log holds %q (%v); want %q and no error", got, err, "first\nsecond\n")
	}
}

// If a log is removed while lines are appended without a check, the next line or
// Settle removes these lines; files that others have stored under its name stay.
func TestPostponedCheckIsMadeLater(t *testing.T) {
	for name, end := range map[string]func(context.Context, storage.Archive, storage.Key) error{
		"Settle": func(ctx context.Context, a storage.Archive, k storage.Key) error {
			return a.(storage.Deferrer).Settle(ctx, k)
		},
		"Append": func(ctx context.Context, a storage.Archive, k storage.Key) error {
			return a.Append(ctx, k, 12, raw("four\n"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, a, server, c := opened(t, nil)
			other := open(t, server.Config(c.Bucket))
			k := key(t, "s/log")
			must(t, a.Append(t.Context(), k, 0, raw("one\n")))
			must(t, a.AppendUnseen(t.Context(), k, 4, raw("two\n")))
			must(t, other.Remove(t.Context(), k))
			must(t, other.Append(t.Context(), k, 0, raw("none")))
			must(t, other.Append(t.Context(), k, 4, raw("mine"))) // of the name of the second
			must(t, a.AppendUnseen(t.Context(), k, 8, raw("too\n")))
			must(t, other.Append(t.Context(), key(t, "s/log2"), 0, raw("another log")))
			if err := end(t.Context(), a, k); !errors.Is(err, storage.ErrSeq) {
				t.Errorf("the check ends with %v, want ErrSeq", err)
			}
			if got, err := read(t.Context(), other, k, 0, -1); got != "nonemine" || err != nil {
				t.Errorf("the log of another holds %q (%v); want %q and no error", got, err, "nonemine")
			}
			if err := a.Settle(t.Context(), k); err != nil {
				t.Errorf("there was nothing to look at any more: %v", err)
			}
		})
	}
}

// A failed check is repeated by the next line.
func TestFailedCheckIsRepeated(t *testing.T) {
	f, a, server, c := opened(t, nil)
	other := open(t, server.Config(c.Bucket))
	k := key(t, "s/log")
	must(t, a.Append(t.Context(), k, 0, raw("one\n")))
	must(t, a.AppendUnseen(t.Context(), k, 4, raw("two\n")))
	must(t, other.Remove(t.Context(), k))
	var meanwhile sync.Once
	f.set(func(f *front) {
		f.own = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodHead {
				meanwhile.Do(func() { // another session of the process continues
					if err := a.AppendUnseen(t.Context(), k, 8, raw("three\n")); err != nil {
						t.Error(err)
					}
				})
				w.WriteHeader(http.StatusForbidden)
			}
			return r.Method == http.MethodHead
		}
	})
	if err := a.Settle(t.Context(), k); err == nil || errors.Is(err, storage.ErrSeq) {
		t.Errorf("without an answer of the server: %v", err)
	}
	f.set(func(f *front) { f.own = nil })
	if err := a.Settle(t.Context(), k); !errors.Is(err, storage.ErrSeq) {
		t.Errorf("Settle returned %v, want ErrSeq", err)
	}
	if names := server.Names(t, c.Bucket); len(names) > 0 {
		t.Errorf("%q are left", names)
	}
}

// objectsOf names the objects of a session.
func objectsOf(t *testing.T, server *s3test.Server, c s3.Config, id string) (names []string) {
	t.Helper()
	for _, o := range server.Names(t, c.Bucket) {
		if strings.HasPrefix(o, c.Prefix+"/"+id+"/") {
			names = append(names, o)
		}
	}
	return names
}
