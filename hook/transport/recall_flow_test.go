package transport_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// eachFlow runs a test with each wire's stream of events.
func eachFlow(t *testing.T, test func(t *testing.T, f form)) {
	eachForm(t, func(t *testing.T, f form) {
		if !f.flows() {
			t.Skip("no stream of events")
		}
		test(t, f)
	})
}

// recordedAs returns the answer of the server on a wire, event by event.
func recordedAs(t *testing.T, f form, a provider.Answer) []string {
	t.Helper()
	r := newRig(t, compact.Config{})
	r.server.Answer(a)
	_, answer := r.post(f, f.body("hi", 1, 5))
	if f.array() {
		return elementsIn(t, answer)
	}
	return slices.DeleteFunc(strings.SplitAfter(answer, "\n\n"), func(e string) bool { return e == "" })
}

// elementsIn returns the elements of an array, each with its separator, and the last
// one with the array's end.
func elementsIn(t *testing.T, answer string) (out []string) {
	t.Helper()
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(answer), &all); err != nil || len(all) == 0 {
		t.Fatalf("%v: %s", err, answer)
	}
	for _, e := range all {
		out = append(out, ",\r\n"+string(e))
	}
	out[0] = "[" + strings.TrimPrefix(out[0], ",\r\n")
	out[len(out)-1] += "\n]\n"
	return out
}

// playing answers with recorded events. After each event that the caller should have
// received, it waits until the caller has that many.
type playing struct {
	answers [][]string
	kind    string
	read    chan struct{} // the caller has one more
	n       int
}

func (p *playing) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	_, _ = io.Copy(io.Discard, q.Body)
	first := p.n == 0
	events := p.answers[p.n]
	p.n++
	w.Header().Set("Content-Type", cmp.Or(p.kind, "text/event-stream"))
	want, ours := 0, false
	for _, e := range events {
		_, _ = io.WriteString(w, e)
		w.(http.Flusher).Flush()
		ours = ours || strings.Contains(e, "recall")
		if ours || !first && (strings.Contains(e, "message_start") || strings.Contains(e, "response.created")) {
			continue
		}
		want++
		if waits(e) {
			continue
		}
		for ; want > 0; want-- {
			<-p.read
		}
	}
}

// waits reports whether an event is held until the next one arrives. Held are events
// that only announce an answer, and events that end reasoning, because a recall call
// may follow.
func waits(e string) bool {
	return strings.Contains(e, "response.created") || strings.Contains(e, "signature_delta") || strings.Contains(e, `"index":0,"type":"content_block_stop"`) ||
		strings.Contains(e, "response.output_item.done") && strings.Contains(e, `"reasoning"`)
}

// Text, reasoning and the calls of other tools reach the caller before the provider
// sends the next event, even if the model recalls, and in the answer after that.
func TestStreamsFlowDuringRecalls(t *testing.T) {
	eachFlow(t, func(t *testing.T, f form) {
		recalls := provider.Call{ID: "ours", Name: "recall", Args: `{"ref":"turn:1"}`}
		one := recordedAs(t, f, provider.Answer{Reasoning: "Hm, what was it.", Text: "One two three.", Calls: []provider.Call{recalls}})
		two := recordedAs(t, f, provider.Answer{Reasoning: "I see.", Text: "Four five.", Calls: []provider.Call{{ID: "c1", Name: "read", Args: `{"n":1}`}}})
		p := &playing{answers: [][]string{one, two}, read: make(chan struct{})}
		readAll := readEvents
		if f.array() {
			p.kind, readAll = "application/json; charset=UTF-8", readElements
		}
		back := httptest.NewServer(p)
		defer back.Close()

		r, body, _ := recalling(t, f)
		r.url = back.URL
		resp, err := r.client.Do(r.request(transport.WithSession(context.Background(), "s"), f.path, body))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		got := readAll(t, resp.Body, p.read)
		if p.n != 2 || strings.Contains(got, "recall") || !strings.Contains(got, "three") || !strings.Contains(got, "five") || !strings.Contains(got, `"read"`) {
			t.Errorf("%d requests: %s, want 2, text without %q, text with %q and text with %q", p.n, got, "recall", "three", "five")
		}
	})
}

