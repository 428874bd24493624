package otel

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTrySendsNoSpanAndTheHeadersOfSpans(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=seven")
	var size, posts int
	var tenant, path string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		posts++
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		size, tenant, path = len(body), r.Header.Get("X-Tenant"), r.URL.Path
		if posts > 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	if err := Try(t.Context(), s.URL, nil); err != nil || size != 0 || tenant != "seven" || path != "/v1/traces" {
		t.Errorf("%v; %d bytes to %s for %q", err, size, path, tenant)
	}
	if err := Try(t.Context(), s.URL, nil); err == nil || posts != 2 {
		t.Errorf("%v after %d requests: Try must not repeat a request", err, posts)
	}
	if err := Try(t.Context(), "localhost", nil); err == nil {
		t.Error("a text that is not a URL is accepted")
	}
}

// The user or the path of a URL may be a key.
func TestErrorsOfTriesContainNoCredentials(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	for _, url := range []string{"http://me:hunter2@" + host, "http://hunter2@" + host, s.URL + "/hunter2"} {
		for name, err := range map[string]error{"spans": Try(t.Context(), url, nil), "metrics": TryMetrics(t.Context(), url, nil)} {
			if err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
