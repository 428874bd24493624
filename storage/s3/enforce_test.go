package s3_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// terms is the server's description of an object.
type terms struct {
	SSE, Key, Mode string
	Until          time.Time
}

func termsOf(t testing.TB, s *s3test.Server, bucket, name string) terms {
	t.Helper()
	h, err := s.Admin.HeadObject(t.Context(), &awss3.HeadObjectInput{Bucket: &bucket, Key: &name})
	must(t, err)
	return terms{string(h.ServerSideEncryption), aws.ToString(h.SSEKMSKeyId), string(h.ObjectLockMode), aws.ToTime(h.ObjectLockRetainUntilDate)}
}

func TestEveryObjectIsEncryptedWithTheConfiguredKey(t *testing.T) {
	s := s3test.MinIO(t)
	c := s.Config(s.Bucket(t, false))
	c.KMSKeyID = s3test.KMSKey(t)
	a := open(t, c)
	must(t, a.Create(t.Context(), key(t, "s/small"), raw("small")))
	must(t, a.Create(t.Context(), key(t, "s/large"), raw(strings.Repeat("0123456789abcdef", 17<<16))))
	must(t, a.Append(t.Context(), key(t, "s/log"), 0, raw("line\n")))
	names := s.Names(t, c.Bucket)
	if len(names) != 3 {
		t.Fatalf("there are %q", names)
	}
	for _, name := range names {
		if got := termsOf(t, s, c.Bucket, name); got.SSE != "aws:kms" || !strings.HasSuffix(got.Key, c.KMSKeyID) {
			t.Errorf("%s is encrypted with %q, key %q; want %q and text that ends with %q", name, got.SSE, got.Key, "aws:kms", c.KMSKeyID)
		}
	}
}

func TestServerThatIgnoresEncryptionIsRefusedAndNothingIsWritten(t *testing.T) {
	s := s3test.Versitygw(t)
	c := s.Config(s.Bucket(t, false))
	c.KMSKeyID = "test-key"
	_, err := s3.Open(t.Context(), c)
	var told *s3.NotEnforcedError
	if !errors.Is(err, s3.ErrNotEnforced) || !errors.As(err, &told) || told.What != "SSE-KMS" {
		t.Errorf("Open: %v, want that SSE-KMS is not in force", err)
	}
	a, err := s3.New(c)
	must(t, err)
	if err := a.Create(t.Context(), key(t, "s/f"), raw("x")); !errors.Is(err, s3.ErrNotEnforced) {
		t.Errorf("Create: %v, want ErrNotEnforced", err)
	}
	if err := a.Append(t.Context(), key(t, "s/l"), 0, raw("x")); !errors.Is(err, s3.ErrNotEnforced) {
		t.Errorf("Append: %v, want ErrNotEnforced", err)
	}
	if names := s.Names(t, c.Bucket); len(names) > 0 {
		t.Errorf("written all the same: %q", names)
	}
}

func TestKeyThatDoesNotExistIsRefused(t *testing.T) {
	s := s3test.MinIO(t)
	c := s.Config(s.Bucket(t, false))
	c.KMSKeyID = "no-such-key"
	if _, err := s3.Open(t.Context(), c); err == nil {
		t.Error("a key that does not exist is accepted")
	}
}

// servers runs a test on both real servers.
func servers(t *testing.T, f func(t *testing.T, s *s3test.Server)) {
	t.Run("versitygw", func(t *testing.T) { f(t, s3test.Versitygw(t)) })
	t.Run("MinIO", func(t *testing.T) { f(t, s3test.MinIO(t)) })
}

// plain runs a test on both real servers, or on the stand-in if they are not
// available.
func plain(t *testing.T, f func(t *testing.T, s *s3test.Server)) {
	if s3test.Real() {
		servers(t, f)
		return
	}
	t.Run("stand-in", func(t *testing.T) { f(t, s3test.StandIn(t)) })
}

func TestEveryObjectIsLockedForTheConfiguredDays(t *testing.T) {
	servers(t, func(t *testing.T, s *s3test.Server) {
		for _, mode := range []s3.LockMode{s3.Governance, s3.Compliance} {
			c := s.Config(s.Bucket(t, true))
			c.Lock = s3.Lock{Mode: mode, Days: 3}
			a := open(t, c)
			started := time.Now()
			must(t, a.Create(t.Context(), key(t, "s/small"), raw("small")))
			must(t, a.Create(t.Context(), key(t, "s/large"), raw(strings.Repeat("0123456789abcdef", 17<<16))))
			must(t, a.Append(t.Context(), key(t, "s/log"), 0, raw("line\n")))
			names := s.Names(t, c.Bucket)
			if len(names) != 3 {
				t.Fatalf("there are %q", names)
			}
			for _, name := range names {
				got := termsOf(t, s, c.Bucket, name)
				if off := got.Until.Sub(started.AddDate(0, 0, 3)); got.Mode != strings.ToUpper(string(mode)) || off < -time.Minute || off > time.Minute {
					t.Errorf("%s is locked %q until %s, want %s for 3 days", name, got.Mode, got.Until, mode)
				}
			}
			for _, k := range []string{"s/small", "s/large", "s/log"} {
				kept, removed := a.Kept(t.Context(), key(t, k)), a.Remove(t.Context(), key(t, k))
				for what, err := range map[string]error{"Kept": kept, "Remove": removed} {
					var locked *storage.LockedError
					if !errors.Is(err, storage.ErrLocked) || !errors.As(err, &locked) || locked.Until.Before(started.AddDate(0, 0, 2)) {
						t.Errorf("%s %s: %v, want ErrLocked with its time", what, k, err)
					}
				}
			}
			if got := s.Names(t, c.Bucket); !slices.Equal(got, names) {
				t.Errorf("%q are left of %q", got, names)
			}
		}
	})
}

