package s3_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// rollupsOf names the roll-ups in a bucket.
func rollupsOf(t *testing.T, s *s3test.Server, c s3.Config) (names []string) {
	t.Helper()
	for _, name := range s.Names(t, c.Bucket) {
		if isRollup(name) {
			names = append(names, name)
		}
	}
	return names
}

func isRollup(name string) bool {
	_, span, ok := strings.Cut(name, "!")
	return ok && strings.Contains(span, "-")
}

// lines appends a given number of lines to a log, and returns its content.
func lines(t *testing.T, a storage.Archive, k storage.Key, have string, n int) string {
	t.Helper()
	for i := range n {
		line := fmt.Sprintf("line %d of %s\n", i, strings.Repeat("x", i%5))
		must(t, a.Append(t.Context(), k, int64(len(have)), raw(line)))
		have += line
	}
	return have
}

// A session of 50 steps and 200 events is opened with few requests, and without
// roll-ups with one request per segment.
func TestALongSessionIsOpenedWithFewRequests(t *testing.T) {
	f, a, server, c := opened(t, nil)
	long(t, session(t, a, "s"), 50)
	ask := func() map[string]int {
		out := map[string]int{}
		for _, name := range []string{"manifest.jsonl", "events.jsonl"} {
			other, err := s3.New(c)
			must(t, err)
			f.set(func(*front) {})
			r, _, err := other.OpenLog(t.Context(), key(t, "s/"+name), 0, -1)
			must(t, err)
			_, err = io.Copy(io.Discard, r)
			must(t, errors.Join(err, r.Close()))
			out[name] = len(f.asked())
		}
		f.set(func(*front) {})
		other, err := s3.New(c)
		must(t, err)
		session(t, other, "s")
		out["session"] = len(f.asked())
		return out
	}
	with, size := ask(), map[string]int{}
	for _, name := range rollupsOf(t, server, c) {
		log := path.Base(strings.Split(name, "!")[0])
		size[log] += len(objectOf(t, server, c.Bucket, name))
		size["of "+log]++
		deleteObject(t, server, c.Bucket, name)
	}
	t.Logf("roll-ups and their bytes: %v", size)
	without := ask()
	t.Logf("requests with roll-ups %v, without %v", with, without)
	for name, most := range map[string]int{"session": 4, "manifest.jsonl": 4, "events.jsonl": 6} {
		if n := with[name]; n > most || without[name] < 100 {
			t.Errorf("%s: %d requests with roll-ups, %d without; want at most %d and at least 100", name, n, without[name], most)
		}
	}
}

// A log of any length is read with a listing, one roll-up, and at most four segments.
func TestALogOfAnyLengthIsReadWithFewRequests(t *testing.T) {
	f, a, server, c := opened(t, nil)
	k, have, total := key(t, "s/log"), "", 0
	most := longLog
	if samples.All() {
		most = 150
	}
	for n := 1; n <= most; n++ {
		have = lines(t, a, k, have, 1)
		other, err := s3.New(c)
		must(t, err)
		f.set(func(*front) {})
		r, _, err := other.OpenLog(t.Context(), k, 0, -1)
		must(t, err)
		got, err := io.ReadAll(r)
		must(t, errors.Join(err, r.Close()))
		asked := len(slices.DeleteFunc(f.asked(), func(note string) bool { return note == "HEAD" }))
		if total += asked; asked > 6 || string(got) != have {
			t.Errorf("%d segments: %d requests, %d bytes of %d: %q, want at most 6", n, asked, len(got), len(have), f.asked())
		}
	}
	size := 0
	for _, name := range rollupsOf(t, server, c) {
		size += len(objectOf(t, server, c.Bucket, name))
	}
	t.Logf("%.1f requests on average; %d roll-ups have %d bytes, the log %d", float64(total)/float64(most), len(rollupsOf(t, server, c)), size, len(have))
	if size > 4*len(have) {
		t.Errorf("the roll-ups of a log with %d bytes have %d", len(have), size)
	}
}

