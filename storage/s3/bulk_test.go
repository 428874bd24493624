package s3_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/s3/s3test"
	"github.com/agentcompact/compact/storage/turnindex"
)

// long writes a session of a given number of steps, with a few events each.
func long(t *testing.T, s *record.Session, steps int) {
	t.Helper()
	for n := 1; n <= steps; n++ {
		for range 4 {
			must(t, s.Events(t.Context(), []redact.Text{redact.Lit(`{"name":"e"}`)}))
		}
		_, err := s.Transcript(t.Context(), n, []redact.Text{redact.Lit(`{"role":"user","content":"hello"}`)})
		must(t, err)
		_, err = s.Commit(t.Context(), n, redact.Lit(`{"v":1}`))
		must(t, err)
	}
}

func session(t *testing.T, a storage.Archive, id string) *record.Session {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, id)
	must(t, err)
	return s
}

// A step makes a fixed number of requests, whatever the size of its logs. This includes the first
// step of a session. The transcript is stored during the summary, or with the step. Opening reads
// each piece of the manifest once. In addition, the manifest and each log are rolled up at each
// fourth append.
func TestStepMakesFewRequests(t *testing.T) {
	for name, c := range map[string]struct {
		step                      func(context.Context, *record.Session, int) error
		first, then, open, rolled int
	}{
		"beside":        {tryStepOf, 14, 11, 1 + 2, 2},     // nine pieces, eight of them rolled up
		"with its step": {tryWholeStepOf, 12, 9, 1 + 3, 1}, // six pieces, four of them rolled up,
	} {
		t.Run(name, func(t *testing.T) {
			f, a, _, _ := openedOn(t, s3test.Versitygw(t), nil)
			s := session(t, a, "s")
			s.KeepHeads(record.NewHeads(a, nil))
			rolled := 0
			for n := 1; n <= 3; n++ {
				most := c.then
				if n == 1 {
					most = c.first
				}
				f.set(func(*front) {})
				must(t, c.step(t.Context(), s, n))
				asked := f.asked()
				rolled += len(asked)
				asked = slices.DeleteFunc(asked, func(note string) bool { return note == rolledUp })
				rolled -= len(asked)
				if len(asked) != most {
					t.Errorf("step %d takes %d requests, want %d: %q", n, len(asked), most, asked)
				}
			}
			if rolled != c.rolled { // of the manifest
				t.Errorf("%d roll-ups were written, want %d", rolled, c.rolled)
			}
			f.set(func(*front) {})
			session(t, a, "s")
			if asked := f.asked(); len(asked) != c.open || slices.Index(asked[1:], "LIST") >= 0 {
				t.Errorf("a session of three steps is opened with %d requests, want %d: %q", len(asked), c.open, asked)
			}
		})
	}
}

// stepOf is a step as an agent makes it.
func stepOf(t *testing.T, s *record.Session, n int) error {
	t.Helper()
	return tryStepOf(t.Context(), s, n)
}

// tryStepOf is a step whose transcript is stored while a model writes the summary.
func tryStepOf(ctx context.Context, s *record.Session, n int) error {
	transcript, err := s.Transcript(ctx, n, []redact.Text{redact.Lit(`{"role":"user","content":"hello"}`)})
	if err != nil {
		return err
	}
	step := record.Step{Number: n, Files: []record.Written{transcript}}
	return commitOf(ctx, s, step, func(context.Context) error { return nil })
}

