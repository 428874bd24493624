package transport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// readTool declares the tool of the shapes.
var readTool = map[provider.Wire]string{
	provider.Chat:      `"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]`,
	provider.Responses: `"tools":[{"type":"function","name":"read","parameters":{"type":"object"}}]`,
	provider.Anthropic: `"tools":[{"name":"read","input_schema":{"type":"object"}}]`,
	provider.Gemini:    `"tools":[{"functionDeclarations":[{"name":"read","parameters":{"type":"OBJECT"}}]}]`,
}

// texts are an answer in words on each wire, as a caller sends it back, and the
// next question.
var texts = map[provider.Wire]string{
	provider.Chat:      `{"role":"assistant","content":%q},{"role":"user","content":"next"}`,
	provider.Responses: `{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]},{"role":"user","content":"next"}`,
	provider.Anthropic: `{"role":"assistant","content":[{"type":"text","text":%q}]},{"role":"user","content":"next"}`,
	provider.Gemini:    `{"role":"model","parts":[{"text":%q}]},{"role":"user","parts":[{"text":"next"}]}`,
}

func (f form) withTools() form {
	f.fields += "," + readTool[f.wire]
	return f
}

// more returns a body with more elements at its end.
func more(body, elems string) string { return strings.TrimSuffix(body, "]}") + "," + elems + "]}" }

// recalling returns a rig with a compacted session "s", and a reference of its view.
func recalling(t *testing.T, f form, opts ...transport.Option) (r *rig, body, ref string) {
	t.Helper()
	r = newRig(t, compact.Config{MaxContextTokens: window / 2}, append([]transport.Option{transport.Recall()}, opts...)...)
	body = f.body("hi", 60, 150)
	if status, answer := r.post(f, body); status != http.StatusOK {
		t.Fatalf("%v: %d %s, want %d", f, status, answer, http.StatusOK)
	}
	return r, body, lastRef(t, r.got()[0])
}

// lastRef returns the reference of the last placeholder; the definition of the tool
// holds an example of one.
func lastRef(t *testing.T, body string) string {
	t.Helper()
	found := recallRef.FindAllStringSubmatch(body, -1)
	if len(found) < 2 {
		t.Fatalf("the view names no reference: %.300s", body)
	}
	if last := found[len(found)-1][1]; last != "3f9a2c1b77de" {
		return last
	}
	return found[0][1]
}

func recallOf(ref string) provider.Call {
	return provider.Call{Name: "recall", Args: `{"ref":"` + ref + `"}`}
}

// allOK fails if the provider refused a request.
func (r *rig) allOK(f form) {
	r.t.Helper()
	for i, q := range r.server.Requests() {
		if q.Status != http.StatusOK {
			r.t.Fatalf("%v: request %d was answered with %d, want %d", f, i, q.Status, http.StatusOK)
		}
	}
	r.quiet()
}

func eachForm(t *testing.T, test func(t *testing.T, f form)) {
	for _, f := range forms() {
		t.Run(f.String(), func(t *testing.T) { test(t, f.withTools()) })
	}
}

func TestRecallIsAnsweredByTheTransport(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		r, body, ref := recalling(t, f)
		r.server.Answer(provider.Answer{Text: "Let me see.", Calls: []provider.Call{recallOf(ref)}}, provider.Answer{Calls: []provider.Call{recallOf("turn:4")}},
			provider.Answer{Text: "It is a word."})
		before := len(r.got())
		status, answer := r.post(f, body)
		if status != http.StatusOK || !strings.Contains(answer, "word") || strings.Contains(answer, "recall") || strings.Contains(answer, "Let") != f.flows() {
			t.Fatalf("%d %s, want %d, text with %q and text without %q", status, answer, http.StatusOK, "word", "recall")
		}
		back := fmt.Sprintf(texts[f.wire], "It is a word.")
		if f.flows() && f.wire == provider.Responses { // an item for each
			before, _, _ := strings.Cut(fmt.Sprintf(texts[f.wire], "Let me see."), `,{"role":"user"`)
			back = before + "," + back
		} else if f.flows() {
			back = fmt.Sprintf(texts[f.wire], "Let me see.\n\nIt is a word.")
		}
		got := r.got()[before:]
		if len(got) != 3 || strings.Count(got[1], "word word word") <= strings.Count(got[0], "word word word") {
			t.Fatalf("%d requests; the second contains the recalled text: %v", len(got), len(got) > 1 && strings.Contains(got[1], "word word"))
		}
		// The round keeps its place.
		if status, answer = r.post(f, more(body, back)); status != http.StatusOK {
			t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
		}
		next := r.got()[before+3]
		head := strings.TrimSuffix(got[2], "]}")
		if !strings.HasPrefix(next, head) {
			t.Errorf("the prefix of the request after it differs:\n%.300s\n%.300s", tail(head, 600), tail(next, 900))
		}
		r.allOK(f)
	})
}