func objectOf(t *testing.T, s *s3test.Server, bucket, name string) string {
	t.Helper()
	got, err := s.Admin.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: &bucket, Key: &name})
	must(t, err)
	data, err := io.ReadAll(got.Body)
	must(t, errors.Join(err, got.Body.Close()))
	return string(data)
}

// Roll-ups that a newer one covers are removed, with their versions, also if another process
// wrote them. Without the permission to delete they stay, and only one request is refused.
func TestCoveredRollupsAreRemoved(t *testing.T) {
	plain(t, func(t *testing.T, server *s3test.Server) {
		for name, c := range map[string]struct{ versions, forbidden, again bool }{
			"plain": {}, "versions": {versions: true}, "forbidden": {forbidden: true}, "another process": {again: true},
		} {
			f, refused := newFront(t, server), 0
			conf := server.Config(server.Bucket(t, c.versions))
			conf.Endpoint = f.URL
			a, k := open(t, conf), key(t, "s/log")
			f.set(func(f *front) {
				f.own = func(w http.ResponseWriter, r *http.Request) bool {
					if !c.forbidden || !r.URL.Query().Has("delete") {
						return false
					}
					refused++
					w.WriteHeader(http.StatusForbidden)
					return true
				}
			})
			have := lines(t, a, k, "", 30)
			if c.again {
				a = open(t, conf)
				_, err := read(t.Context(), a, k, 0, -1)
				must(t, err)
			}
			have = lines(t, a, k, have, 35)
			want := map[bool]string{true: "16 1", false: "2 0"}[c.forbidden] // at 60 and 64 segments
			if got := fmt.Sprint(len(rollupsOf(t, server, conf)), refused); got != want {
				t.Errorf("%s: %s roll-ups and refusals, want %s", name, got, want)
			}
			left := strings.Fields(versionsOf(t, server, conf.Bucket))
			left = slices.DeleteFunc(left, func(name string) bool { return !isRollup(name) })
			if !c.forbidden && len(left) != 2 {
				t.Errorf("%s: versions %q", name, left)
			}
			if got, err := read(t.Context(), open(t, conf), k, 0, -1); got != have || err != nil {
				t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(have), err)
			}
		}
	})
}

// A log of large lines, which do not fit in memory, is read through several roll-ups: the
// reader finds the smallest set.
func TestALargeLogIsReadThroughSeveralRollups(t *testing.T) {
	f, a, server, c := opened(t, nil)
	k, have := key(t, "s/log"), ""
	for i := range 69 {
		line := strings.Repeat(string(rune('a'+i%26)), 3000) + "\n"
		must(t, a.Append(t.Context(), k, int64(len(have)), raw(line)))
		have += line
	}
	other := open(t, c)
	f.set(func(*front) {})
	got, err := read(t.Context(), other, k, 0, -1)
	if got != have || err != nil || len(f.asked()) > 8 { // one of the bucket, a listing, two roll-ups and four segments, or fewer
		t.Errorf("%d bytes of %d, %v, %q", len(got), len(have), err, f.asked())
	}
	unlike, err := open(t, server.Config(c.Bucket)).Unlike(t.Context(), k)
	if err != nil || len(unlike) > 0 {
		t.Errorf("%q differ (%v)", unlike, err)
	}
}

