package transport_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// shortened ends some answers of the Responses API at max_output_tokens.
type shortened struct {
	inner http.RoundTripper
	short map[int]bool // by the number of the answer, from 0
	n     int
}

func (s *shortened) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := s.inner.RoundTrip(q)
	n := s.n
	s.n++
	if err != nil || !s.short[n] {
		return resp, err
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	text := string(answer)
	at := strings.LastIndex(text, "data: ") + len("data: ")
	event := at >= len("data: ")
	if !event {
		at = 0
	}
	var o map[string]any
	if err := json.Unmarshal([]byte(text[at:]), &o); err != nil {
		return nil, err
	}
	r := o
	if event {
		o["type"] = "response.incomplete"
		r = o["response"].(map[string]any)
	}
	r["status"], r["incomplete_details"] = "incomplete", map[string]any{"reason": "max_output_tokens"}
	end, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	text = strings.Replace(text[:at], "event: response.completed", "event: response.incomplete", 1) + string(end) + "\n\n"
	resp.Body, resp.ContentLength = unclosed(text), int64(len(text))
	return resp, nil
}

// An answer that ends at max_output_tokens is stored, too: the next request of the chain
// continues it, and nothing that the caller got is lost.
func TestAChainContinuesAnAnswerThatWasCutOff(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for name, c := range map[string]struct {
			answers func(ref string) []provider.Answer
			short   int
			text    string
			calls   bool
		}{
			"after a recall": {func(ref string) []provider.Answer {
				return []provider.Answer{{Text: "Let me see.", Calls: []provider.Call{recallOf(ref)}}, {Text: "It is a long"}}
			}, 2, "It is a long", false},
			"at a recall": {func(ref string) []provider.Answer {
				return []provider.Answer{{Text: "It is a long", Calls: []provider.Call{recallOf(ref)}}}
			}, 1, "It is a long", false},
			"at a recall beside a call": {func(ref string) []provider.Answer {
				return []provider.Answer{{Text: "It is a long", Calls: []provider.Call{{ID: "c900", Name: "read", Args: `{"n":900}`}, recallOf(ref)}}}
			}, 1, "It is a long", true},
			"at a second recall": {func(ref string) []provider.Answer {
				return []provider.Answer{{Calls: []provider.Call{recallOf(ref)}}, {Reasoning: "Hm.", Text: "It is a long", Calls: []provider.Call{recallOf(ref)}}}
			}, 2, "It is a long", false},
		} {
			t.Run(fmt.Sprintf("%s, stream %v", name, stream), func(t *testing.T) {
				f := form{provider.Responses, "/v1/responses", `"model":"gpt-5"`, stream}.withTools()
				if stream {
					f.fields += `,"stream":true`
				}
				r, body, ref := recalling(t, f, transport.Base(&shortened{inner: http.DefaultTransport, short: map[int]bool{c.short: true}}))
				r.server.Store = &provider.Store{}
				r.server.Answer(c.answers(ref)...)
				status, answer := r.post(f, body)
				id, output := stored(answer)
				if status != http.StatusOK || id == "" || strings.Contains(answer, `"recall"`) || !strings.Contains(answer, `"status":"incomplete"`) {
					t.Fatalf("%d %s, want %d, text without %q and text with %q", status, answer, http.StatusOK, `"recall"`, `"status":"incomplete"`)
				}
				if calls := slices.ContainsFunc(output, func(item json.RawMessage) bool { return strings.Contains(string(item), "function_call") }); calls != c.calls {
					t.Errorf("the caller gets %s", output)
				}
				items := `{"role":"user","content":"go on"}`
				if c.calls {
					items = `{"type":"function_call_output","call_id":"c900","output":"what was read"},` + items
				}
				if status, answer = r.post(f, f.next(id, items)); status != http.StatusOK {
					t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
				}
				if n := strings.Count(r.historyOf(answer), c.text); n != 1 {
					t.Errorf("the chain has the answer %d times, want 1", n)
				}
			})
		}
	}
}

