package serve_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
)

// Over HTTP/2 on both sides trailers pass in both directions, a partial answer is
// recognized, and a client that disconnects ends the upstream call.
func TestHTTP2CarriesEndsOfAllKinds(t *testing.T) {
	gone := make(chan struct{}, 1)
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Told")
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"bytes\":%d}\n\n", len(body))
		w.(http.Flusher).Flush()
		switch r.Header.Get("X-End") {
		case "half":
			panic(http.ErrAbortHandler)
		case "gone":
			<-r.Context().Done()
			gone <- struct{}{}
		}
		w.Header().Set("X-Told", r.Proto+" "+r.Trailer.Get("X-Sum"))
	}))
	up.EnableHTTP2 = true
	up.StartTLS()
	t.Cleanup(up.Close)
	r := newRigTo(t, up.URL, compact.Config{}, serve.Config{Base: up.Client().Transport})
	var p http.Protocols
	p.SetUnencryptedHTTP2(true)
	r.client = &http.Client{Transport: &http.Transport{Protocols: &p}}
	defer r.client.CloseIdleConnections()
	for _, f := range forms() {
		for _, end := range []string{"whole", "half", "gone"} {
			ctx, cancel := context.WithCancel(t.Context())
			body := f.body("Fix it.", 60, 300)
			req := r.request("POST", f.path, "", "X-Compact-Session", f.String()+end, "X-End", end).WithContext(ctx)
			req.ContentLength, req.Trailer = -1, http.Header{"X-Sum": nil}
			req.Body = io.NopCloser(io.MultiReader(strings.NewReader(body), callAtEnd(func() { req.Trailer.Set("X-Sum", "42") })))
			resp, err := r.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			first := make([]byte, 6)
			_, _ = io.ReadFull(resp.Body, first)
			if end == "gone" {
				cancel()
				within(t, gone, "the end of the upstream's call")
			}
			rest, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			cancel()
			if resp.Proto != "HTTP/2.0" || string(first) != "data: " || (end == "whole") != (err == nil) {
				t.Errorf("%v, %s: %s %q %v", f, end, resp.Proto, rest, err)
			}
			if end == "whole" && (resp.Trailer.Get("X-Told") != "HTTP/2.0 42" || !strings.HasPrefix(string(rest), fmt.Sprintf(`{"bytes":%d}`, len(body)))) {
				t.Errorf("%v: %v %q", f, resp.Trailer, rest)
			}
		}
	}
	waitFor(t, func() bool { return r.metric("compact_requests_in_flight") == "0" })
}
