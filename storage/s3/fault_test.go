package s3_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// front forwards requests to a server, records them, and can spoil answers.
type front struct {
	*httptest.Server
	mu    sync.Mutex
	notes []string
	// spoil is called for each request, before and after the server has
	// processed it; true drops the connection then.
	before, after func(r *http.Request) bool
	own           func(w http.ResponseWriter, r *http.Request) bool // can answer a request in place of the server, and then returns true
	cutAt         int                                               // bytes of an answer's body after which the connection breaks; 0: never
}

// rolledUp is the note of a request that writes a roll-up.
const rolledUp = "ROLL-UP"

func newFront(t *testing.T, s *s3test.Server) *front {
	t.Helper()
	f, proxy := &front{}, s.Front(t)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		before, after, cutAt, own := f.before, f.after, f.cutAt, f.own
		note := r.Method
		if span := r.Header.Get("Range"); span != "" {
			note += " " + span
		}
		switch {
		case r.URL.Query().Has("list-type"):
			note = "LIST"
		case r.Method == http.MethodPut && isRollup(r.URL.Path):
			note = rolledUp
		}
		f.notes = append(f.notes, note)
		f.mu.Unlock()
		if before != nil && before(r) {
			panic(http.ErrAbortHandler)
		}
		switch {
		case own != nil && own(w, r):
		case after != nil && after(r):
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case cutAt > 0 && r.Method == http.MethodGet:
			proxy.ServeHTTP(&cutter{w, cutAt}, r)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

// cutter breaks the connection in the middle of a body.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

func (f *front) set(change func(f *front)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes = nil
	change(f)
}

func (f *front) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.notes)
}

// opened returns an archive behind a front.
func opened(t *testing.T, change func(*s3.Config)) (*front, *s3.Archive, *s3test.Server, s3.Config) {
	t.Helper()
	return openedOn(t, s3test.Plain(t), change)
}

func openedOn(t *testing.T, s *s3test.Server, change func(*s3.Config)) (*front, *s3.Archive, *s3test.Server, s3.Config) {
	t.Helper()
	f := newFront(t, s)
	c := s.Config(s.Bucket(t, false))
	c.Endpoint = f.URL
	if change != nil {
		change(&c)
	}
	a := open(t, c)
	f.set(func(*front) {})
	return f, a, s, c
}

// once returns a function that returns true for the first n requests of a method.
func once(n int, method string) func(*http.Request) bool {
	var mu sync.Mutex
	return func(r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if r.Method != method || n == 0 {
			return false
		}
		n--
		return true
	}
}

func TestLostAnswerIsNotTakenForAnotherWriter(t *testing.T) {
	for _, c := range []struct {
		what, method string
		size         int
	}{{"a file", http.MethodPut, 100}, {"an upload in parts", http.MethodPost, 17 << 20}} {
		f, a, s, cfg := opened(t, nil)
		k, b := key(t, "s/f"), raw(strings.Repeat("x", c.size))
		f.set(func(f *front) {
			f.after = func(r *http.Request) bool { return false }
			drop := once(1, c.method)
			f.after = func(r *http.Request) bool { return !r.URL.Query().Has("uploads") && drop(r) }
		})
		if err := a.Create(t.Context(), k, b); err != nil {
			t.Errorf("%s: its own object is mistaken for another's: %v", c.what, err)
		}
		other := open(t, s.Config(cfg.Bucket))
		if err := other.Create(t.Context(), k, b); !errors.Is(err, storage.ErrExists) {
			t.Errorf("%s: another writer of the same bytes: %v, want ErrExists", c.what, err)
		}
		log := key(t, "s/log")
		f.set(func(f *front) { f.after = once(1, http.MethodPut) })
		must(t, a.Append(t.Context(), log, 0, raw("one\n")))
		f.set(func(f *front) { f.after = once(1, http.MethodPut) })
		must(t, a.Append(t.Context(), log, 4, raw("two\n")))
		if got, err := read(t.Context(), other, log, 0, -1); got != "one\ntwo\n" || err != nil {
			t.Errorf("the log holds %q, %v; want %q and no error", got, err, "one\ntwo\n")
		}
	}
}

