package transport_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// limits are the reasons why an answer ends, with calls and at the limit of its tokens.
var limits = map[provider.Wire][2]string{
	provider.Chat: {`"finish_reason":"tool_calls"`, `"finish_reason":"length"`}, provider.Anthropic: {`"stop_reason":"tool_use"`, `"stop_reason":"max_tokens"`},
	provider.Gemini: {`"finishReason":"STOP"`, `"finishReason":"MAX_TOKENS"`},
}

// limited ends each answer with a call at the limit of its tokens.
type limited struct{ wire provider.Wire }

func (l limited) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	text := string(answer)
	if strings.Contains(text, `"recall"`) {
		text = strings.Replace(text, limits[l.wire][0], limits[l.wire][1], 1)
	}
	resp.Body, resp.ContentLength = unclosed(text), int64(len(text))
	return resp, nil
}

// The limit of tokens can cut an answer off inside a recall call. The caller learns of the
// limit, and gets the answer so far: the model is not asked again.
func TestAnAnswerThatIsCutOffInARecallEnds(t *testing.T) {
	for _, n := range []int{0, 1, 5, 8} { // for Responses: TestAChainContinuesAnAnswerThatWasCutOff
		f := forms()[n].withTools()
		calls := 0
		r, body, ref := recalling(t, f, transport.Base(limited{f.wire}), transport.OnRecall(func(_ context.Context, n int) { calls += n }))
		args := `{"ref":"` + ref + `"}`
		if f.wire == provider.Chat {
			args = args[:12] // other wires have whole values
		}
		r.server.Answer(provider.Answer{Text: "word", Calls: []provider.Call{{Name: "recall", Args: args}}})
		before := len(r.got())
		status, answer := r.post(f, body)
		if status != http.StatusOK || len(r.got()) != before+1 || strings.Contains(answer, "recall") || !strings.Contains(answer, "word") || strings.Count(answer, limits[f.wire][1]) != 1 {
			t.Errorf("%v: %d after %d requests: %s, want %d, text without %q and text with %q", f, status, len(r.got())-before, answer, http.StatusOK, "recall", "word")
		}
		if calls != 0 {
			t.Errorf("%v: %d calls were answered, want 0", f, calls)
		}
		r.allOK(f)
	}
}