// flows reports whether an answer is a stream of events.
func (f form) flows() bool {
	return f.stream
}

// array reports whether its stream is a JSON array.
func (f form) array() bool {
	return f.stream && f.wire == provider.Gemini && !strings.HasSuffix(f.path, "alt=sse")
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// callAgain returns the round in which a caller answers the call of the shapes.
func (f form) callAgain(n int) string {
	return fmt.Sprintf(shapes[f.wire].round, n, "what was read")
}

// callAgainAfter returns that round with words before the call.
func (f form) callAgainAfter(words string, n int) string {
	back := f.callAgain(n)
	switch f.wire {
	case provider.Gemini: // the text is in the same content
		return strings.Replace(back, `"parts":[`, `"parts":[{"text":"`+words+`"},`, 1)
	case provider.Anthropic:
		return strings.Replace(back, `"content":[`, `"content":[{"type":"text","text":"`+words+`"},`, 1)
	case provider.Chat:
		return strings.Replace(back, `"content":null`, `"content":"`+words+`"`, 1)
	}
	return `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + words + `"}]},` + back
}

func TestRecallWithOtherCalls(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		for _, first := range []bool{true, false} {
			r, body, ref := recalling(t, f)
			read := provider.Call{ID: "c900", Name: "read", Args: `{"n":900}`}
			if f.wire == provider.Gemini {
				read.ID = ""
			}
			calls := []provider.Call{read, recallOf(ref)}
			if first {
				calls = []provider.Call{recallOf(ref), read}
			}
			r.server.Answer(provider.Answer{Text: "Both.", Calls: calls})
			before := len(r.got())
			status, answer := r.post(f, body)
			if status != http.StatusOK || strings.Contains(answer, "recall") || !strings.Contains(answer, `"read"`) || !strings.Contains(answer, "Both") {
				t.Fatalf("%d %s, want %d, text without %q, text with %q and text with %q", status, answer, http.StatusOK, "recall", `"read"`, "Both")
			}
			back := f.callAgainAfter("Both.", 900)
			if status, answer = r.post(f, more(body, back)); status != http.StatusOK {
				t.Fatalf("first %v: %d %s\n%s\nwant %d", first, status, answer, tail(r.got()[len(r.got())-1], 1500), http.StatusOK)
			}
			got := r.got()
			last := got[len(got)-1]
			if len(got) != before+2 || strings.Count(last, ref) != strings.Count(got[before], ref)+1 || strings.Count(last, "word word word") <= strings.Count(got[before], "word word word") {
				t.Errorf("first %v: %d requests; the last does not contain the recalled text: %s", first, len(got)-before, tail(last, 1200))
			}
			r.allOK(f)
		}
	})
}

func TestRecallIsBounded(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		r, body, ref := recalling(t, f)
		r.server.Reply = func(provider.Request) provider.Answer {
			return provider.Answer{Text: "Again.", Calls: []provider.Call{recallOf(ref)}}
		}
		before := len(r.got())
		status, answer := r.post(f, body)
		if n := len(r.got()) - before; status != http.StatusOK || n != 10 || strings.Contains(answer, "recall") || !strings.Contains(answer, "Again") ||
			strings.Contains(answer, `"tool_calls"`) || strings.Contains(answer, `"tool_use"`) {
			t.Errorf("%d requests; %d %s", n, status, answer)
		}
		r.allOK(f)
	})
}

