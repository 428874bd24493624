package s3

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/storagetest"
)

// fake is an S3 in process. It ignores If-None-Match where an upload in parts is
// completed; mended, it does not.
func fake(t testing.TB, mended bool) s3.Config {
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	handler := gofakes3.New(backend).Server()
	if mended {
		handler = onceInParts(handler)
	}
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	if t, ok := t.(*testing.T); ok {
		t.Setenv("AWS_ACCESS_KEY_ID", "any")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "any")
	}
	return s3.Config{Bucket: "bucket", Endpoint: srv.URL, PathStyle: true}
}

// onceInParts refuses to complete an upload whose name is taken.
func onceInParts(next http.Handler) http.Handler {
	var one sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Query().Has("uploadId") && r.Header.Get("If-None-Match") == "*" {
			one.Lock()
			defer one.Unlock()
			probe := httptest.NewRecorder()
			next.ServeHTTP(probe, httptest.NewRequest(http.MethodHead, r.URL.Path, nil))
			if probe.Code == http.StatusOK {
				w.WriteHeader(http.StatusPreconditionFailed)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func TestFakeKeepsThePromisesOfAnArchive(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		c := fake(t, true)
		var out [2]storage.Archive
		for i := range out {
			a, err := s3.Open(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			out[i] = a
		}
		return out[0], out[1]
	})
}

func TestServerThatIgnoresWhatItIsAskedForIsRefused(t *testing.T) {
	for _, c := range []struct {
		what   string
		mended bool
		change func(*s3.Config)
	}{
		{"create-once", false, func(*s3.Config) {}},
		{"SSE-KMS", true, func(c *s3.Config) { c.KMSKeyID = "a-key" }},
		{"Object Lock", true, func(c *s3.Config) { c.Lock = s3.Lock{Mode: s3.Compliance, Days: 1} }},
	} {
		cfg := fake(t, c.mended)
		c.change(&cfg)
		_, err := s3.Open(t.Context(), cfg)
		var told *s3.NotEnforcedError
		if !errors.Is(err, s3.ErrNotEnforced) || !errors.As(err, &told) || told.What != c.what {
			t.Errorf("%s: %v", c.what, err)
		}
		t.Log(err)
	}
}
