package sdktest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	compat "github.com/sashabaranov/go-openai"
	"google.golang.org/genai"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
)

// statusOf reads an error as its SDK returns it; typed is the transport's error, if the
// SDK keeps the answer.
func statusOf(err error) (status int, text string, typed *transport.Error) {
	if e := (*openai.Error)(nil); errors.As(err, &e) {
		return e.StatusCode, e.Message, transport.ErrorOf(e.Response)
	}
	if e := (*anthropic.Error)(nil); errors.As(err, &e) {
		return e.StatusCode, e.RawJSON(), transport.ErrorOf(e.Response)
	}
	if e := (*compat.APIError)(nil); errors.As(err, &e) {
		return e.HTTPStatusCode, e.Message, nil
	}
	if e := (genai.APIError{}); errors.As(err, &e) {
		return e.Code, e.Message, nil
	}
	return 0, "", nil
}

// Every SDK takes a refusal of a strict transport for an error of the API, and does not
// retry it.
func TestStrictErrorsHaveAPIFormAndAreNotRetried(t *testing.T) {
	forEach(t, func(t *testing.T, s sdk, stream bool) {
		var attempts atomic.Int32
		r := newRig(t)
		r.more = []transport.Option{transport.Models(func(named string) string { attempts.Add(1); return named })}
		r.client = &http.Client{Transport: transport.New(r.m, r.options()...)}
		if err := r.m.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		_, _, err := r.open(s, stream).say(context.Background(), nil)
		status, text, typed := statusOf(err)
		if status != http.StatusBadRequest || !strings.Contains(text, compact.ErrClosed.Error()) {
			t.Errorf("%d %q: %v, want %d", status, text, err, http.StatusBadRequest)
		}
		if n := attempts.Load(); n != 1 || len(r.server.Requests()) != 0 {
			t.Errorf("%d attempts, %d requests; want 1 and 0", n, len(r.server.Requests()))
		}
		if retries[s.name] && !errors.Is(typed, compact.ErrClosed) {
			t.Errorf("the transport's error is %v", typed)
		}
	})
}
