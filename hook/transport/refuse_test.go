package transport_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/storage/memory"
)

// shapeOf returns a JSON value with its strings and numbers replaced by their types.
func shapeOf(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var out []string
		for k, m := range v {
			if k != "request_id" { // the provider's alone
				out = append(out, k+":"+shapeOf(m))
			}
		}
		slices.Sort(out)
		return "{" + strings.Join(out, " ") + "}"
	case []any:
		var out []string
		for _, m := range v {
			out = append(out, shapeOf(m))
		}
		return "[" + strings.Join(out, " ") + "]"
	case nil:
		return "string" // OpenAI's code and param may be null
	}
	return fmt.Sprintf("%T", v)
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// On every wire, an error of this package has the form of the provider's errors, and a
// status that no client retries.
func TestStrictErrorsHaveTheFormOfTheWire(t *testing.T) {
	for _, f := range forms() {
		// The provider's own answer to a prompt that is too long.
		theirs := newRig(t, compact.Config{})
		theirs.server.Window = 10
		_, model := theirs.read(http.DefaultClient.Do(theirs.request(t.Context(), f.path, f.body("go", 5, 50))))
		for name, c := range map[string]struct {
			config compact.Config
			opts   []transport.Option
			body   string
			is     error
			status int
		}{
			"the budget":  {compact.Config{MaxContextTokens: 4000}, nil, f.body(strings.Repeat("word ", 9000), 1, 1), compact.ErrInsufficientBudget, 400},
			"the archive": {compact.Config{Archive: full{memory.New()}}, nil, f.body("go", 60, 300), compact.ErrArchiveFailed, 400},
			"no JSON":     {compact.Config{}, nil, "{", nil, 400},
			"huge":        {compact.Config{}, []transport.Option{transport.MaxBody(1000)}, f.body("go", 60, 300), transport.ErrTooLarge, 413},
		} {
			r := newRig(t, c.config, append(c.opts, transport.Strict())...)
			resp, err := r.client.Do(r.request(transport.WithSession(t.Context(), "s"), f.path, c.body))
			if err != nil {
				t.Fatalf("%v, %s: %v", f, name, err)
			}
			status, answer := r.read(resp, nil)
			known := transport.ErrorOf(resp)
			if known == nil || c.is != nil && !errors.Is(known, c.is) || resp.Header.Get("X-Compact-Error") != known.Op {
				t.Errorf("%v, %s: %v, %v, want the error with its operation in the header", f, name, known, resp.Header)
			}
			if status != c.status || resp.Header.Get("X-Should-Retry") != "false" || resp.Header.Get("Content-Type") != "application/json" || len(r.got()) != 0 {
				t.Errorf("%v, %s: %s, %v, %d requests, want 0", f, name, resp.Status, resp.Header, len(r.got()))
			}
			got, want := decoded(t, answer), decoded(t, model)
			if shapeOf(got) != shapeOf(want) {
				t.Errorf("%v, %s: %s has the form\n%s, the provider's\n%s", f, name, answer, shapeOf(got), shapeOf(want))
			}
			if name == "the budget" && f.wire != provider.Gemini && !strings.Contains(answer, "context_length_exceeded") && !strings.Contains(answer, "prompt is too long") {
				t.Errorf("%v: agents don't see the reason: %s", f, answer)
			}
		}
		if _, err := theirs.client.Do(theirs.request(t.Context(), f.path, f.body("go", 1, 1))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestErrorOfIsNilForTheProvidersAnswers(t *testing.T) {
	r := newRig(t, compact.Config{}, transport.Strict())
	r.server.Window = 10
	f := forms()[0]
	resp, err := r.client.Do(r.request(t.Context(), f.path, f.body("go", 0, 0)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if e := transport.ErrorOf(resp); e != nil || transport.ErrorOf(nil) != nil || transport.ErrorOf(&http.Response{}) != nil {
		t.Error(e)
	}
}
