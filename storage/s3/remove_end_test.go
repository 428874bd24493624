package s3_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// duringTheEnd calls do before an erase lists the folder for the second time, when only
// the end of the manifest is left.
func duringTheEnd(f *front, do func()) {
	listings := 0
	f.set(func(f *front) {
		f.before = func(r *http.Request) bool {
			if r.Method == http.MethodGet && r.URL.Query().Has("versions") {
				if listings++; listings == 2 {
					do()
				}
			}
			return false
		}
	})
}

// A late writer stores a file when only the end of the manifest is left, and another
// process tries to erase the session. That process waits, and the first one removes the file.
func TestTheEndOfAManifestKeepsTheTurn(t *testing.T) {
	f, a, server, c := opened(t, nil)
	direct := open(t, server.Config(c.Bucket))
	long(t, session(t, direct, "s"), 4)
	s, tried := session(t, a, "s"), false
	duringTheEnd(f, func() {
		tried = true
		if objects := objectsOf(t, server, c, "s"); len(objects) != 1 {
			t.Errorf("not only the end of the manifest is left: %q", objects)
		}
		must(t, direct.Create(t.Context(), key(t, "s/summary-009.json"), raw("late")))
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := session(t, direct, "s").Erase(ctx, redact.Lit("beside")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the other erase did not wait: %v", err)
		}
		if objects := objectsOf(t, server, c, "s"); len(objects) != 2 {
			t.Errorf("the other erase removed a file: %q", objects)
		}
	})
	stone, err := s.Erase(t.Context(), redact.Lit("asked for"))
	if must(t, err); !stone.Done || !tried {
		t.Errorf("done %v, listed twice %v; want true and true", stone.Done, tried)
	}
	if objects := objectsOf(t, server, c, "s"); len(objects) > 0 {
		t.Errorf("left: %q", objects)
	}
}

// If another process has finished an erase, and a session of that name has begun since, a
// suspended process that continues the erase removes nothing of the session.
func TestASuspendedEraseKeepsTheNextSession(t *testing.T) {
	f, a, server, c := opened(t, nil)
	direct := open(t, server.Config(c.Bucket))
	must(t, stepOf(t, session(t, direct, "s"), 1))
	s := session(t, a, "s")
	var before []string
	duringTheEnd(f, func() {
		for _, name := range objectsOf(t, server, c, "s") {
			deleteObject(t, server, c.Bucket, name)
		}
		must(t, stepOf(t, session(t, open(t, server.Config(c.Bucket)), "s"), 1))
		before = objectsOf(t, server, c, "s")
	})
	if _, err := s.Erase(t.Context(), redact.Lit("asked for")); err == nil {
		t.Error("the erase was completed")
	}
	if after := objectsOf(t, server, c, "s"); len(before) == 0 || strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("left: %q of %q", after, before)
	}
}

// A session was erased since it was opened, and possibly begun again. Its erase leaves
// neither a line nor a tombstone.
func TestEraseOfAnErasedSessionLeavesNothing(t *testing.T) {
	for name, again := range map[string]bool{"erased": false, "begun again": true} {
		_, a, server, c := opened(t, nil)
		direct := open(t, server.Config(c.Bucket))
		must(t, stepOf(t, session(t, direct, "s"), 1))
		s := session(t, a, "s")
		_, err := session(t, direct, "s").Erase(t.Context(), redact.Lit("asked for"))
		must(t, err)
		if again {
			must(t, stepOf(t, session(t, direct, "s"), 1))
		}
		before := server.Names(t, c.Bucket)
		if _, err := s.Erase(t.Context(), redact.Lit("again")); !errors.Is(err, record.ErrErased) {
			t.Errorf("%s: %v, want ErrErased", name, err)
		}
		if after := server.Names(t, c.Bucket); strings.Join(after, " ") != strings.Join(before, " ") {
			t.Errorf("%s: %q is left of %q", name, after, before)
		}
	}
}

