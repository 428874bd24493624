package serve_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

func TestModelCallsAreCompactedOnEveryWire(t *testing.T) {
	for _, f := range forms() {
		r := newRig(t, compact.Config{}, serve.Config{})
		body := f.body("Fix it.", 60, 300)
		for i, want := range []string{f.body("Fix it.", 2, 10), ""} {
			send := body
			if want != "" {
				send = want
			}
			if resp, answer := r.post(f, send); resp.StatusCode != http.StatusOK {
				t.Fatalf("%v: %s %s", f, resp.Status, answer)
			}
			got := string(r.server.Requests()[i].Body)
			if want != "" && got != want || want == "" && (len(got) >= len(body)/2 || !strings.Contains(got, `"unknown":123456789012345678901`)) {
				t.Errorf("%v: %d bytes were received, %d were sent", f, len(send), len(got))
			}
		}
		if r.steps() != 1 || r.total("compact_calls_total") != 2 || r.metric(`compact_compactions_total{stage="masking",reason="usage_pct >= trigger_pct"}`) != "1" {
			t.Errorf("%v: %d steps, %v calls", f, r.steps(), r.total("compact_calls_total"))
		}
		if n := len(r.server.Requests()); n != 2 {
			t.Errorf("%v: %d requests", f, n)
		}
	}
}

func TestBodiesThatTheClientCompressedAreRead(t *testing.T) {
	for coding, with := range map[string]func(io.Writer) (io.WriteCloser, error){
		"gzip": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"zstd": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	} {
		for _, f := range forms() {
			r := newRig(t, compact.Config{}, serve.Config{})
			r.server.Lenient = true // the server can't read the request that is sent unchanged
			for _, rounds := range []int{2, 60} {
				body := f.body("Fix it.", rounds, 300)
				var packed bytes.Buffer
				z, err := with(&packed)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := z.Write([]byte(body)); err != nil {
					t.Fatal(err)
				}
				_ = z.Close()
				resp, answer := r.do(r.request("POST", f.path, packed.String(), "Content-Encoding", coding, "X-Compact-Session", "s"))
				all := r.server.Requests()
				got, short := all[len(all)-1], rounds == 2
				if as := got.Header.Get("Content-Encoding"); resp.StatusCode != http.StatusOK || short != (string(got.Body) == packed.String() && as == coding) || !short && (len(got.Body) > len(body)/2 || as != "" || !json.Valid(got.Body)) {
					t.Errorf("%s, %v: %s %s: %d bytes as %q", coding, f, resp.Status, answer, len(got.Body), as)
				}
			}
		}
	}
}

// An unreadable answer is passed on unchanged, and a zstd window takes no more memory
// than allowed.
func TestUnreadableZstdIsSentUnchanged(t *testing.T) {
	body := forms()[0].body("Fix it.", 60, 300)
	whole := zstdOf(t, body)
	for name, packed := range map[string]string{
		"no zstd": body, "cut off": whole[:len(whole)/2], "a window of 64 MiB": zstdOf(t, body+strings.Repeat(" ", 65<<20), zstd.WithWindowSize(64<<20)),
	} {
		r := newRig(t, compact.Config{}, serve.Config{})
		r.server.Lenient = true
		r.do(r.request("POST", forms()[0].path, packed, "Content-Encoding", "zstd"))
		if all := r.server.Requests(); len(all) != 1 || string(all[0].Body) != packed || r.metric(`compact_failures_total{op="read"}`) != "1" {
			t.Errorf("%s: %d requests; %s", name, len(all), r.log)
		}
	}
}

func zstdOf(t *testing.T, body string, opts ...zstd.EOption) string {
	t.Helper()
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(z, body); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

func TestTokensCountTheViewByDefault(t *testing.T) {
	for i, path := range map[int]string{2: "/openai/v1/responses/input_tokens", 4: "/anthropic/v1/messages/count_tokens", 6: "/gemini/v1beta/models/gemini-2.5-pro:countTokens"} {
		for _, full := range []bool{false, true} {
			for _, coding := range []string{"", "zstd"} {
				r := newRig(t, compact.Config{}, serve.Config{CountFull: full})
				r.server.Lenient = true // the server does not read zstd
				f := forms()[i]
				body := f.body("Fix it.", 60, 300)
				asked := body
				if coding != "" {
					asked = zstdOf(t, body)
				}
				r.do(r.request("POST", path, asked, "X-Compact-Session", "s", "Content-Encoding", coding))
				r.post(f, body)
				got := r.server.Requests()
				if want := map[bool]string{true: asked, false: string(got[1].Body)}[full]; string(got[0].Body) != want || len(got[1].Body) >= len(body)/2 {
					t.Errorf("%s, full %v, %q: %d bytes were counted; %d were sent of %d", path, full, coding, len(got[0].Body), len(got[1].Body), len(body))
				}
			}
		}
	}
}

// broken is an archive that refuses all writes after it is broken.
type broken struct {
	*memory.Archive
	on atomic.Bool
}

func (b *broken) Create(ctx context.Context, k storage.Key, blob storage.Blob) error {
	if b.on.Load() {
		return errors.New("the disk is full")
	}
	return b.Archive.Create(ctx, k, blob)
}

func (b *broken) Append(ctx context.Context, k storage.Key, seq int64, blob storage.Blob) error {
	if b.on.Load() {
		return errors.New("the disk is full")
	}
	return b.Archive.Append(ctx, k, seq, blob)
}

func TestFailuresSendTheRequestUnchangedAndAreCounted(t *testing.T) {
	for _, f := range forms() {
		for _, strict := range []bool{false, true} {
			archive := &broken{Archive: memory.New()}
			r := newRig(t, compact.Config{Archive: archive}, serve.Config{Strict: strict})
			archive.on.Store(true)
			body := f.body("Fix it.", 60, 300)
			resp, answer := r.post(f, body)
			sent := r.server.Requests()
			switch {
			case strict:
				if resp.StatusCode != http.StatusBadRequest || resp.Header.Get("X-Compact-Error") != "compact" || len(sent) != 0 || !strings.Contains(answer, "the disk is full") {
					t.Errorf("%v, strict: %s %s; %d were sent", f, resp.Status, answer, len(sent))
				}
			case resp.StatusCode != http.StatusOK || len(sent) != 1 || string(sent[0].Body) != body:
				t.Errorf("%v: %s %s; %d were sent", f, resp.Status, answer, len(sent))
			case r.metric(`compact_failures_total{op="compact"}`) != "1" || !strings.Contains(r.log.String(), "the disk is full"):
				t.Errorf("%v: %s were counted; the log has %s", f, r.metric(`compact_failures_total{op="compact"}`), r.log)
			}
		}
	}
	r := newRig(t, compact.Config{}, serve.Config{})
	r.server.Lenient = true
	if _, _ = r.do(r.request("POST", "/v1/messages", `{"messages":`)); string(r.server.Requests()[0].Body) != `{"messages":` || r.metric(`compact_failures_total{op="parse"}`) != "1" {
		t.Error("a body that is not JSON was not sent, or not counted")
	}
}