// readEvents reads a stream, and signals each event.
func readEvents(t *testing.T, body io.Reader, read chan<- struct{}) string {
	t.Helper()
	var got strings.Builder
	in := bufio.NewReader(body)
	for {
		line, err := in.ReadString('\n')
		got.WriteString(line)
		if err != nil {
			return got.String()
		}
		if line == "\n" {
			select {
			case read <- struct{}{}:
			case <-time.After(time.Minute):
				t.Fatalf("no reader waits for %s", got.String())
			}
		}
	}
}

// readElements reads an array, and signals each element.
func readElements(t *testing.T, body io.Reader, read chan<- struct{}) string {
	t.Helper()
	var got strings.Builder
	in := json.NewDecoder(io.TeeReader(body, &got))
	begin, err := in.Token()
	for err == nil && in.More() {
		var one json.RawMessage
		if err = in.Decode(&one); err == nil {
			select {
			case read <- struct{}{}:
			case <-time.After(time.Minute):
				t.Fatalf("no reader waits for %s", got.String())
			}
		}
	}
	if end, ended := in.Token(); err != nil || begin != json.Delim('[') || end != json.Delim(']') || ended != nil {
		t.Errorf("%v, %v: %s; want no error and none", err, ended, got.String())
	}
	return got.String()
}

// Several answers reach the caller as one stream in the provider's form.
func TestConsecutiveAnswersFormOneStream(t *testing.T) {
	eachFlow(t, func(t *testing.T, f form) {
		r, body, ref := recalling(t, f)
		read := provider.Call{ID: "c900", Name: "read", Args: `{"n":900}`}
		r.server.Answer(
			provider.Answer{Reasoning: "Hm.", Text: "One two.", Calls: []provider.Call{recallOf(ref)}, Output: 10},
			provider.Answer{Reasoning: "Hm, once more.", Calls: []provider.Call{recallOf("turn:3")}, Output: 20},
			provider.Answer{Text: "Three.", Calls: []provider.Call{recallOf("turn:4")}, Output: 40},
			provider.Answer{Reasoning: "Yes.", Text: "Four.", Calls: []provider.Call{recallOf("turn:5"), read}, Output: 80},
		)
		before := len(r.got())
		status, answer := r.post(f, body)
		if status != http.StatusOK || len(r.got())-before != 4 || strings.Contains(answer, `"recall"`) {
			t.Fatalf("%d, %d requests: %s; want %d, 4 and text without %q", status, len(r.got())-before, answer, http.StatusOK, `"recall"`)
		}
		checks := map[provider.Wire]func(*testing.T, []map[string]any){
			provider.Chat: checkChat, provider.Responses: checkResponses, provider.Anthropic: checkAnthropic, provider.Gemini: checkGemini,
		}
		checks[f.wire](t, eventsOf(t, answer))
		if last := strings.LastIndex(answer, "150"); last < 0 {
			t.Errorf("the tokens of the answers are not added up: %s", answer)
		}
		r.allOK(f)
	})
}

func eventsOf(t *testing.T, answer string) (out []map[string]any) {
	t.Helper()
	if strings.HasPrefix(answer, "[") {
		if err := json.Unmarshal([]byte(answer), &out); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
		return out
	}
	for line := range strings.Lines(answer) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || strings.HasPrefix(data, "[DONE]") {
			continue
		}
		var o map[string]any
		if err := json.Unmarshal([]byte(data), &o); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		out = append(out, o)
	}
	return out
}

// at follows a path of names, and of the first element of lists.
func at(v any, path ...string) any {
	for _, name := range path {
		if l, ok := v.([]any); ok && len(l) > 0 {
			v = l[0]
		}
		o, _ := v.(map[string]any)
		v = o[name]
	}
	return v
}

func kinds(events []map[string]any) string {
	var out []string
	for _, e := range events {
		kind := strings.TrimPrefix(fmt.Sprint(e["type"]), "response.")
		if len(out) == 0 || out[len(out)-1] != kind {
			out = append(out, kind)
		}
	}
	return strings.Join(out, " ")
}

