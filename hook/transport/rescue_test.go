package transport_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// moody is an archive that fails a given number of times.
type moody struct {
	*memory.Archive
	fails atomic.Int32
}

func (m *moody) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if m.fails.Add(-1) >= 0 {
		return errFull
	}
	return m.Archive.Create(ctx, k, b)
}

// clumsy is a wire that panics once.
type clumsy struct {
	wire.Format
	calls *atomic.Int32
}

func (c clumsy) ParseRequest(b []byte, cache *wire.Cache) (wire.Request, error) {
	if c.calls.Add(1) == 1 {
		panic("a bug")
	}
	return c.Format.ParseRequest(b, cache)
}

var wires = map[provider.Wire]wire.Format{provider.Chat: openai.Wire, provider.Responses: responses.Wire, provider.Anthropic: anthropic.Wire, provider.Gemini: gemini.Wire}

// suffix returns the end of a form's path.
func suffix(f form) string {
	path, _, _ := strings.Cut(f.path, "?")
	return path[strings.LastIndexAny(path, "/:"):]
}

// If a failure of this package sends a request unchanged, and the provider refuses it
// as too long, it is compacted and sent once more.
func TestAfterAFailureOfOursAnOverflowIsStillAnsweredOnce(t *testing.T) {
	for _, f := range forms() {
		for _, inStream := range []bool{false, true} {
			for name, c := range map[string]struct {
				config func() compact.Config
				opts   func() []transport.Option
			}{
				"the archive fails": {func() compact.Config {
					a := &moody{Archive: memory.New()}
					a.fails.Store(1)
					return compact.Config{Archive: a, MaxContextTokens: window}
				}, nil},
				"a panic": {func() compact.Config { return tight }, func() []transport.Option {
					return []transport.Option{transport.Route(suffix(f), clumsy{wires[f.wire], new(atomic.Int32)})}
				}},
			} {
				var opts []transport.Option
				if c.opts != nil {
					opts = c.opts()
				}
				r := newRig(t, c.config(), opts...)
				r.server.Window, r.server.InStream = 8_000, inStream
				body := f.body("Fix it.", 60, 300)
				status, answer := r.post(f, body)
				got := r.got()
				if status != http.StatusOK || !strings.Contains(answer, "ok") || len(got) != 2 || got[0] != body || len(got[1]) >= len(body) {
					t.Errorf("%v, in the stream %v, %s: %d after %d requests: %.200s", f, inStream, name, status, len(got), answer)
				}
				if len(r.errs) != 1 {
					t.Errorf("%v, %s: reported %v", f, name, r.errs)
				}
			}
		}
	}
}

// If this package fails again, the caller gets the provider's refusal unchanged.
func TestPersistentFailureReturnsTheRefusal(t *testing.T) {
	f := forms()[0]
	for name, config := range map[string]compact.Config{
		"the archive": {Archive: full{memory.New()}, MaxContextTokens: window},
		"the budget":  {MaxContextTokens: 4000},
	} {
		r := newRig(t, config)
		r.server.Window = 8_000
		body := f.body("Fix it.", 60, 300)
		if name == "the budget" {
			body = f.body(strings.Repeat("word ", 20_000), 1, 1)
		}
		status, answer := r.post(f, body)
		if status != http.StatusBadRequest || !strings.Contains(answer, "context_length_exceeded") || len(r.got()) != 1 {
			t.Errorf("%s: %d after %d requests: %s, want %d, 1 and text with %q", name, status, len(r.got()), answer, http.StatusBadRequest, "context_length_exceeded")
		}
		if len(r.errs) != 2 || !strings.Contains(r.errs[1].Error(), "overflow") {
			t.Errorf("%s: reported %v", name, r.errs)
		}
	}
	r := newRig(t, tight) // an unreadable request can't be made smaller
	r.server.Lenient, r.server.Window = true, 1
	if status, _ := r.post(f, `{"model":"gpt-4o","messages":7}`); status != http.StatusBadRequest || len(r.got()) != 1 {
		t.Errorf("%d after %d requests, want %d and 1", status, len(r.got()), http.StatusBadRequest)
	}
}

// There is only one retry, even if the first request was sent unchanged.
func TestSecondOverflowAfterAFailureReachesTheCaller(t *testing.T) {
	a := &moody{Archive: memory.New()}
	a.fails.Store(1)
	f, r := forms()[0], newRig(t, compact.Config{Archive: a, MaxContextTokens: window})
	r.server.Window = 1
	if status, _ := r.post(f, f.body("Fix it.", 60, 300)); status != http.StatusBadRequest || len(r.got()) > 2 {
		t.Errorf("%d after %d requests, want %d and at most 2", status, len(r.got()), http.StatusBadRequest)
	}
}

// A request that is skipped on purpose is not compacted after an overflow.
func TestCallerGetsTheOverflowOfAPassedRequest(t *testing.T) {
	f, r := forms()[2], newRig(t, tight)
	r.server.Window = 8_000
	f.fields += `,"previous_response_id":"resp_1"`
	if status, _ := r.post(f, f.body("Fix it.", 60, 300)); status != http.StatusBadRequest || len(r.got()) != 1 {
		t.Errorf("%d after %d requests, want %d and 1", status, len(r.got()), http.StatusBadRequest)
	}
}

// meta.protected protects on every wire, and is never sent: in a compacted
// request, a raw one after a failure, or a skipped one.
func TestMetaOfARequestProtectsAndIsNotSent(t *testing.T) {
	for _, f := range forms() {
		precious := fmt.Sprintf("file 3: %s", strings.TrimSpace(strings.Repeat("precious ", 100)))
		plain := strings.Replace(f.body("Fix it.", 60, 300), "file 3: "+strings.TrimSpace(strings.Repeat("word ", 300)), precious, 1)
		marked := mark(t, f, plain, precious)
		r := newRig(t, compact.Config{})
		if status, answer := r.post(f, marked); status != http.StatusOK || !r.last().Triggered {
			t.Fatalf("%v: %d %s, want %d", f, status, answer, http.StatusOK)
		}
		if got := r.got()[0]; !strings.Contains(got, precious) || strings.Contains(got, `"meta"`) {
			t.Errorf("%v: compacted: protected %v, sent %v", f, strings.Contains(got, precious), strings.Contains(got, `"meta"`))
		}
		failing := newRig(t, compact.Config{Archive: full{memory.New()}})
		if failing.post(f, marked); failing.got()[0] != plain {
			t.Errorf("%v: after a failure the body differs, with meta: %v", f, strings.Contains(failing.got()[0], `"meta"`))
		}
		r.quiet()
	}
	f := forms()[2]
	f.fields += `,"previous_response_id":"resp_1"`
	plain := f.body("Fix it.", 1, 1)
	r := newRig(t, compact.Config{})
	r.server.Lenient = true
	if r.post(f, mark(t, f, plain, "file 0: word")); r.got()[0] != plain {
		t.Errorf("passed over: %s, want %s", r.got()[0], plain)
	}
}

// mark protects the message that holds a text.
func mark(t *testing.T, f form, body, text string) string {
	t.Helper()
	at := strings.Index(body, text)
	if at < 0 {
		t.Fatalf("%v: no such text", f)
	}
	item := map[string]string{"messages": `{"role":`, "input": `{"type":"function_call_output"`, "contents": `{"role":`}[shapes[f.wire].list]
	start := strings.LastIndex(body[:at], item)
	return body[:start] + `{"meta":{"protected":true},` + body[start+1:]
}