// For every piece of a log, the bytes read through roll-ups equal the bytes of the
// segments, even if a roll-up is missing, too short, or belongs to another log of that
// name.
func TestRollupsReadLikeTheirSegments(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, put func(body string), f *front){
		"whole":   func(*testing.T, func(string), *front) {},
		"empty":   func(_ *testing.T, put func(string), _ *front) { put("") },
		"short":   func(_ *testing.T, put func(string), _ *front) { put("line") },
		"long":    func(_ *testing.T, put func(string), _ *front) { put(strings.Repeat("line", 1000)) },
		"another": func(_ *testing.T, put func(string), _ *front) { put("same length") },
		"away": func(_ *testing.T, _ func(string), f *front) {
			f.set(func(f *front) {
				f.own = func(w http.ResponseWriter, r *http.Request) bool {
					if r.Method == http.MethodGet && isRollup(r.URL.Path) {
						w.WriteHeader(http.StatusForbidden)
						return true
					}
					return false
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, a, server, c := opened(t, nil)
			k := key(t, "s/log")
			length := longLog
			if name != "whole" && !samples.All() {
				length = 30
			}
			want := lines(t, a, k, "", length)
			for _, r := range rollupsOf(t, server, c) {
				spoil(t, func(body string) {
					if body == "same length" {
						got, err := server.Admin.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: &c.Bucket, Key: &r})
						must(t, err)
						body = strings.Repeat("?", int(aws.ToInt64(got.ContentLength)))
					}
					overwrite(t, server, c.Bucket, r, body, nil)
				}, f)
			}
			other := open(t, c)
			size := int64(len(want))
			for _, span := range [][2]int64{{0, -1}, {0, 1}, {1, size - 2}, {100, 400}, {size - 1, -1}, {size, -1}, {size + 5, 3}, {300, -1}, {17, 900}, {size / 2, 1 << 40}} {
				got, err := read(t.Context(), other, k, span[0], span[1])
				from := min(span[0], size)
				part := want[from:]
				if span[1] >= 0 {
					part = part[:min(span[1], int64(len(part)))]
				}
				if err != nil || got != part {
					t.Errorf("%v: %d bytes of %d, %v", span, len(got), len(part), err)
				}
			}
			if n := len(rollupsOf(t, server, c)); n < 3 {
				t.Errorf("%d roll-ups: the test proves nothing", n)
			}
			if info := sizeOf(t, other, k); info != size {
				t.Errorf("List returned %d bytes, but the log has %d", info, size)
			}
			must(t, other.Remove(t.Context(), k))
			if left := server.Names(t, c.Bucket); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		})
	}
}

// overwrite overwrites an object, like an administrator.
func overwrite(t *testing.T, s *s3test.Server, bucket, name, body string, meta map[string]string) {
	t.Helper()
	deleteObject(t, s, bucket, name)
	_, err := s.Admin.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &bucket, Key: &name, Body: strings.NewReader(body), Metadata: meta})
	must(t, err)
}

// forge changes a byte of an object and nothing else.
func forge(t *testing.T, s *s3test.Server, bucket, name string) {
	t.Helper()
	got, err := s.Admin.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: &bucket, Key: &name})
	must(t, err)
	data, err := io.ReadAll(got.Body)
	must(t, err)
	must(t, got.Body.Close())
	i := strings.Index(string(data), `"prev":"`) + len(`"prev":"`)
	data[i] = "10"[data[i]&1] // another hash
	overwrite(t, s, bucket, name, string(data), got.Metadata)
}

// Verify reports a changed roll-up; a changed segment is found although a roll-up
// repeats its old content.
func TestAChangedRollupOrSegmentIsFound(t *testing.T) {
	for what, wanted := range map[string]bool{"roll-up": true, "segment": false} {
		t.Run(what, func(t *testing.T) {
			_, a, server, c := opened(t, nil)
			long(t, session(t, a, "s"), 8)
			names := server.Names(t, c.Bucket)
			at := slices.IndexFunc(names, func(n string) bool {
				return strings.Contains(n, "manifest.jsonl!") && isRollup(n) == wanted
			})
			if at < 0 {
				t.Fatalf("no %s in %q", what, names)
			}
			clean, err := record.Verify(t.Context(), open(t, c), "s", record.VerifyOptions{})
			must(t, err)
			if !clean.OK() {
				t.Fatalf("before: %v, want no problems", clean.Problems)
			}
			forge(t, server, c.Bucket, names[at])
			r, err := record.Verify(t.Context(), open(t, c), "s", record.VerifyOptions{})
			must(t, err)
			said := false
			for _, p := range r.Problems {
				said = said || p.Kind == record.Changed && p.File == "manifest.jsonl" && (!wanted || strings.HasSuffix(names[at], p.Detail[strings.Index(p.Detail, "!")+1:strings.Index(p.Detail, " ")]))
			}
			if !said || wanted && len(r.Problems) != 1 {
				t.Errorf("verify of a changed %s finds %v", what, r.Problems)
			}
		})
	}
}