// TestLostRaceWithALostAnswerIsStillLost: another writer takes the name between
// two attempts, with the same bytes.
func TestLostRaceWithALostAnswerIsStillLost(t *testing.T) {
	f, a, s, cfg := opened(t, nil)
	k, b := key(t, "s/ledger-001.json"), raw("the same bytes")
	other := open(t, s.Config(cfg.Bucket))
	drop := once(1, http.MethodPut)
	f.set(func(f *front) {
		f.before = func(r *http.Request) bool {
			if !drop(r) {
				return false
			}
			if err := other.Create(context.Background(), k, b); err != nil {
				t.Error(err)
			}
			return true
		}
	})
	if err := a.Create(t.Context(), k, b); !errors.Is(err, storage.ErrExists) {
		t.Errorf("got %v, want ErrExists", err)
	}
}

func TestBrokenReadResumesAtItsOffset(t *testing.T) {
	f, a, _, _ := opened(t, nil)
	k := key(t, "s/f")
	want := strings.Repeat("0123456789abcdef\n", 8000)
	must(t, a.Create(t.Context(), k, raw(want)))
	f.set(func(f *front) { f.cutAt = 50_000 })
	for _, span := range [][2]int64{{0, -1}, {7, 100_000}, {100, -1}} {
		f.set(func(*front) {})
		got, err := read(t.Context(), a, k, span[0], span[1])
		part := want[span[0]:]
		if span[1] >= 0 {
			part = part[:span[1]]
		}
		if got != part || err != nil {
			t.Errorf("%v: %d bytes of %d, %v; asked %q", span, len(got), len(part), err, f.asked())
		}
		if n := len(f.asked()); n < 2 {
			t.Errorf("%v: nothing was broken: %q", span, f.asked())
		}
	}
}

func TestObjectsOfEverySizeAreReadByteForByte(t *testing.T) {
	var numbers []byte
	for i := int64(0); len(numbers) < 33<<20; i++ {
		numbers = append(strconv.AppendInt(numbers, i, 10), ' ')
	}
	all := string(numbers)
	plain(t, func(t *testing.T, s *s3test.Server) {
		a := open(t, s.Config(s.Bucket(t, false)))
		for _, size := range []int{16 << 20, 16<<20 + 1, 32<<20 + 12_345} { // in one, and in two and three parts
			k, want := key(t, fmt.Sprintf("s/f-%d", size)), all[:size]
			must(t, a.Create(t.Context(), k, raw(want)))
			got, err := read(t.Context(), a, k, 0, -1)
			if err != nil || got != want {
				t.Errorf("of %d bytes %d came back, %v", size, len(got), err)
			}
		}
	})
}

// TestBrokenReadIsNotEndedWithAnotherObject: an administrator overwrites the
// object during the read. The stand-in knows no If-Match.
func TestBrokenReadIsNotEndedWithAnotherObject(t *testing.T) {
	f, a, s, c := openedOn(t, s3test.Versitygw(t), nil)
	k, name := key(t, "s/f"), c.Prefix+"/s/f"
	must(t, a.Create(t.Context(), k, raw(strings.Repeat("a", 200_000))))
	f.set(func(f *front) { f.cutAt = 50_000 })
	r, err := a.Open(t.Context(), k, 0, -1)
	must(t, err)
	_, err = s.Admin.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &c.Bucket, Key: &name, Body: strings.NewReader(strings.Repeat("b", 200_000))})
	must(t, err)
	got, err := io.ReadAll(r)
	if err == nil || strings.Contains(string(got), "b") {
		t.Errorf("%d bytes, %d of them of another object, %v", len(got), strings.Count(string(got), "b"), err)
	}
	must(t, r.Close())
}

func TestOneRangedGetReadsAPageOfAFile(t *testing.T) {
	f, a, _, _ := opened(t, nil)
	k := key(t, "s/turns-001.idx")
	must(t, a.Create(t.Context(), k, raw(strings.Repeat("p", 20_000))))
	f.set(func(*front) {})
	got, err := read(t.Context(), a, k, 4096, 4096)
	if len(got) != 4096 || err != nil {
		t.Errorf("%d bytes, %v; want 4096 and no error", len(got), err)
	}
	if want := []string{"GET bytes=4096-8191"}; !slices.Equal(f.asked(), want) {
		t.Errorf("asked %q, want %q", f.asked(), want)
	}
}

