package sdktest

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/agentloop"
	"github.com/agentcompact/compact/internal/provider"
)

var (
	ourCall    = regexp.MustCompile(`"name": ?"recall"`)
	fileResult = regexp.MustCompile(`file \d+: word word`)
)

// begin makes a new manager and a new transport, as after a restart of the program; the
// archive stays.
func (r *rig) begin() {
	r.t.Helper()
	_ = r.m.Close(context.Background())
	m, err := compact.New(context.Background(), compact.Config{MaxContextTokens: window, Archive: r.archive})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = m.Close(context.Background()) })
	r.m = m
	mid := middleware(transport.Middleware(m, r.options()...))
	r.mid = &mid
	r.client = &http.Client{Transport: through{r}}
}

// through is a transport for SDKs that take a client.
type through struct{ r *rig }

func (t through) RoundTrip(req *http.Request) (*http.Response, error) {
	return (*t.r.mid)(req, http.DefaultTransport.RoundTrip)
}

// reader is a model that reads files until its view has a reference, recalls it several
// times in a row and together with another call, and continues to read.
type reader struct {
	r       *rig
	done    int   // of the script
	files   []int // number of files in each request of the script
	recalls []int // number of recall calls in each request of the script
}

func (m *reader) reply(q provider.Request) provider.Answer {
	r := m.r
	r.mu.Lock()
	defer r.mu.Unlock()
	ref := agentloop.Shown(q.Body)
	if m.done == 0 && ref == "" {
		r.calls++
		return m.read()
	}
	m.files = append(m.files, len(fileResult.FindAll(q.Body, -1)))
	m.recalls = append(m.recalls, len(ourCall.FindAll(q.Body, -1))-1) // without the declaration
	m.done++
	recall := func(ref string) provider.Call {
		return provider.Call{ID: fmt.Sprintf("ours_%d", m.done), Name: "recall", Args: fmt.Sprintf(`{"ref":%q}`, ref)}
	}
	switch m.done {
	case 1:
		return provider.Answer{Reasoning: "That is gone.", Text: "Let me see.", Calls: []provider.Call{recall(ref)}}
	case 2:
		return provider.Answer{Reasoning: "And turn 2.", Calls: []provider.Call{recall("turn:2")}}
	case 3:
		return provider.Answer{Reasoning: "Once more.", Calls: []provider.Call{recall("turn:3")}}
	case 4:
		r.calls++
		out := m.read()
		out.Calls = append(out.Calls, recall(ref))
		return out
	case 5, 6:
		r.calls++
		return m.read()
	}
	if m.done == 7 {
		return provider.Answer{Reasoning: "Not yet.", Text: "Wait.", Calls: []provider.Call{recall("turn:4")}}
	}
	return provider.Answer{Text: "done"}
}

func (m *reader) read() provider.Answer {
	n := m.r.calls
	return provider.Answer{Reasoning: "Next.", Calls: []provider.Call{{ID: fmt.Sprintf("call_%d", n), Name: "read", Args: fmt.Sprintf(`{"n":%d}`, n)}}}
}

// Under each SDK, a program without knowledge of the recall tool continues while its
// model recalls, and after a restart in another process, which leaves the rounds out
// whole.
func TestRecallUnderSDKs(t *testing.T) {
	forEach(t, func(t *testing.T, s sdk, stream bool) {
		r := newRig(t)
		r.more = []transport.Option{transport.Recall()}
		r.begin()
		model := &reader{r: r}
		r.server.Reply = model.reply
		restarted := 0
		r.then = func(int) {
			if model.done == 6 && restarted == 0 {
				restarted = len(model.recalls)
				r.begin()
			}
		}
		text := r.work(transport.WithSession(context.Background(), "s"), r.open(s, stream))
		if !strings.HasSuffix(text, "done") || strings.HasPrefix(text, "Wait.") != stream { // a stream has already shown the earlier text
			t.Errorf("the agent ended with %q, want text that ends with %q", text, "done")
		}
		if bad := r.refused(); len(bad) > 0 {
			t.Errorf("refused: %v", bad)
		}
		if model.done != 8 || restarted != 6 {
			t.Fatalf("%d steps of the script, restarted after %d; want 8 and 6", model.done, restarted)
		}
		for i := 1; i <= 3; i++ {
			if model.recalls[i] <= model.recalls[i-1] {
				t.Errorf("calls of the recall tool in the requests of the script: %v", model.recalls)
			}
		}
		if model.files[1] <= model.files[0] {
			t.Errorf("the recalled text is missing: %v files in the requests of the script", model.files)
		}
		if model.recalls[4] <= model.recalls[3] || model.recalls[5] != model.recalls[4] {
			t.Errorf("recalls beside another call, and in the request after it: %v", model.recalls)
		}
		if model.recalls[6] != 0 { // the caller has the answer with the fourth round
			t.Errorf("another process sends %d calls of the recall tool, want 0", model.recalls[6])
		}
	})
}