// The bucket keeps versions since the files were created. The record of a name, which is
// outside of the folder, is removed with all versions.
func TestRemoveAllButRemovesVersionsOutsideOfTheFolder(t *testing.T) {
	for name, server := range map[string]func(testing.TB) *s3test.Server{"versitygw": s3test.Versitygw, "MinIO": s3test.MinIO} {
		t.Run(name, func(t *testing.T) {
			s := server(t)
			c := s.Config(s.Bucket(t, false))
			a, log := open(t, c), key(t, "s/log")
			must(t, errors.Join(a.Create(t.Context(), key(t, "s/f"), raw("one")), a.Create(t.Context(), key(t, "names/f"), raw("name")), a.Create(t.Context(), key(t, "names/g"), raw("other"))))
			must(t, errors.Join(a.Append(t.Context(), log, 0, raw("a\n")), a.Append(t.Context(), log, 2, raw("b\n"))))
			on := &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}
			_, err := s.Admin.PutBucketVersioning(t.Context(), &awss3.PutBucketVersioningInput{Bucket: &c.Bucket, VersioningConfiguration: on})
			must(t, err)
			must(t, a.RemoveAllBut(t.Context(), []storage.Key{key(t, "s/f"), key(t, "names/f")}, log))
			if left := versionsOf(t, s, c.Bucket); left != "names/g s/log!00000000000000000002" {
				t.Errorf("left: %q, want %q", left, "names/g s/log!00000000000000000002")
			}
			others, err := a.RemoveEnd(t.Context(), log)
			if left := versionsOf(t, s, c.Bucket); others || err != nil || left != "names/g" {
				t.Errorf("left: %q (%v, %v); want %q, false and no error", left, others, err, "names/g")
			}
		})
	}
}

// versionsOf returns the names of all versions and delete markers.
func versionsOf(t *testing.T, s *s3test.Server, bucket string) string {
	t.Helper()
	all, err := s.Admin.ListObjectVersions(t.Context(), &awss3.ListObjectVersionsInput{Bucket: &bucket})
	must(t, err)
	prefix, names := s.Config(bucket).Prefix+"/", []string{}
	for _, v := range all.Versions {
		names = append(names, strings.TrimPrefix(aws.ToString(v.Key), prefix))
	}
	for _, m := range all.DeleteMarkers {
		names = append(names, "marker "+aws.ToString(m.Key))
	}
	return strings.Join(names, " ")
}

// A listing makes the deferred check of a log that it shows unchanged, and no other.
func TestListingMakesTheDeferredCheck(t *testing.T) {
	log := key(t, "s/log")
	for name, c := range map[string]struct {
		beside, during func(a storage.Archive) error
		asks, gone     bool
	}{
		"unchanged": {},
		"removed":   {beside: func(a storage.Archive) error { return a.(storage.Remover).Remove(t.Context(), log) }, asks: true, gone: true},
		"begun again": {beside: func(a storage.Archive) error {
			return errors.Join(a.(storage.Remover).Remove(t.Context(), log), a.Append(t.Context(), log, 0, raw("c\n")))
		}, asks: true, gone: true},
		"longer since": {during: func(a storage.Archive) error {
			return a.(storage.Deferrer).AppendUnseen(t.Context(), log, 4, raw("c\n"))
		}, asks: true},
	} {
		f, a, server, conf := opened(t, nil)
		must(t, a.Append(t.Context(), log, 0, raw("a\n")))
		if c.beside != nil {
			must(t, c.beside(open(t, server.Config(conf.Bucket))))
		}
		must(t, a.AppendUnseen(t.Context(), log, 2, raw("b\n")))
		for _, err := range a.List(t.Context(), key(t, "s")) {
			must(t, err)
			if c.during != nil {
				must(t, c.during(a))
			}
		}
		f.set(func(*front) {})
		err, asked := a.Settle(t.Context(), log), f.asked()
		if errors.Is(err, storage.ErrSeq) != c.gone || !c.gone && err != nil || len(asked) > 0 != c.asks {
			t.Errorf("%s: %v, with %q", name, err, asked)
		}
	}
}

// The listing of an erase serves the next removal in its folder, and no later one: files that
// are left then were written since.
func TestAListingToRemoveIsUsedOnce(t *testing.T) {
	f, a, _, _ := opened(t, nil)
	listings, log := 0, key(t, "s/log")
	f.set(func(f *front) {
		f.before = func(r *http.Request) bool {
			if r.Method == http.MethodGet && r.URL.Query().Has("versions") {
				listings++
			}
			return false
		}
	})
	must(t, a.Append(t.Context(), log, 0, raw("line\n")))
	must(t, a.Create(t.Context(), key(t, "s/f"), raw("one")))
	var listed []string
	for info, err := range a.ListToRemove(t.Context(), key(t, "s")) {
		must(t, err)
		listed = append(listed, info.Key.String())
	}
	if strings.Join(listed, " ") != "s/f s/log" {
		t.Errorf("listed %q, want s/f and s/log", listed)
	}
	for _, want := range []int{1, 2} {
		must(t, a.RemoveAllBut(t.Context(), []storage.Key{key(t, "s/f")}, log))
		if listings != want {
			t.Errorf("%d listings, want %d", listings, want)
		}
		must(t, a.Create(t.Context(), key(t, "s/f"), raw("two")))
	}
}