func TestErrorsOfTheInnerCallReachTheCaller(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		r, body, ref := recalling(t, f)
		r.client.Transport.(*transport.Transport).Pauses(func(time.Duration) {})
		r.server.Reply = func(provider.Request) provider.Answer {
			for range 3 {
				r.server.Fail(provider.Failure{Status: http.StatusServiceUnavailable})
			}
			return provider.Answer{Text: "Let me see.", Calls: []provider.Call{recallOf(ref)}}
		}
		want := http.StatusServiceUnavailable
		if f.flows() {
			want = http.StatusOK // the answer had begun
		}
		status, answer := r.post(f, body)
		if status != want || !strings.Contains(answer, `"error"`) || strings.Contains(answer, "recall") {
			t.Errorf("%d %s, want %d, text with %q and text without %q", status, answer, want, `"error"`, "recall")
		}
		if f.array() {
			eventsOf(t, answer)
			answer = strings.ReplaceAll(answer, "\n{", "\ndata: {")
		}
		if last := strings.LastIndex(answer, "data: "); f.flows() && (!strings.Contains(answer[:last], "Let") || !strings.Contains(answer[last:], `"error":{`)) {
			t.Errorf("the error is not the end of a stream that has begun: %s", answer)
		}
	})
}

// The caller of a stream has already received its beginning and can't send the
// request again. The transport therefore retries an inner call after a transient
// failure.
func TestInnerCallsOfAStreamAreRetried(t *testing.T) {
	for _, c := range []struct {
		fails []provider.Failure
		waits string
	}{
		{[]provider.Failure{{Status: 503}}, "[500ms]"},
		{[]provider.Failure{{Status: 429, RetryAfter: 3 * time.Second}, {Status: 500}}, "[3s 1s]"},
		{[]provider.Failure{{Status: 400}}, "[]"},
		{[]provider.Failure{{Status: 429, RetryAfter: time.Hour}}, "[8s]"},
	} {
		for _, f := range []form{forms()[1], forms()[1].withTools()} {
			r, body, ref := recalling(t, f)
			waits := []time.Duration{}
			r.client.Transport.(*transport.Transport).Pauses(func(d time.Duration) { waits = append(waits, d) })
			said := 0
			r.server.Reply = func(provider.Request) provider.Answer {
				if said++; said > 1 {
					return provider.Answer{Text: "Done."}
				}
				r.server.Fail(c.fails...)
				return provider.Answer{Calls: []provider.Call{recallOf(ref)}}
			}
			before := len(r.got())
			_, answer := r.post(f, body)
			if fmt.Sprint(waits) != c.waits || strings.Contains(answer, "Done.") == strings.Contains(answer, `"error"`) || strings.Contains(answer, "Done.") != (c.waits != "[]") {
				t.Errorf("%v: waited %v; %s", c.fails, waits, answer)
			}
			asked := r.got()[before+1:]
			for i, again := range asked {
				if again != asked[0] {
					t.Errorf("%v: attempt %d differs from the first one: %d bytes, %d", c.fails, i+2, len(again), len(asked[0]))
				}
			}
		}
	}
}

// declared finds the definition of the tool in a body.
var declared = regexp.MustCompile(`"name":"recall"`)

func TestRequestsDeclareTheRecallTool(t *testing.T) {
	for _, f := range forms() {
		small, large := f.body("hi", 1, 5), f.body("hi", 60, 300)
		r := newRig(t, compact.Config{}, transport.Recall())
		r.post(f, small)
		if declared.MatchString(r.got()[0]) || r.got()[0] != small {
			t.Errorf("%v: a conversation without tools gets the tool before there is anything to recall", f)
		}
		r.post(f, large)
		if !declared.MatchString(r.got()[1]) {
			t.Errorf("%v: a conversation without tools does not get the tool at its first compaction", f)
		}
		r.post(f.withTools(), f.withTools().body("hi", 1, 5))
		if !declared.MatchString(r.got()[2]) {
			t.Errorf("%v: a conversation with tools does not get the tool in its first request", f)
		}
		own := f
		own.fields += "," + strings.ReplaceAll(readTool[f.wire], `"read"`, `"recall"`)
		body := own.body("hi", 1, 5)
		r.server.Answer(provider.Answer{Calls: []provider.Call{{Name: "recall", Args: `{"q":1}`}}})
		if _, answer := r.post(own, body); r.got()[3] != body || !strings.Contains(answer, `"recall"`) {
			t.Errorf("%v: the caller's tool was changed: %s", f, answer)
		}
		r.allOK(f)
	}
}