func TestCallGivesUpAfterItsTimeout(t *testing.T) {
	f, a, _, _ := opened(t, func(c *s3.Config) { c.Timeout = 700 * time.Millisecond })
	f.set(func(f *front) { f.before = func(*http.Request) bool { return true } })
	started := time.Now()
	for what, err := range map[string]error{
		"Create": a.Create(t.Context(), key(t, "s/f"), raw("x")),
		"Append": a.Append(t.Context(), key(t, "s/l"), 0, raw("x")),
		"Open":   second(read(t.Context(), a, key(t, "s/f"), 0, -1)),
	} {
		if !errors.Is(err, s3.ErrUnreachable) || !strings.Contains(err.Error(), "attempts") {
			t.Errorf("%s: %v, want ErrUnreachable", what, err)
		}
	}
	if waited := time.Since(started); waited > 5*time.Second {
		t.Errorf("the calls took %s", waited)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := a.Create(ctx, key(t, "s/f"), raw("x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a deadline of the caller: %v, want DeadlineExceeded", err)
	}
	if len(f.asked()) < 6 {
		t.Errorf("Create was tried only %d times, want at least 6", len(f.asked()))
	}
}

func second[T any](_ T, err error) error { return err }

func TestWrongAnswersAreNotRetried(t *testing.T) {
	f, _, _, c := opened(t, nil)
	c.Bucket = "there-is-no-such-bucket"
	f.set(func(*front) {})
	_, err := s3.Open(t.Context(), c)
	if err == nil || errors.Is(err, s3.ErrUnreachable) || !strings.Contains(err.Error(), "NoSuchBucket") {
		t.Errorf("got %v, want an error with %q", err, "NoSuchBucket")
	}
	if n := len(f.asked()); n > 3 {
		t.Errorf("Open sent %d requests, want at most 3", n)
	}
	a, err := s3.New(c)
	must(t, err)
	if _, err := read(t.Context(), a, key(t, "s/f"), 0, -1); err == nil || errors.Is(err, storage.ErrNotExist) {
		t.Errorf("a file in no bucket: %v, want an error", err)
	}
}

func TestLogWithAHoleIsSeenAndNotAppendedTo(t *testing.T) {
	_, a, s, c := opened(t, nil)
	log, err := record.OpenSession(t.Context(), a, "s")
	must(t, err)
	for range 3 {
		must(t, log.Events(t.Context(), []redact.Text{redact.Lit(`{"name":"one"}`)}))
	}
	must(t, log.Checkpoint(t.Context()))
	names := s.Names(t, c.Bucket)
	at := slices.IndexFunc(names, func(n string) bool {
		return strings.Contains(n, "/events.jsonl!") && !strings.HasSuffix(n, fmt.Sprintf("%020d", 0))
	})
	deleteObject(t, s, c.Bucket, names[at])
	other := open(t, s.Config(c.Bucket))
	r, err := record.Verify(t.Context(), other, "s", record.VerifyOptions{})
	must(t, err)
	if len(r.Problems) != 1 || r.Problems[0].Kind != record.Removed || r.Problems[0].File != "events.jsonl" {
		t.Errorf("verify finds %v", r.Problems)
	}
	info := sizeOf(t, other, key(t, "s/events.jsonl"))
	if err := other.Append(t.Context(), key(t, "s/events.jsonl"), info, raw("x")); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("Append: %v, want ErrDamaged", err)
	}
}

func TestAppendToALogThatWasErasedInBetweenIsRefusedAndLeavesNothing(t *testing.T) {
	_, a, s, c := opened(t, nil)
	k := key(t, "s/log")
	must(t, a.Append(t.Context(), k, 0, raw("one\n")))
	must(t, open(t, s.Config(c.Bucket)).Remove(t.Context(), k))
	if err := a.Append(t.Context(), k, 4, raw("two\n")); !errors.Is(err, storage.ErrSeq) {
		t.Errorf("got %v, want ErrSeq", err)
	}
	if names := s.Names(t, c.Bucket); len(names) > 0 {
		t.Errorf("these objects are left: %q", names)
	}
	must(t, a.Append(t.Context(), k, 0, raw("new\n")))
}