// The server reports a correct lock, but answers the removal of a locked version as if it
// had removed it.
func TestServerThatDeletesLockedObjectsIsRefused(t *testing.T) {
	s := s3test.Versitygw(t)
	c := s.Config(s.Bucket(t, true))
	c.Lock = s3.Lock{Mode: s3.Governance, Days: 1}
	front := s.Front(t)
	obedient := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete && r.URL.Query().Has("versionId") {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		front.ServeHTTP(w, r)
	}))
	defer obedient.Close()
	c.Endpoint = obedient.URL
	var told *s3.NotEnforcedError
	if _, err := s3.Open(t.Context(), c); !errors.As(err, &told) || told.What != "Object Lock" || !strings.Contains(told.Reason, "deleted") {
		t.Errorf("got %v, want that Object Lock is not in force", err)
	}
}

func TestLongestLockOfALogIsReported(t *testing.T) {
	servers(t, func(t *testing.T, s *s3test.Server) {
		c := s.Config(s.Bucket(t, true))
		for name, days := range map[string][2]int{"s/longer-later": {2, 9}, "s/longer-first": {9, 2}} {
			k := key(t, name)
			for i, n := range days {
				c.Lock = s3.Lock{Mode: s3.Governance, Days: n}
				must(t, open(t, c).Append(t.Context(), k, int64(4*i), raw("one\n")))
			}
			var locked *storage.LockedError
			if err := open(t, c).Kept(t.Context(), k); !errors.As(err, &locked) || time.Until(locked.Until) < 8*24*time.Hour {
				t.Errorf("%s: %v, want nine days", name, err)
			}
			for i := range days { // a legal hold of one segment has no end
				object := fmt.Sprintf("%s/%s!%020d", c.Prefix, name, 4*i)
				for _, hold := range []types.ObjectLockLegalHoldStatus{types.ObjectLockLegalHoldStatusOn, types.ObjectLockLegalHoldStatusOff} {
					must(t, second(s.Admin.PutObjectLegalHold(t.Context(), &awss3.PutObjectLegalHoldInput{Bucket: &c.Bucket, Key: &object, LegalHold: &types.ObjectLockLegalHold{Status: hold}})))
					held := hold == types.ObjectLockLegalHoldStatusOn
					if err := open(t, c).Kept(t.Context(), k); !errors.As(err, &locked) || locked.Until.IsZero() != held {
						t.Errorf("%s, a hold of %s is %s: %v", name, object, hold, err)
					}
				}
			}
		}
	})
}

func TestPartsOfALostRaceAreReleased(t *testing.T) {
	plain(t, func(t *testing.T, s *s3test.Server) {
		c := s.Config(s.Bucket(t, false))
		a, k := open(t, c), key(t, "s/large")
		must(t, a.Create(t.Context(), k, raw("first")))
		if err := a.Create(t.Context(), k, raw(strings.Repeat("0123456789abcdef", 17<<16))); !errors.Is(err, storage.ErrExists) {
			t.Errorf("got %v, want ErrExists", err)
		}
		left, err := s.Admin.ListMultipartUploads(t.Context(), &awss3.ListMultipartUploadsInput{Bucket: &c.Bucket, Prefix: aws.String(c.Prefix + "/s/large")})
		must(t, err)
		if len(left.Uploads) > 0 {
			t.Errorf("%d uploads are left", len(left.Uploads))
		}
	})
}