// A request for several answers does not get the tool: a call of it in one of them would
// reach the caller, who does not have this tool.
func TestRequestsForSeveralAnswersDoNotDeclareTheRecallTool(t *testing.T) {
	for _, f := range forms() {
		one, several := map[provider.Wire]string{provider.Chat: `"n":1`, provider.Gemini: `"generation_config":{"candidate_count":1}`}[f.wire],
			map[provider.Wire]string{provider.Chat: `"n":2`, provider.Gemini: `"generation_config":{"candidate_count":2}`}[f.wire]
		if one == "" {
			continue // the wire has one answer
		}
		r := newRig(t, compact.Config{}, transport.Recall())
		for i, fields := range []string{one, several, strings.ReplaceAll(strings.ReplaceAll(several, "generation_config", "generationConfig"), "candidate_count", "candidateCount")} {
			own := f.withTools()
			own.fields = fields + "," + strings.ReplaceAll(own.fields, `"generationConfig":{},`, "")
			r.post(own, own.body("hi", 60, 300))
			if got := r.got()[i]; declared.MatchString(got) != (fields == one) {
				t.Errorf("%v, %s: declared %v", f, fields, fields != one)
			}
		}
		r.allOK(f)
	}
}

// The tools precede the cached part of a prompt, so a changed declaration would
// invalidate the cache.
func TestTheDeclarationNeverChanges(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		r := newRig(t, compact.Config{}, transport.Recall())
		r.post(f, f.body("hi", 1, 5))
		r.post(f, f.body("hi", 60, 300))
		got := r.got()
		at, end := strings.Index(got[0], `"tools"`), strings.Index(got[0], `, "unknown"`)
		if at < 0 || end < at || !strings.HasPrefix(got[1], got[0][:end]) {
			t.Errorf("the declaration changed:\n%.900s\n%.900s", got[0], got[1])
		}
		r.allOK(f)
	})
}

// Conversations with the same beginning and no name share a session. The model of one
// conversation must not read texts of the other.
func TestRecallInAnUnnamedSessionReadsOnlyItsConversation(t *testing.T) {
	for _, fields := range []string{"", `,"user":"u"`, `,"prompt_cache_key":"k"`} {
		f := forms()[0].withTools()
		f.fields += fields
		r := newRig(t, compact.Config{}, transport.Recall())
		body := f.body("hi", 60, 300)
		r.unnamed(f, body)
		ref := lastRef(t, r.got()[0])
		for _, c := range []struct {
			ref  string
			want bool
		}{{ref, true}, {"turn:3", false}, {"ffffffffffff", false}} {
			r.server.Answer(provider.Answer{Calls: []provider.Call{recallOf(c.ref)}})
			r.unnamed(f, body)
			got := r.got()
			if is := strings.Count(got[len(got)-1], "word word word") > strings.Count(got[0], "word word word"); is != c.want {
				t.Errorf("%s %s: recalled %v, want %v", fields, c.ref, is, c.want)
			}
		}
		long := f.body("hi", 400, 300) // with a summary, which cites messages by numbers
		r.unnamed(f, long)
		summary := len(r.got()) - 1
		r.server.Answer(provider.Answer{Calls: []provider.Call{recallOf("s2")}})
		r.unnamed(f, long)
		if got := r.got(); !strings.Contains(got[summary], "COMPACT-SUMMARY") || strings.Count(got[len(got)-1], "file 0: word") != strings.Count(got[summary], "file 0: word")+1 {
			t.Errorf("%s s2: not recalled, %d requests", fields, len(got))
		}
		r.allOK(f)
	}
}

func TestRoundsWithASecretAreNotKept(t *testing.T) {
	secret := "ghp_" + "x8Kq2LmZ0pWv7Rt3" + "Yb9Nc5Hd1Fg4Js6Aa0Qe"
	eachForm(t, func(t *testing.T, f form) {
		r, body, ref := recalling(t, f)
		next := more(body, fmt.Sprintf(texts[f.wire], "Done."))
		r.server.Answer(provider.Answer{Calls: []provider.Call{{Name: "recall", Args: `{"ref":"` + ref + `","pattern":"` + secret + `"}`}}}, provider.Answer{Text: "Done."})
		r.post(f, body)
		r.post(f, next)
		got := r.got()
		if !strings.Contains(got[2], secret) || strings.Contains(got[3], secret) {
			t.Errorf("a round with a secret is kept")
		}
		// A history that is equal only at its end does not get the round.
		r.server.Answer(provider.Answer{Calls: []provider.Call{recallOf("turn:5")}}, provider.Answer{Text: "Done."})
		r.post(f, body)
		r.post(f, strings.Replace(next, "file 40:", "other file:", 1))
		got = r.got()
		if strings.Contains(got[len(got)-1], "turn:5") {
			t.Error("a round of another history is inserted")
		}
		if r.post(f, next); !strings.Contains(r.got()[len(got)], "turn:5") {
			t.Error("the round of this history is not restored: the test proves nothing")
		}
		r.allOK(f)
	})
}

