package transport_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// packs puts a gateway in front of the provider that compresses each answer, whatever the
// client asked for.
func (r *rig) packs(name string, write func(io.Writer) flusher) {
	h := httptest.NewServer(packing{r.server, name, write})
	r.t.Cleanup(h.Close)
	r.url = h.URL
}

// A gateway can compress an answer unasked. The recall call in it is answered, and the
// caller gets the answer without compression, as it was asked for.
func TestRecallIsAnsweredInCompressedAnswers(t *testing.T) {
	for _, c := range []struct {
		form         int
		coding, name string
	}{{1, "gzip", "gzip"}, {4, "gzip", "gzip"}, {8, "gzip", "gzip"}, {3, "deflate", "zstd"}} { // a coding that the program adds
		f, coding := forms()[c.form].withTools(), codings[c.coding]
		r, body, ref := recalling(t, f, transport.Coding("zstd", coding.read))
		r.packs(c.name, coding.write)
		r.server.Answer(provider.Answer{Calls: []provider.Call{recallOf(ref)}}, provider.Answer{Text: "word"})
		req := r.request(transport.WithSession(t.Context(), "s"), f.path, body)
		req.Header.Set("Accept-Encoding", "gzip")
		resp, err := r.client.Do(req)
		if err == nil && resp.Header.Get("Content-Encoding") != "" {
			t.Errorf("the answer still has a coding: %v: %v", f, resp.Header)
		}
		status, answer := r.read(resp, err)
		if status != http.StatusOK || !strings.Contains(answer, "word") || strings.Contains(answer, `"recall"`) || len(r.got()) != 3 {
			t.Errorf("%v: %d after %d requests: %s, want %d, 3, text with %q and text without %q", f, status, len(r.got()), answer, http.StatusOK, "word", `"recall"`)
		}
		r.quiet()
	}
}

// If nobody can read the compression, the caller must not get a call of a tool that it does
// not know: the request is sent again without the tool, and so are the next ones.
func TestAnswersThatCannotBeReadEndTheRecallTool(t *testing.T) {
	for _, f := range []form{forms()[1], forms()[4]} {
		f = f.withTools()
		r, body, ref := recalling(t, f)
		r.packs("br", codings["deflate"].write)
		r.server.Reply = func(q provider.Request) provider.Answer {
			if strings.Contains(string(q.Body), `"recall"`) {
				return provider.Answer{Calls: []provider.Call{recallOf(ref)}}
			}
			return provider.Answer{Text: "word"}
		}
		for range 2 {
			resp, err := r.client.Do(r.request(transport.WithSession(t.Context(), "s"), f.path, body))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := codings["deflate"].read(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(plain)
			_ = resp.Body.Close()
			if err != nil || !strings.Contains(string(answer), "word") || resp.Header.Get("Content-Encoding") != "br" {
				t.Errorf("%v: %s, %v", f, answer, err)
			}
		}
		told := 0
		for _, err := range r.errs {
			if strings.Contains(err.Error(), "no longer declare it") {
				told++
			}
		}
		if n := len(r.got()); n != 4 || told != 1 {
			t.Errorf("%v: %d requests, reported %v, want 4", f, n, r.errs)
		}
	}
}
