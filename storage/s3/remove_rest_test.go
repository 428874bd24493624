package s3_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// A server can delete some objects of a batch and fail then. Whatever is left is named as
// a session that is being erased, and the next erase removes it, even if the manifest has
// a hole behind its first line.
func TestEraseOfAnyPartOfABatchIsCompleted(t *testing.T) {
	isFirst := func(name string) bool { return strings.HasSuffix(name, "manifest.jsonl!00000000000000000000") }
	for what, goes := range map[string]func(i, all int, name string) bool{
		"the first half":       func(i, all int, _ string) bool { return i < all/2 },
		"every other object":   func(i, _ int, _ string) bool { return i%2 == 0 },
		"the other ones":       func(i, _ int, _ string) bool { return i%2 == 1 },
		"all but its first":    func(_, _ int, name string) bool { return !isFirst(name) },
		"the first line alone": func(_, _ int, name string) bool { return isFirst(name) },
	} {
		f, a, server, c := opened(t, nil)
		s := session(t, a, "s")
		for n := 1; n <= 4; n++ {
			must(t, tryWholeStepOf(t.Context(), s, n))
		}
		f.set(func(f *front) {
			f.own = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodDelete && !r.URL.Query().Has("delete") {
					return false
				}
				var batch struct{ Object []struct{ Key string } }
				if r.Method == http.MethodPost {
					must(t, xml.NewDecoder(r.Body).Decode(&batch))
				}
				for i, o := range batch.Object {
					if goes(i, len(batch.Object), o.Key) {
						deleteObject(t, server, c.Bucket, o.Key)
					}
				}
				w.WriteHeader(http.StatusForbidden)
				return true
			}
		})
		if _, err := s.Erase(t.Context(), redact.Lit("asked for")); err == nil {
			t.Errorf("%s: the erase was completed", what)
		}
		left, next := len(objectsOf(t, server, c, "s")), open(t, server.Config(c.Bucket))
		r, err := record.Verify(t.Context(), next, "s", record.VerifyOptions{})
		if must(t, err); left == 0 || !strings.Contains(strings.Join(r.Notes, "\n"), "began to erase") {
			t.Errorf("%s: %d objects are left; verify notes %q", what, left, r.Notes)
		}
		stone, err := session(t, next, "s").Erase(t.Context(), redact.Lit("again"))
		if objects := objectsOf(t, server, c, "s"); err != nil || !stone.Done || len(objects) > 0 {
			t.Errorf("%s: repeated: %v, done %v, left %q; want no error and true", what, err, stone.Done, objects)
		}
	}
}

// Another log of the name can end with a segment that begins at the same offset.
func TestRemoveEndKeepsTheEndOfAnotherLog(t *testing.T) {
	_, a, server, c := opened(t, nil)
	direct, log := open(t, server.Config(c.Bucket)), key(t, "s/log")
	must(t, a.Append(t.Context(), log, 0, raw("erase\n")))
	must(t, direct.Remove(t.Context(), log))
	must(t, direct.Append(t.Context(), log, 0, raw("of the next session\n")))
	if others, err := a.RemoveEnd(t.Context(), log); !errors.Is(err, storage.ErrSeq) || others {
		t.Errorf("others %v, %v; want false and ErrSeq", others, err)
	}
	if got, err := read(t.Context(), direct, log, 0, -1); got != "of the next session\n" || err != nil {
		t.Errorf("the log has %q (%v); want %q and no error", got, err, "of the next session\n")
	}
}

// versioned returns a bucket that keeps versions, in which a file was stored and then
// hidden by a delete marker.
func versioned(t *testing.T, s *s3test.Server, locks bool, lock s3.Lock) s3.Config {
	t.Helper()
	c := s.Config(s.Bucket(t, locks))
	if !locks {
		on := &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}
		_, err := s.Admin.PutBucketVersioning(t.Context(), &awss3.PutBucketVersioningInput{Bucket: &c.Bucket, VersioningConfiguration: on})
		must(t, err)
	}
	must(t, stepOf(t, session(t, open(t, c), "s"), 1))
	must(t, open(t, c).Create(t.Context(), key(t, "t/f"), raw("of another session")))
	locking := c
	locking.Lock = lock
	must(t, open(t, locking).Create(t.Context(), key(t, "s/transcript-pre-compact-002.jsonl"), raw("hidden\n")))
	for _, hidden := range []string{"/s/transcript-pre-compact-002.jsonl", "/t/f"} {
		name := c.Prefix + hidden
		_, err := s.Admin.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: &c.Bucket, Key: &name})
		must(t, err)
	}
	return c
}

// In a bucket that keeps versions, a file that somebody deleted by hand still has its
// content. An erase removes it too, and nothing of another session.
func TestEraseRemovesTheVersionsOfDeletedFiles(t *testing.T) {
	servers(t, func(t *testing.T, s *s3test.Server) {
		c := versioned(t, s, false, s3.Lock{})
		stone, err := session(t, open(t, c), "s").Erase(t.Context(), redact.Lit("asked for"))
		must(t, err)
		left := strings.Fields(versionsOf(t, s, c.Bucket))
		others := 0
		for _, name := range left {
			if strings.Contains(name, "s/transcript") || strings.HasPrefix(name, "s/") {
				t.Errorf("left: %s, want text without %q", name, "s/transcript")
			}
			if strings.HasSuffix(name, "t/f") {
				others++
			}
		}
		if !stone.Done || others != 2 {
			t.Errorf("done %v; of the other session %d versions and markers are left", stone.Done, others)
		}
	})
}