func TestInnerCallsHaveIdempotencyKeysOfTheirOwn(t *testing.T) {
	f := forms()[0].withTools()
	r, body, ref := recalling(t, f)
	r.server.Answer(provider.Answer{Calls: []provider.Call{recallOf(ref)}}, provider.Answer{Calls: []provider.Call{recallOf("turn:2")}})
	req := r.request(transport.WithSession(context.Background(), "s"), f.path, body)
	req.Header.Set("Idempotency-Key", "k")
	r.do(req)
	seen := map[string]bool{}
	for _, q := range r.server.Requests()[1:] {
		seen[q.Header.Get("Idempotency-Key")] = true
	}
	if len(seen) != 3 || !seen["k"] {
		t.Errorf("keys %v", seen)
	}
}

func TestRecallBillsEachInnerCall(t *testing.T) {
	f := forms()[0].withTools()
	r, body, ref := recalling(t, f)
	var seen []int
	r.server.Reply = func(q provider.Request) provider.Answer {
		if seen = append(seen, q.Prompt); len(seen) < 3 {
			return provider.Answer{Calls: []provider.Call{recallOf(ref)}}
		}
		return provider.Answer{Text: "ok"}
	}
	before := len(r.results)
	r.post(f, body)
	if len(seen) != 3 || len(r.results)-before != 3 || r.results[before+2].After.Total <= r.results[before].After.Total {
		t.Errorf("%d calls, %d results; want 3 and 3", len(seen), len(r.results)-before)
	}
}

// The caller of a stream gets a well-formed stream.
func TestStreamsWithoutOurCallsAreWellFormed(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		if !f.stream {
			t.Skip("no stream")
		}
		r, body, ref := recalling(t, f)
		r.server.Answer(provider.Answer{Text: "Both.", Calls: []provider.Call{recallOf(ref), {Name: "read", Args: `{"n":1}`}, recallOf("turn:2"), {Name: "read", Args: `{"n":2}`}}})
		_, answer := r.post(f, body)
		var indices []string
		for line := range strings.Lines(answer) {
			data := strings.Trim(strings.TrimPrefix(line, "data:"), "[], \r\n") // Gemini's array, too
			if strings.HasPrefix(data, "{") && !json.Valid([]byte(data)) {
				t.Errorf("%q is not JSON", data)
			}
			for _, m := range regexp.MustCompile(`"(?:output_index|index)": ?(\d+)`).FindAllStringSubmatch(data, -1) {
				indices = append(indices, m[1])
			}
		}
		for _, i := range indices {
			if i > "2" {
				t.Errorf("a gap in the indices: %v", indices)
			}
		}
		if strings.Contains(answer, "recall") || strings.Count(answer, `"read"`) < 2 {
			t.Errorf("%s, want text without %q", answer, "recall")
		}
		r.quiet()
	})
}

func ExampleRecall() {
	var m *compact.CompactManager // compact.New(ctx, compact.Config{…})
	client := &http.Client{Transport: transport.New(m, transport.Recall())}
	_ = client
	_ = context.Background()
	// Output:
}

// closing counts the bodies that were not closed.
type closing struct {
	base http.RoundTripper
	open atomic.Int64
}

type closes struct {
	io.ReadCloser
	once sync.Once
	of   *closing
}

func (c *closing) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.base.RoundTrip(req)
	if err == nil {
		c.open.Add(1)
		resp.Body = &closes{ReadCloser: resp.Body, of: c}
	}
	return resp, err
}

func (c *closes) Close() error {
	c.once.Do(func() { c.of.open.Add(-1) })
	return c.ReadCloser.Close()
}

func TestHiddenAnswersAreClosed(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		base := &closing{base: http.DefaultTransport}
		r, body, ref := recalling(t, f, transport.Base(base))
		r.server.Answer(provider.Answer{Calls: []provider.Call{recallOf(ref)}}, provider.Answer{Text: "ok"})
		if status, answer := r.post(f, body); status != http.StatusOK {
			t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
		}
		if n := base.open.Load(); n != 0 {
			t.Errorf("%d answers are open, want 0", n)
		}
	})
}