// sentBack returns an answer as elements of the next request: what an SDK that keeps
// everything sends.
func sentBack(t *testing.T, f form, answer string) (elems []string) {
	t.Helper()
	if f.wire == provider.Responses {
		_, output := stored(answer)
		for _, item := range output {
			elems = append(elems, string(item))
		}
		return elems
	}
	var blocks []any
	if !f.stream {
		var o struct{ Content []any }
		if err := json.Unmarshal([]byte(answer), &o); err != nil {
			t.Fatal(err)
		}
		blocks = o.Content
	} else {
		for _, e := range eventsOf(t, answer) {
			switch e["type"] {
			case "content_block_start":
				blocks = append(blocks, e["content_block"])
			case "content_block_delta":
				block, delta := blocks[len(blocks)-1].(map[string]any), e["delta"].(map[string]any)
				for _, name := range []string{"text", "thinking", "signature"} {
					if more, ok := delta[name].(string); ok {
						had, _ := block[name].(string)
						block[name] = had + more
					}
				}
			}
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	raw, err := json.Marshal(map[string]any{"role": "assistant", "content": blocks})
	if err != nil {
		t.Fatal(err)
	}
	return []string{string(raw)}
}

// next is the next question on each wire whose provider checks the reasoning.
var nextQuestion = map[provider.Wire]string{
	provider.Responses: `{"role":"user","content":"next"}`,
	provider.Anthropic: `{"role":"user","content":"next"}`,
}

// Reasoning that led only to a recall call that is left out does not stay without it.
func TestAnswersWithTooManyRecallsCanBeSentBack(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		next := nextQuestion[f.wire]
		if next == "" {
			t.Skip("reasoning is not checked")
		}
		r, body, ref := recalling(t, f)
		r.server.Answer(slices.Repeat([]provider.Answer{{Reasoning: "Hm.", Calls: []provider.Call{recallOf(ref)}}}, 10)...)
		status, answer := r.post(f, body)
		if status != http.StatusOK || strings.Contains(answer, `"recall"`) {
			t.Fatalf("%d %s, want %d and text without %q", status, answer, http.StatusOK, `"recall"`)
		}
		back := append(sentBack(t, f, answer), next)
		if status, said := r.post(f, more(body, strings.Join(back, ","))); status != http.StatusOK {
			t.Errorf("%d %s, for %s, want %d", status, said, back, http.StatusOK)
		}
	})
}

// After the last round that is answered, the model learns that no more can be recalled, so
// that the caller gets an answer in words.
func TestTheModelLearnsThatNoMoreCanBeRecalled(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		r, body, ref := recalling(t, f)
		r.server.Answer(slices.Repeat([]provider.Answer{{Calls: []provider.Call{recallOf(ref)}}}, 9)...)
		r.server.Answer(provider.Answer{Text: "That is all."})
		status, answer := r.post(f, body)
		got := r.got()
		if sent := got[len(got)-1]; status != http.StatusOK || strings.Count(sent, "no more can be recalled") != 1 || strings.Contains(got[len(got)-2], "no more can be recalled") {
			t.Errorf("%d %s; the model got %s, want %d", status, answer, tail(sent, 600), http.StatusOK)
		}
		if !strings.Contains(answer, "all.") || strings.Contains(answer, "recall") {
			t.Errorf("%s, want text with %q and text without %q", answer, "all.", "recall")
		}
		r.allOK(f)
	})
}

// prepared answers one request, with items that the provider knows as its own.
type prepared struct {
	inner  http.RoundTripper
	at     int
	answer string
	n      int
}

func (c *prepared) RoundTrip(q *http.Request) (*http.Response, error) {
	c.n++
	if c.n-1 != c.at {
		return c.inner.RoundTrip(q)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: unclosed(c.answer), Request: q}, nil
}

// An answer can have reasoning before each of several recall calls. The caller sends all of
// it back, and it is there once, with its calls.
func TestReasoningBetweenRecallsIsSentOnce(t *testing.T) {
	f := forms()[3].withTools()
	c := &prepared{inner: http.DefaultTransport, at: 1}
	r, body, ref := recalling(t, f, transport.Base(c))
	var items []string
	for k := range 2 {
		items = append(items, fmt.Sprintf(`{"type":"reasoning","id":"rs_9%d","encrypted_content":"sealed%d","summary":[]}`, k, k),
			fmt.Sprintf(`{"type":"function_call","id":"fc_9%d","call_id":"call_9%d","name":"recall","arguments":"{\"ref\":\"%s\"}","status":"completed"}`, k, k, ref))
	}
	all := strings.Join(items, ",")
	r.server.Judge(provider.Responses).Issue([]byte(`{"input":[` + all + `]}`))
	c.answer = `data: {"type":"response.created","response":{"id":"resp_90","object":"response","output":[]}}` + "\n\n"
	for i, item := range items {
		begun := strings.NewReplacer(`"encrypted_content":`, `"other":`, `\"ref`, `\"r`).Replace(item)
		c.answer += fmt.Sprintf(`data: {"type":"response.output_item.added","output_index":%d,"item":%s}`, i, begun) + "\n\n"
		c.answer += fmt.Sprintf(`data: {"type":"response.output_item.done","output_index":%d,"item":%s}`, i, item) + "\n\n"
	}
	c.answer += `data: {"type":"response.completed","response":{"id":"resp_90","object":"response","status":"completed","output":[` + all + `]}}` + "\n\n"
	r.server.Answer(provider.Answer{Text: "It is a word."})
	status, answer := r.post(f, body)
	if status != http.StatusOK || strings.Contains(answer, `"recall"`) {
		t.Fatalf("%d %s, want %d and text without %q", status, answer, http.StatusOK, `"recall"`)
	}
	back := append(sentBack(t, f, answer), nextQuestion[f.wire])
	status, said := r.post(f, more(body, strings.Join(back, ",")))
	if sent := r.got()[len(r.got())-1]; status != http.StatusOK || strings.Count(sent, `"rs_91"`) != 1 || strings.Count(sent, `"call_91"`) != 2 {
		t.Errorf("%d %s; sent %s, want %d", status, said, tail(sent, 1500), http.StatusOK)
	}
}
