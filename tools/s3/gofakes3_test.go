package s3

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/storagetest"
	"github.com/agentcompact/compact/tools/s3/standin"
)

// fake returns an S3 in process. The server ignores If-None-Match when an upload in parts is
// completed. The mended server does not ignore it.
func fake(t testing.TB, mended bool) s3.Config {
	handler := standin.Bare()
	if mended {
		handler = standin.New()
	}
	made := httptest.NewRecorder()
	if handler.ServeHTTP(made, httptest.NewRequest(http.MethodPut, "/bucket", nil)); made.Code != http.StatusOK {
		t.Fatalf("no bucket: %d %s", made.Code, made.Body)
	}
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	if t, ok := t.(*testing.T); ok {
		t.Setenv("AWS_ACCESS_KEY_ID", "any")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "any")
	}
	return s3.Config{Bucket: "bucket", Endpoint: srv.URL, PathStyle: true}
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

func TestServerThatIgnoresConditionsIsRefused(t *testing.T) {
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