func checkAnthropic(t *testing.T, events []map[string]any) {
	t.Helper()
	open, next := -1, 0
	for _, e := range events {
		index, _ := e["index"].(float64)
		switch e["type"] {
		case "content_block_start":
			if open >= 0 || int(index) != next {
				t.Errorf("block %v begins, %d is open, %d is next", index, open, next)
			}
			open, next = next, next+1
		case "content_block_delta", "content_block_stop":
			if int(index) != open {
				t.Errorf("%v of block %v, %d is open", e["type"], index, open)
			}
			if e["type"] == "content_block_stop" {
				open = -1
			}
		}
	}
	if got := kinds(events); strings.Count(got, "message_start") != 1 || strings.Count(got, "message_delta") != 1 || !strings.HasSuffix(got, "message_delta message_stop") || next != 7 {
		t.Errorf("%d blocks: %s, want 7 and text that ends with %q", next, got, "message_delta message_stop")
	}
	if end := events[len(events)-2]; at(end, "delta", "stop_reason") != "tool_use" || at(end, "usage", "input_tokens").(float64) == 0 {
		t.Errorf("it ends with %v", end)
	}
}

func checkResponses(t *testing.T, events []map[string]any) {
	t.Helper()
	next, done := 0, []any{}
	for i, e := range events {
		if e["sequence_number"] != float64(i) {
			t.Errorf("event %d is %v", i, e["sequence_number"])
		}
		switch e["type"] {
		case "response.output_item.added":
			if e["output_index"] != float64(next) {
				t.Errorf("item %v, %d is next", e["output_index"], next)
			}
			next++
		case "response.output_item.done":
			if e["output_index"] != float64(len(done)) {
				t.Errorf("item %v is done, after %d", e["output_index"], len(done))
			}
			done = append(done, e["item"])
		}
	}
	got, end := kinds(events), events[len(events)-1]
	if strings.Count(got, "created") != 1 || !strings.HasSuffix(got, " completed") || strings.Count(got, "completed") != 1 || at(end, "response", "id") != at(events[0], "response", "id") {
		t.Errorf("%s; %v, want text that ends with %q", got, end, " completed")
	}
	if output := at(end, "response", "output"); fmt.Sprint(output) != fmt.Sprint(done) || len(done) != 7 {
		t.Errorf("the last event has\n%v\nfor\n%v", output, done)
	}
}

func checkChat(t *testing.T, events []map[string]any) {
	t.Helper()
	text, roles, ends := "", 0, []any{}
	for _, e := range events {
		if e["id"] != events[0]["id"] {
			t.Errorf("the id is %v, then %v", events[0]["id"], e["id"])
		}
		delta, _ := at(e["choices"], "delta").(map[string]any)
		if s, ok := delta["content"].(string); ok {
			text += s
		}
		if delta["role"] != nil {
			roles++
		}
		if delta["tool_calls"] != nil && at(delta["tool_calls"], "index") != 0.0 {
			t.Errorf("the call has the index %v", at(delta["tool_calls"], "index"))
		}
		if end := at(e["choices"], "finish_reason"); end != nil {
			ends = append(ends, end)
		}
	}
	if text != "One two.\n\nThree.\n\nFour." || roles != 1 || fmt.Sprint(ends) != "[tool_calls]" {
		t.Errorf("%q, %d roles, ends %v; want %q and 1", text, roles, ends, "One two.\n\nThree.\n\nFour.")
	}
}

func checkGemini(t *testing.T, events []map[string]any) {
	t.Helper()
	text, ends := "", 0
	for i, e := range events {
		if e["responseId"] != events[0]["responseId"] {
			t.Errorf("the id is %v, then %v", events[0]["responseId"], e["responseId"])
		}
		parts, _ := at(e["candidates"], "content", "parts").([]any)
		for _, p := range parts {
			if s, ok := at(p, "text").(string); ok && at(p, "thought") == nil {
				text += s
			}
		}
		if at(e["candidates"], "finishReason") != nil {
			if ends++; i != len(events)-1 {
				t.Errorf("event %d of %d ends the answer", i, len(events))
			}
		}
	}
	if text != "One two.\n\nThree.\n\nFour." || ends != 1 {
		t.Errorf("%q, %d ends; want %q and 1", text, ends, "One two.\n\nThree.\n\nFour.")
	}
}
