package serve_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

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
				t.Errorf("%v: %d bytes came in, %d went out", f, len(send), len(got))
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
	f := forms()[0]
	r := newRig(t, compact.Config{}, serve.Config{})
	body := f.body("Fix it.", 60, 300)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	_ = z.Close()
	resp, answer := r.do(r.request("POST", f.path, packed.String(), "Content-Encoding", "gzip"))
	if got := r.server.Requests()[0]; resp.StatusCode != http.StatusOK || len(got.Body) > len(body)/2 || got.Header.Get("Content-Encoding") != "" {
		t.Errorf("%s %s: %d bytes", resp.Status, answer, len(got.Body))
	}
}

func TestTokensAreCountedOfTheViewUnlessOfTheHistory(t *testing.T) {
	for _, full := range []bool{false, true} {
		r := newRig(t, compact.Config{}, serve.Config{CountFull: full})
		f := forms()[4]
		body := f.body("Fix it.", 60, 300)
		r.do(r.request("POST", "/anthropic/v1/messages/count_tokens", body, "X-Compact-Session", "s"))
		r.post(f, body)
		got := r.server.Requests()
		if want := map[bool]string{true: body, false: string(got[1].Body)}[full]; string(got[0].Body) != want {
			t.Errorf("full %v: %d bytes were counted; %d were sent of %d", full, len(got[0].Body), len(got[1].Body), len(body))
		}
	}
}

// broken is an archive that takes nothing once it is broken.
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

func TestWhatGoesWrongHereGoesOutAsItCameWithALineAndACounter(t *testing.T) {
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
					t.Errorf("%v, strict: %s %s; %d went out", f, resp.Status, answer, len(sent))
				}
			case resp.StatusCode != http.StatusOK || len(sent) != 1 || string(sent[0].Body) != body:
				t.Errorf("%v: %s %s; %d went out", f, resp.Status, answer, len(sent))
			case r.metric(`compact_failures_total{op="compact"}`) != "1" || !strings.Contains(r.log.String(), "the disk is full"):
				t.Errorf("%v: %s were counted; the log says %s", f, r.metric(`compact_failures_total{op="compact"}`), r.log)
			}
		}
	}
	r := newRig(t, compact.Config{}, serve.Config{})
	r.server.Lenient = true
	if _, _ = r.do(r.request("POST", "/v1/messages", `{"messages":`)); string(r.server.Requests()[0].Body) != `{"messages":` || r.metric(`compact_failures_total{op="parse"}`) != "1" {
		t.Error("what is no JSON did not go out, or was not counted")
	}
}