// A log with a changed roll-up has the same content for a reader as a log with the same
// change in a segment, so that the hash chain shows both.
func TestAChangedRollupReadsAsAChangedSegment(t *testing.T) {
	var seen [2]string
	for i := range seen {
		_, a, server, c := opened(t, nil)
		k, have := key(t, "s/log"), ""
		for n := range 5 {
			line := fmt.Sprintf("{\"seq\":%d,\"prev\":\"00\"}\n", n)
			must(t, a.Append(t.Context(), k, int64(len(have)), raw(line)))
			have += line
		}
		name := rollupsOf(t, server, c)[0]
		if i == 1 {
			deleteObject(t, server, c.Bucket, name)
			name = c.Prefix + "/s/log!" + strings.Repeat("0", 20)
		}
		forge(t, server, c.Bucket, name)
		got, err := read(t.Context(), open(t, c), k, 0, -1)
		must(t, err)
		if seen[i] = got; got == have {
			t.Errorf("%s was not changed, or is not read", name)
		}
	}
	if seen[0] != seen[1] {
		t.Errorf("a changed roll-up reads as %q, a changed segment as %q", seen[0], seen[1])
	}
}

// Several writers append to one log at once, and some of them are killed and start again.
// A read through roll-ups returns the same data as a read of the segments.
func TestRollupsOfConcurrentWritersEqualTheirSegments(t *testing.T) {
	_, _, server, c := opened(t, nil)
	k := key(t, "s/log")
	each := 18
	if samples.All() {
		each = 40
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			a := open(t, server.Config(c.Bucket))
			for i := 0; i < each; {
				have, err := read(t.Context(), a, k, 0, -1)
				if err != nil && !errors.Is(err, storage.ErrNotExist) {
					t.Error(err)
					return
				}
				ctx, cancel := context.WithCancel(t.Context())
				if i%9 == 8 { // killed in the middle
					go func() { time.Sleep(300 * time.Microsecond); cancel() }()
				}
				err = a.Append(ctx, k, int64(len(have)), raw(fmt.Sprintf("%d of %d\n", i, w)))
				killed := ctx.Err() != nil
				cancel()
				switch {
				case err == nil:
					i++
				case killed:
					a, i = open(t, server.Config(c.Bucket)), i+1
				case !errors.Is(err, storage.ErrSeq):
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	a := open(t, server.Config(c.Bucket))
	got, err := read(t.Context(), a, k, 0, -1)
	must(t, err)
	want, err := read(storage.ReadFirsthand(t.Context()), a, k, 0, -1)
	must(t, err)
	unlike, err := a.Unlike(t.Context(), k)
	must(t, err)
	if got != want || len(unlike) > 0 || strings.Count(got, "\n") < 4*each-each/2 || len(rollupsOf(t, server, c)) < 2 {
		t.Errorf("%d lines, as the segments: %v, unlike %q, %d roll-ups", strings.Count(got, "\n"), got == want, unlike, len(rollupsOf(t, server, c)))
	}
}

// A log to which each process adds a line is rolled up too.
func TestResumedLogGetsARollup(t *testing.T) {
	_, _, server, c := opened(t, nil)
	k, have := key(t, "s/log"), ""
	for range 66 {
		a := open(t, server.Config(c.Bucket))
		_, err := read(t.Context(), a, k, 0, -1)
		if err != nil && !errors.Is(err, storage.ErrNotExist) {
			t.Fatal(err)
		}
		have = lines(t, a, k, have, 1)
	}
	if n := len(rollupsOf(t, server, c)); n != 2 { // the last one, and the one before it
		t.Errorf("%d roll-ups: %q, want 2", n, rollupsOf(t, server, c))
	}
	f := newFront(t, server)
	c.Endpoint = f.URL
	a, err := s3.New(c)
	must(t, err)
	if got, err := read(t.Context(), a, k, 0, -1); got != have || err != nil || len(f.asked()) != 5 { // of the bucket, a listing, 64 segments in one object, and two more
		t.Errorf("%d bytes of %d, %v, %q", len(got), len(have), err, f.asked())
	}
}

// A roll-up that cannot be written is not a failure, and is not tried again.
func TestFailedRollupIsIgnored(t *testing.T) {
	for name, status := range map[string]int{"forbidden": 403, "busy": 503, "reset": 0} {
		t.Run(name, func(t *testing.T) {
			f, a, server, c := opened(t, nil)
			k, tries := key(t, "s/log"), 0
			f.set(func(f *front) {
				f.own = func(w http.ResponseWriter, r *http.Request) bool {
					if r.Method != http.MethodPut || !isRollup(r.URL.Path) {
						return false
					}
					tries++
					if status == 0 {
						panic(http.ErrAbortHandler)
					}
					w.WriteHeader(status)
					return true
				}
			})
			want := lines(t, a, k, "", 20)
			if got, err := read(t.Context(), a, k, 0, -1); got != want || err != nil || tries != 4 || len(rollupsOf(t, server, c)) > 0 {
				t.Errorf("%d bytes of %d, %v, %d tries; want no error and 4", len(got), len(want), err, tries)
			}
		})
	}
}

// A log leaves no roll-up if it is removed before any request of an append that makes a
// roll-up, if the append runs during the removal, or if the append fails.
func TestARollupDoesNotOutliveItsLog(t *testing.T) {
	for at := 1; ; at++ {
		for _, write := range []func(*s3.Archive, storage.Key, int64) error{
			func(a *s3.Archive, k storage.Key, seq int64) error {
				return a.Append(context.Background(), k, seq, raw("more\n"))
			},
			func(a *s3.Archive, k storage.Key, seq int64) error {
				return errors.Join(a.AppendUnseen(context.Background(), k, seq, raw("more\n")), a.Settle(context.Background(), k))
			},
			func(a *s3.Archive, k storage.Key, seq int64) error { // the writer reads the log first
				own, _ := read(context.Background(), a, k, 0, 0)
				return errors.Join(errors.New(own), a.Append(context.Background(), k, seq, raw("more\n")))
			},
		} {
			f, a, server, c := opened(t, nil)
			direct, k, n := open(t, server.Config(c.Bucket)), key(t, "s/log"), 0
			have := lines(t, a, k, "", 16)
			if len(rollupsOf(t, server, c)) != 3 {
				t.Fatalf("%q", rollupsOf(t, server, c))
			}
			var mu sync.Mutex
			f.set(func(f *front) {
				f.before = func(*http.Request) bool {
					mu.Lock()
					defer mu.Unlock()
					if n++; n == at {
						if err := direct.Remove(context.Background(), k); err != nil {
							t.Error(err)
						}
					}
					return false
				}
			})
			_ = write(a, k, int64(len(have)))
			f.set(func(f *front) { f.before = nil })
			if n < at && at > 3 {
				return
			}
			if n >= at {
				for _, name := range server.Names(t, c.Bucket) {
					t.Errorf("removed before request %d: %s is left", at, name)
				}
			}
		}
	}
}

func TestRollupOfAFailedAppendIsRemoved(t *testing.T) {
	f, a, server, c := opened(t, nil)
	direct, k := open(t, server.Config(c.Bucket)), key(t, "s/log")
	have := lines(t, a, k, "", 16)
	removed := make(chan struct{})
	f.set(func(f *front) {
		f.own = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPut {
				return false
			}
			if isRollup(r.URL.Path) {
				<-removed
				return false
			}
			must(t, direct.Remove(context.Background(), k))
			close(removed)
			w.WriteHeader(http.StatusForbidden)
			return true
		}
	})
	if err := a.Append(t.Context(), k, int64(len(have)), raw("more\n")); err == nil {
		t.Error("the append should fail")
	}
	if left := server.Names(t, c.Bucket); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// If a log is rolled up during its removal, the check finds its last segment.
func TestRollupWrittenWhileItsLogIsRemoved(t *testing.T) {
	f, remover, server, c := opened(t, nil)
	a, k := open(t, server.Config(c.Bucket)), key(t, "s/log")
	have := lines(t, a, k, "", 16)
	first := once(1, http.MethodPost)
	f.set(func(f *front) {
		f.before = func(r *http.Request) bool {
			if first(r) {
				must(t, a.Append(context.Background(), k, int64(len(have)), raw("more\n")))
			}
			return false
		}
	})
	must(t, remover.Remove(t.Context(), k))
	if left := rollupsOf(t, server, c); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// A roll-up that is left from a removed log is not read for a new log of the same name,
// even if the lengths of the segments are the same.
func TestARollupOfAnotherLogIsNotRead(t *testing.T) {
	_, a, server, c := opened(t, nil)
	k := key(t, "s/log")
	secret := lines(t, a, k, "", 10)
	name := rollupsOf(t, server, c)[0]
	got, err := server.Admin.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: &c.Bucket, Key: &name})
	must(t, err)
	data, err := io.ReadAll(got.Body)
	must(t, errors.Join(err, got.Body.Close()))
	must(t, a.Remove(t.Context(), k))
	want := ""
	for line := range strings.Lines(secret) {
		line = strings.ReplaceAll(line, "line", "****")
		must(t, a.Append(t.Context(), k, int64(len(want)), raw(line)))
		want += line
	}
	overwrite(t, server, c.Bucket, name, string(data), got.Metadata)
	if got, err := read(t.Context(), open(t, c), k, 0, -1); got != want || err != nil {
		t.Errorf("the new log reads as %q, %v; want %q and no error", got, err, want)
	}
	unlike, err := a.Unlike(t.Context(), k)
	if err != nil || len(unlike) != 1 || !strings.HasSuffix(name, unlike[0][strings.Index(unlike[0], "!"):]) {
		t.Errorf("verify returned %q, %v", unlike, err)
	}
}

// If a killed process leaves only a roll-up of a log, the log is listed with 0 bytes,
// so that an erase removes the roll-up.
func TestARollupAloneIsErased(t *testing.T) {
	_, a, server, c := opened(t, nil)
	s := session(t, a, "s")
	long(t, s, 4)
	name := rollupsOf(t, server, c)[0]
	for _, o := range server.Names(t, c.Bucket) {
		if o != name {
			deleteObject(t, server, c.Bucket, o)
		}
	}
	_, err := session(t, open(t, c), "s").Erase(t.Context(), redact.Lit("again"))
	for _, o := range objectsOf(t, server, c, "s") {
		t.Errorf("%s is left (%v)", o, err)
	}
}

// Roll-ups are kept as long as their segments.
func TestRollupsAreLockedAsSegmentsAre(t *testing.T) {
	server := s3test.MinIO(t)
	c := server.Config(server.Bucket(t, true))
	c.Lock = s3.Lock{Mode: s3.Compliance, Days: 1}
	a := open(t, c)
	lines(t, a, key(t, "s/log"), "", 5)
	names := rollupsOf(t, server, c)
	if len(names) != 1 {
		t.Fatalf("%q", names)
	}
	head, err := server.Admin.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: &c.Bucket, Key: &names[0]})
	must(t, err)
	if until := aws.ToTime(head.ObjectLockRetainUntilDate); time.Until(until) < 23*time.Hour {
		t.Errorf("the roll-up is kept until %s", until)
	}
}

// longLog is a length of a log, in segments: it has roll-ups that begin at a multiple of 64
// and of 8, and segments after the last one.
const longLog = 70
