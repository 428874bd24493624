package transport_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/slope"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// recallsOnce is a model that recalls at its first call and answers "done." to all
// others.
type recallsOnce struct{ asked int }

func (r *recallsOnce) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	message := `{"role":"assistant","content":"done."}`
	if r.asked++; r.asked == 1 {
		message = `{"role":"assistant","content":null,"tool_calls":[{"id":"ours","type":"function","function":{"name":"recall","arguments":"{\"ref\":\"turn:1\"}"}}]}`
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: req, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(`{"choices":[{"index":0,"message":` + message + `}]}`)),
	}, req.Body.Close()
}

// afterRecall returns a program whose model recalled after a history of n messages.
// Each call sends the history and the messages since then.
func afterRecall(t testing.TB, n int) (call func(body string), body string, model *recallsOnce) {
	t.Helper()
	m, err := compact.New(context.Background(), compact.Config{Model: "gpt-4.1", MaxContextTokens: 100_000_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	model = &recallsOnce{}
	rt := transport.New(m, transport.Base(model), transport.Recall(), transport.Strict())
	ctx := transport.WithSession(context.Background(), "s")
	call = func(body string) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://provider.test/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if said, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(said), "done.") {
			t.Fatalf("%v %s", err, said)
		}
		_ = resp.Body.Close()
	}
	f := forms()[0].withTools()
	body = f.body("Fix it.", n/2, 39)
	call(body)
	return call, more(body, fmt.Sprintf(texts[f.wire], "done.")), model
}

// The place of a round in the history is computed once and kept while the history only
// grows, even if the agent sends other requests in between.
func TestRoundsReadAHistoryOnce(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates too: run it without -race")
	}
	const messages = 2000
	call, body, model := afterRecall(t, messages)
	call(body)
	if model.asked != 3 {
		t.Fatalf("the model was asked %d times: it did not recall", model.asked)
	}
	short := forms()[0].withTools().body("And this?", 1, 5)
	for name, of := range map[string]func(){"again": func() { call(body) }, "beside another": func() { call(short); call(body) }} {
		if n := testing.AllocsPerRun(5, of); n > 2*messages {
			t.Errorf("%s: a call allocates %.0f times for %d messages that were read", name, n, messages)
		}
	}
}

// BenchmarkRecalledLength measures how the time of a call grows with the length of the
// history, if a round of recall has a place in it.
func BenchmarkRecalledLength(b *testing.B) {
	slope.Report(b, func(n int) func() {
		call, body, _ := afterRecall(b, n)
		return func() { call(body) }
	})
}

// If a caller gives up while the archive is read for a recall, no failure is reported.
func TestCallerThatGivesUpDuringARecallIsNoFailure(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		r, body, ref := recalling(t, f)
		ctx, cancel := context.WithCancel(transport.WithSession(context.Background(), "s"))
		defer cancel()
		read := &abandoned{Archive: r.archive}
		later := newRigAt(t, r.server, compact.Config{Archive: read}, transport.Recall()) // this manager has read nothing yet
		r.server.Answer(provider.Answer{Calls: []provider.Call{recallOf(ref)}})
		read.gone = func() context.CancelFunc {
			if requests := r.server.Requests(); len(requests) > 1 {
				return cancel
			}
			return func() {}
		}
		if resp, err := later.client.Do(later.request(ctx, f.path, body)); err == nil {
			_, _ = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if ctx.Err() == nil {
			t.Error("the archive was not read for the recall")
		}
		later.quiet()
	})
}

// abandoned is an archive whose readers give up.
type abandoned struct {
	storage.Archive
	gone func() context.CancelFunc
}

func (a *abandoned) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if a.gone()(); ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return a.Archive.Open(ctx, k, off, n)
}