// If Object Lock keeps such a file, nothing is removed. versitygw does not report the lock of
// a version that a delete marker hides.
func TestALockOfADeletedFileRefusesTheErase(t *testing.T) {
	s := s3test.MinIO(t)
	c := versioned(t, s, true, s3.Lock{Mode: s3.Compliance, Days: 1})
	a := open(t, c)
	_, err := session(t, a, "s").Erase(t.Context(), redact.Lit("asked for"))
	var kept *storage.LockedError
	if !errors.As(err, &kept) || time.Until(kept.Until) < 23*time.Hour {
		t.Errorf("the erase ends with %v", err)
	}
	r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
	if err != nil || !r.OK() || r.Steps != 1 {
		t.Errorf("the session has %d steps, problems %v (%v)", r.Steps, r.Problems, err)
	}
}

// Whatever a server answers to a batch, an erase is completed, or fails and is completed by
// the next one.
func TestEraseIsCompletedWithAnyAnswerToABatch(t *testing.T) {
	const partly = `<DeleteResult><Error><Key>team/agents/s/manifest.jsonl!00000000000000000000</Key><Code>AccessDenied</Code></Error></DeleteResult>`
	for what, c := range map[string]struct {
		status   int
		body     string
		executed bool // before the answer
		denied   bool // single deletions are refused, too
		fails    bool
	}{
		"slow down":              {status: 503, body: `<Error><Code>SlowDown</Code></Error>`},
		"an error with 200":      {status: 200, body: `<Error><Code>InternalError</Code></Error>`},
		"cut off":                {status: 200, body: `<DeleteResult><Deleted><Key>team/agents/s/led`},
		"cut off, executed":      {status: 200, body: `<DeleteResult><Deleted><Key>team/agents/s/led`, executed: true},
		"not XML":                {status: 200, body: `{"deleted":true}`},
		"one denied":             {status: 200, body: partly},
		"one denied for good":    {status: 200, body: partly, executed: true, denied: true},
		"all denied":             {status: 403, body: `<Error><Code>AccessDenied</Code></Error>`, denied: true, fails: true},
		"an error, executed":     {status: 500, body: `<Error><Code>InternalError</Code></Error>`, executed: true},
		"names of other objects": {status: 200, body: `<DeleteResult><Deleted><Key>team/agents/t/f</Key></Deleted></DeleteResult>`},
	} {
		f, a, server, conf := opened(t, nil)
		for _, id := range []string{"s", "t"} {
			must(t, tryWholeStepOf(t.Context(), session(t, a, id), 1))
		}
		s, answered, proxy := session(t, a, "s"), false, server.Front(t)
		f.set(func(f *front) {
			f.own = func(w http.ResponseWriter, r *http.Request) bool {
				if c.denied && r.Method == http.MethodDelete {
					w.WriteHeader(http.StatusForbidden)
					return true
				}
				if answered || !r.URL.Query().Has("delete") {
					return false
				}
				if answered = true; c.executed {
					proxy.ServeHTTP(httptest.NewRecorder(), r)
				}
				return batchRefuser{c.status, c.body}.answer(w, r)
			}
		})
		_, err := s.Erase(t.Context(), redact.Lit("asked for"))
		if !answered || !c.denied && err != nil || c.fails && err == nil {
			t.Errorf("%s: answered %v, %v, want true", what, answered, err)
		}
		f.set(func(f *front) { f.own = nil })
		if err != nil {
			_, err = session(t, open(t, server.Config(conf.Bucket)), "s").Erase(t.Context(), redact.Lit("again"))
			must(t, err)
		}
		left, others := objectsOf(t, server, conf, "s"), len(objectsOf(t, server, conf, "t"))
		if stone, ok, err := record.Erased(t.Context(), a, "s"); !ok || !stone.Done || err != nil || len(left) > 0 || others == 0 {
			t.Errorf("%s: tombstone %+v (%v), left %q; another session has %d objects", what, stone, err, left, others)
		}
	}
}

// More objects than one request lists or deletes, and objects of others with odd names. The
// stand-in does not list so many versions.
func TestEraseOfMoreThanABatchIsComplete(t *testing.T) {
	sample(t)
	servers(t, func(t *testing.T, s *s3test.Server) {
		c := s.Config(s.Bucket(t, false))
		a := open(t, c)
		must(t, tryWholeStepOf(t.Context(), session(t, a, "s"), 1))
		var group sync.WaitGroup
		for part := range 10 {
			group.Go(func() {
				for i := range 210 {
					if err := a.Create(t.Context(), key(t, fmt.Sprintf("s/summary-%05d.json", 1000+210*part+i)), raw("x")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		odd := []string{"/s/it's & <odd> \"ü\" 100%.txt", "/s/a+b?c#d.txt", "/s-2/f"}
		for _, name := range odd {
			name = c.Prefix + name
			_, err := s.Admin.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &c.Bucket, Key: &name, Body: strings.NewReader("x")})
			must(t, err)
		}
		stone, err := session(t, a, "s").Erase(t.Context(), redact.Lit("asked for"))
		must(t, err)
		left := objectsOf(t, s, c, "s")
		if !stone.Done || stone.Files < 2100 || len(left) != 2 || !strings.HasSuffix(left[0], odd[1]) || !strings.HasSuffix(left[1], odd[0]) {
			t.Errorf("%d files, done %v, left %q; want at least 2100 and true", stone.Files, stone.Done, left)
		}
	})
}
