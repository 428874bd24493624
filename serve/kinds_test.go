package serve_test

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
)

// Informational responses of an upstream, and answers without a body, are
// passed on unchanged.
func TestAnswersOfAllKindsAreReturned(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch r.Header.Get("X-Kind") {
		case "hints":
			w.Header().Set("Link", "</x>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = io.WriteString(w, "{}")
		case "none":
			w.WriteHeader(http.StatusNoContent)
		case "same":
			w.Header().Set("Etag", `"e"`)
			w.WriteHeader(http.StatusNotModified)
		case "long":
			w.Header().Set("Content-Length", "2")
			_, _ = io.WriteString(w, "{}")
		}
	})
	r := newRigTo(t, up, compact.Config{}, serve.Config{})
	for _, f := range forms() {
		for kind, want := range map[string]int{"hints": 200, "none": 204, "same": 304, "long": 200} {
			req := r.request("POST", f.path, f.body("Fix it.", 60, 300), "X-Kind", kind)
			hints := ""
			req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
				if code == http.StatusEarlyHints {
					hints = h.Get("Link")
				}
				return nil
			}}))
			resp, answer := r.do(req)
			if resp.StatusCode != want || want == 200 && answer != "{}" || want != 200 && answer != "" || (kind == "hints") != (hints != "") || (kind == "same") != (resp.Header.Get("Etag") != "") || kind == "long" && resp.ContentLength != 2 {
				t.Errorf("%v, %s: %s %q, hints %q, %d bytes", f, kind, resp.Status, answer, hints, resp.ContentLength)
			}
		}
	}
	for _, path := range []string{"/openai/v1/models", "/healthz", "/metrics", "/openapi.json", "/"} {
		resp, answer := r.do(r.request("HEAD", path, ""))
		if resp.StatusCode != 200 || answer != "" {
			t.Errorf("HEAD %s: %s %q", path, resp.Status, answer)
		}
	}
}