func TestEraseForbiddenByObjectLockIsRecorded(t *testing.T) {
	servers(t, func(t *testing.T, s *s3test.Server) {
		c := s.Config(s.Bucket(t, true))
		c.Lock = s3.Lock{Mode: s3.Compliance, Days: 3}
		a := open(t, c)
		log, err := record.OpenSession(t.Context(), a, "s")
		must(t, err)
		must(t, second(log.Final(t.Context(), []redact.Text{redact.Lit("{}")})))
		must(t, second(log.Final(t.Context(), []redact.Text{redact.Lit("{}")})))
		until := time.Now().AddDate(0, 0, 3)
		if _, err := log.Erase(t.Context(), redact.Lit("request 12")); !errors.Is(err, storage.ErrLocked) {
			t.Errorf("Erase: %v, want ErrLocked", err)
		}
		n := 0
		for stone, err := range record.Tombstones(t.Context(), a) {
			must(t, err)
			n++
			if off := stone.KeptUntil.Sub(until); stone.Refused == "" || stone.Reason != "request 12" || off < -time.Minute || off > time.Minute {
				t.Errorf("the tombstone is %+v, want a refusal until %s", stone, until)
			}
		}
		r, err := log.Verify(t.Context(), record.VerifyOptions{})
		must(t, err)
		if n != 1 || !r.OK() {
			t.Errorf("%d tombstones; verify: %v, want 1 and no problems", n, r.Problems)
		}
		must(t, second(log.Final(t.Context(), []redact.Text{redact.Lit("{}")}))) // the session continues
	})
}

func TestBucketWithoutObjectLockIsRefused(t *testing.T) {
	servers(t, func(t *testing.T, s *s3test.Server) {
		c := s.Config(s.Bucket(t, false))
		c.Lock = s3.Lock{Mode: s3.Governance, Days: 1}
		_, err := s3.Open(t.Context(), c)
		if err == nil || len(s.Names(t, c.Bucket)) > 0 {
			t.Errorf("got %v, want an error", err)
		}
		t.Log(err)
	})
}

func TestRemoveRemovesEveryVersion(t *testing.T) {
	servers(t, func(t *testing.T, s *s3test.Server) {
		c := s.Config(s.Bucket(t, true)) // keeps versions, locks nothing
		a := open(t, c)
		must(t, a.Create(t.Context(), key(t, "s/f"), raw("secret")))
		must(t, a.Append(t.Context(), key(t, "s/log"), 0, raw("one\n")))
		must(t, a.Append(t.Context(), key(t, "s/log"), 4, raw("two\n")))
		must(t, a.Create(t.Context(), key(t, "s/f.x"), raw("stays")))
		must(t, a.Kept(t.Context(), key(t, "s/f")))
		must(t, a.Remove(t.Context(), key(t, "s/f")))
		must(t, a.Remove(t.Context(), key(t, "s/log")))
		left, err := s.Admin.ListObjectVersions(t.Context(), &awss3.ListObjectVersionsInput{Bucket: &c.Bucket})
		must(t, err)
		var names []string
		for _, v := range left.Versions {
			names = append(names, *v.Key)
		}
		for _, m := range left.DeleteMarkers {
			names = append(names, "marker "+*m.Key)
		}
		// Try leaves a locked object. Its lock expires, and a later Try removes it.
		names = slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, "/.try/") })
		if want := []string{"team/agents/s/f.x"}; !slices.Equal(names, want) {
			t.Errorf("%q are left, want %q", names, want)
		}
	})
}

func TestScrubRemovesEveryVersionOfASecret(t *testing.T) {
	servers(t, func(t *testing.T, s *s3test.Server) {
		c := s.Config(s.Bucket(t, true))
		log, err := record.OpenSession(t.Context(), open(t, c), "s")
		must(t, err)
		r, err := redact.New(redact.Options{Disabled: true})
		must(t, err)
		line := []redact.Text{r.Text(`{"role":"user","content":"hunter2-of-alice"}`)}
		must(t, log.Events(t.Context(), line))
		must(t, log.Events(t.Context(), line))
		_, err = log.Final(t.Context(), line)
		must(t, err)
		find := func(_ string, line []byte) [][2]int {
			if at := strings.Index(string(line), "hunter2"); at >= 0 {
				return [][2]int{{at, at + len("hunter2")}}
			}
			return nil
		}
		done, err := log.Scrub(t.Context(), record.ScrubOptions{Find: find})
		if err != nil || len(done.Files) != 2 {
			t.Fatalf("%+v, %v", done, err)
		}
		must(t, log.Events(t.Context(), line[:0]))
		report, err := log.Verify(t.Context(), record.VerifyOptions{})
		if err != nil || !report.OK() {
			t.Errorf("%v, %v; want no problems and no error", report.Problems, err)
		}
		all, err := s.Admin.ListObjectVersions(t.Context(), &awss3.ListObjectVersionsInput{Bucket: &c.Bucket})
		must(t, err)
		for _, v := range all.Versions {
			o, err := s.Admin.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: &c.Bucket, Key: v.Key, VersionId: v.VersionId})
			must(t, err)
			data, err := io.ReadAll(o.Body)
			must(t, errors.Join(err, o.Body.Close()))
			if strings.Contains(string(data), "hunter2") {
				t.Errorf("a version of %s still has the secret", *v.Key)
			}
		}
	})
}