// tryWholeStepOf is a step whose transcript is stored with it.
func tryWholeStepOf(ctx context.Context, s *record.Session, n int) error {
	var c record.Content
	c.Line(redact.Lit(`{"role":"user","content":"hello"}`))
	came := make(chan error, 1)
	transcript, err := s.TranscriptDraft(&c, func(_ record.Written, err error) { came <- err })
	if err != nil {
		return err
	}
	return commitOf(ctx, s, record.Step{Number: n, Drafts: []record.Draft{transcript}}, func(ctx context.Context) error {
		select {
		case err := <-came:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// commitOf commits a step with a summary, an index and audit lines, which wait for its
// transcript.
func commitOf(ctx context.Context, s *record.Session, step record.Step, transcript func(context.Context) error) error {
	index, err := s.IndexDraft(&turnindex.Set{})
	if err != nil {
		return err
	}
	step.Drafts = append(step.Drafts, s.SummaryDraft(redact.Lit(`{"v":1}`)), index)
	step.Ledger = func([]record.Written) ([]redact.Text, error) { return []redact.Text{redact.Lit(`{"v":1}`)}, nil }
	step.Beside = func(ctx context.Context, _ []record.Written) error {
		if err := transcript(ctx); err != nil {
			return err
		}
		return s.Events(ctx, []redact.Text{redact.Lit(`{"name":"e"}`)})
	}
	_, err = s.CommitStep(ctx, step)
	return err
}

// Erasing a session removes its objects in batches: the number of requests is fixed. One
// of them looks for heads, because the session keeps none.
// It runs on the real servers, because under load a request to the stand-in is
// sometimes repeated.
func TestEraseMakesFewRequests(t *testing.T) {
	servers(t, func(t *testing.T, s *s3test.Server) {
		f := newFront(t, s)
		c := s.Config(s.Bucket(t, false))
		c.Endpoint = f.URL
		a := open(t, c)
		long(t, session(t, a, "s"), 12)
		other := key(t, "s-2/f")
		must(t, a.Create(t.Context(), other, raw("another session's")))
		f.set(func(*front) {})
		e := session(t, a, "s")
		opened := len(f.asked())
		f.set(func(*front) {})
		stone, err := e.Erase(t.Context(), redact.Lit("asked for"))
		must(t, err)
		t.Logf("%d files: opened with %d requests, erased with %d: %q", stone.Files, opened, len(f.asked()), f.asked())
		asked := slices.DeleteFunc(f.asked(), func(note string) bool { return note == rolledUp })
		if !stone.Done || len(asked) > 10 {
			t.Errorf("done %v, %d requests; want true and at most 10", stone.Done, len(asked))
		}
		for _, o := range s.Names(t, c.Bucket) {
			if strings.Contains(o, "/s/") {
				t.Errorf("%s is left", o)
			}
		}
		if got, err := read(t.Context(), a, other, 0, -1); got != "another session's" || err != nil {
			t.Errorf("of another session: %q, %v; want %q and no error", got, err, "another session's")
		}
	})
}

// If the archive has tombstones, their end is read with one listing, as is the end of each log
// to which a new process appends.
func TestTheEndOfALogIsReadWithOneListing(t *testing.T) {
	f, a, _, c := openedOn(t, s3test.Versitygw(t), nil)
	listings := func(asked []string) int {
		return len(slices.DeleteFunc(slices.Clone(asked), func(note string) bool { return note != "LIST" }))
	}
	for n := range 6 {
		id := fmt.Sprintf("s%d", n)
		long(t, session(t, a, id), 3)
		agent, e := session(t, open(t, c), id), session(t, open(t, c), id)
		f.set(func(*front) {})
		must(t, agent.Events(t.Context(), []redact.Text{redact.Lit(`{"name":"e"}`)}))
		if asked := f.asked(); listings(asked) != 1 {
			t.Errorf("an append to an existing log takes %q", asked)
		}
		f.set(func(*front) {})
		_, err := e.Erase(t.Context(), redact.Lit("asked for"))
		must(t, err)
		asked := slices.DeleteFunc(f.asked(), func(note string) bool { return note == rolledUp })
		t.Logf("after %d erases: %d requests %q", n, len(asked), asked)
		if listings(asked) != 2 || len(asked) > 16 { // of heads, which the archive does not have, and of the tombstones; those of the folder list versions
			t.Errorf("after %d erases, an erase takes %d requests: %q", n, len(asked), asked)
		}
	}
}

// OpenEnd returns the same bytes as OpenLog for each length, through roll-ups too.
func TestOpenEndReturnsTheBytesOfOpenLog(t *testing.T) {
	plain(t, func(t *testing.T, s *s3test.Server) {
		a, k := open(t, s.Config(s.Bucket(t, false))), key(t, "s/log")
		if _, _, err := a.OpenEnd(t.Context(), k, 5); !errors.Is(err, storage.ErrNotExist) {
			t.Errorf("a missing log: %v, want ErrNotExist", err)
		}
		have := lines(t, a, k, "", 10)
		for n := int64(0); n < int64(len(have))+3; n++ {
			r, off, err := a.OpenEnd(t.Context(), k, n)
			must(t, err)
			got, err := io.ReadAll(r)
			must(t, errors.Join(err, r.Close()))
			if want := max(0, int64(len(have))-n); off != want || string(got) != have[want:] {
				t.Errorf("the last %d bytes: %q from %d, want %q", n, got, off, have[want:])
			}
		}
	})
}

// Every version is removed, markers too, and objects next to the keys stay.
func TestRemoveAllRemovesTheVersionsOfItsKeys(t *testing.T) {
	for name, server := range map[string]func(testing.TB) *s3test.Server{"versitygw": s3test.Versitygw, "MinIO": s3test.MinIO} {
		t.Run(name, func(t *testing.T) {
			s := server(t)
			c := s.Config(s.Bucket(t, true)) // keeps versions, locks nothing
			a := open(t, c)
			must(t, errors.Join(a.Create(t.Context(), key(t, "s/f"), raw("one")), a.Create(t.Context(), key(t, "s/fg"), raw("two")), a.Create(t.Context(), key(t, "top"), raw("top"))))
			must(t, errors.Join(a.Append(t.Context(), key(t, "s/log"), 0, raw("a\n")), a.Append(t.Context(), key(t, "s/log"), 2, raw("b\n"))))
			hidden := c.Prefix + "/s/f"
			_, err := s.Admin.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: &c.Bucket, Key: &hidden}) // leaves a marker
			must(t, err)
			must(t, a.RemoveAll(t.Context(), nil))
			must(t, a.RemoveAll(t.Context(), []storage.Key{key(t, "s/f"), key(t, "s/log"), key(t, "top"), key(t, "s/none")}))
			prefix := c.Prefix + "/"
			left, err := s.Admin.ListObjectVersions(t.Context(), &awss3.ListObjectVersionsInput{Bucket: &c.Bucket, Prefix: &prefix})
			must(t, err)
			var names []string
			for _, v := range left.Versions {
				if !strings.Contains(*v.Key, "/.try/") {
					names = append(names, strings.TrimPrefix(*v.Key, prefix))
				}
			}
			for _, m := range left.DeleteMarkers {
				if !strings.Contains(*m.Key, "/.try/") {
					names = append(names, "marker "+*m.Key)
				}
			}
			if fmt.Sprint(names) != "[s/fg]" {
				t.Errorf("these objects are left: %q", names)
			}
		})
	}
}

// A lock keeps one object, and the error names it.
func TestRemoveAllReportsLockedObjects(t *testing.T) {
	s := s3test.MinIO(t)
	c := s.Config(s.Bucket(t, true))
	c.Lock = s3.Lock{Mode: s3.Compliance, Days: 1}
	locking := open(t, c)
	must(t, locking.Create(t.Context(), key(t, "s/kept"), raw("kept")))
	c.Lock = s3.Lock{}
	a := open(t, c)
	must(t, a.Create(t.Context(), key(t, "s/free"), raw("free")))
	err := a.RemoveAll(t.Context(), []storage.Key{key(t, "s/free"), key(t, "s/kept")})
	var kept *storage.LockedError
	if !errors.As(err, &kept) || kept.Until.IsZero() {
		t.Errorf("got %v", err)
	}
	if _, err := read(t.Context(), a, key(t, "s/free"), 0, -1); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("an object without a lock: %v, want ErrNotExist", err)
	}
	if got, err := read(t.Context(), a, key(t, "s/kept"), 0, -1); got != "kept" || err != nil {
		t.Errorf("the locked object: %q, %v; want %q and no error", got, err, "kept")
	}
}

// batchRefuser refuses batch deletes.
type batchRefuser struct {
	status int
	body   string
}

func (r batchRefuser) answer(w http.ResponseWriter, req *http.Request) bool {
	if req.Method != http.MethodPost || !req.URL.Query().Has("delete") {
		return false
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(r.status)
	_, _ = w.Write([]byte(r.body))
	return true
}

// A server without batch deletes gets one request after the other, and failed requests
// are retried.
func TestRemoveAllWorksWithoutDeleteObjects(t *testing.T) {
	for name, r := range map[string]batchRefuser{
		"it is not implemented":      {501, `<Error><Code>NotImplemented</Code></Error>`},
		"another header is required": {400, `<Error><Code>MissingContentMD5</Code></Error>`},
		"it is not allowed":          {405, `<Error><Code>MethodNotAllowed</Code></Error>`},
		"one failed":                 {200, `<DeleteResult><Error><Key>team/agents/s/f1</Key><Code>InternalError</Code></Error></DeleteResult>`},
		"an empty answer":            {200, ``},
	} {
		t.Run(name, func(t *testing.T) {
			f, a, _, _ := opened(t, nil)
			keys := []storage.Key{}
			for i := range 3 {
				keys = append(keys, key(t, fmt.Sprintf("s/f%d", i)))
				must(t, a.Create(t.Context(), keys[i], raw("x")))
			}
			f.set(func(f *front) { f.own = r.answer })
			must(t, a.RemoveAll(t.Context(), keys))
			for i, k := range keys {
				if _, err := read(t.Context(), a, k, 0, -1); !errors.Is(err, storage.ErrNotExist) {
					t.Errorf("file %d: %v, want ErrNotExist", i, err)
				}
			}
		})
	}
}
