package token_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/token"
)

// counting is a counter that counts its calls.
type counting struct {
	token.Counter
	mu    sync.Mutex
	calls int
}

func (c *counting) Count(text string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	return c.Counter.Count(text)
}

func withCounter(t testing.TB, model string, c token.Counter, o *token.EstimatorOptions) *token.Estimator {
	t.Helper()
	e, err := token.NewEstimator(model, c, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// conversation returns a session with tool calls in the chat format.
func conversation(t testing.TB) []message.Message {
	t.Helper()
	var msgs []message.Message
	for _, line := range []string{
		`{"role":"system","content":"Be brief."}`,
		`{"role":"developer","content":"Use tools."}`,
		`{"role":"user","name":"ann","content":[{"type":"text","text":"What is in a.go and b.go?"}]}`,
		`{"role":"assistant","content":null,"reasoning_content":"Two files: read both.","tool_calls":[` +
			`{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.go\"}"}},` +
			`{"id":"c2","type":"function","function":{"name":"grep","arguments":"{\"pattern\":\"func\"}"}}]}`,
		`{"role":"tool","tool_call_id":"c1","content":"package a"}`,
		`{"role":"tool","tool_call_id":"c2","content":"b.go:3: func b() {}"}`,
		`{"role":"tool","tool_call_id":"gone","content":"an orphan"}`,
		`{"role":"assistant","content":"Packages a and b."}`,
	} {
		m, err := openai.ParseMessage([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		msgs = append(msgs, m)
	}
	return msgs
}

func TestEstimatorCountsAMessageOnlyOnce(t *testing.T) {
	c := &counting{Counter: token.Bytes4}
	e := withCounter(t, "gpt-4o", c, nil)
	msgs := conversation(t)
	first := e.Messages(msgs)
	asked := c.calls
	if asked == 0 {
		t.Fatal("the counter was not asked")
	}
	if again := e.Messages(conversation(t)); again != first || c.calls != asked {
		t.Errorf("%d and %d tokens, %d more calls of the counter for content that was seen", first, again, c.calls-asked)
	}
	if b, err := e.Breakdown(context.Background(), msgs, nil, nil); err != nil || b.Total() != first+e.Reply() || c.calls != asked {
		t.Errorf("the breakdown has %d tokens, want %d; %d more calls (%v)", b.Total(), first+e.Reply(), c.calls-asked, err)
	}
	tools := []byte(weatherWires()["chat"])
	e.Tools(tools)
	asked = c.calls
	if e.Tools(append([]byte(nil), tools...)); c.calls != asked {
		t.Errorf("the schemas were counted again")
	}
}

func TestEstimatorDistinguishesMessagesWithOneFingerprint(t *testing.T) {
	e := estimator(t, "gpt-4o")
	image := func(width int, detail string) message.Message {
		m := message.User("")
		m.Parts = []message.Part{{Kind: message.KindImage, Media: &message.Media{URL: "u", Width: width, Height: width, Detail: detail}}}
		return m
	}
	small, large, low := e.Message(image(200, "high")), e.Message(image(2000, "high")), e.Message(image(2000, "low"))
	if small >= large || low >= small {
		t.Errorf("200 pixels cost %d, 2000 pixels %d, and %d at low detail", small, large, low)
	}
	blob := func(sealed bool) message.Message {
		m := message.Assistant("")
		m.Parts = []message.Part{{Kind: message.KindReasoning, Sealed: sealed}}
		return m
	}
	if open, sealed := e.Message(blob(false)), e.Message(blob(true)); open >= sealed {
		t.Errorf("no reasoning costs %d, sealed reasoning %d", open, sealed)
	}
	summary := blob(true)
	summary.Parts[0].Text, summary.Parts[0].Args = "in short", json.RawMessage(`"`+strings.Repeat("QUJD", 1000)+`"`)
	if cost := e.Message(summary); cost < 700 {
		t.Errorf("4,000 bytes of encrypted reasoning with a summary cost %d", cost)
	}
	opaque := message.Assistant("")
	opaque.Parts = []message.Part{{Kind: message.KindOther, Args: json.RawMessage(`{"type":"compaction","encrypted_content":"` + strings.Repeat("QUJD", 1000) + `"}`)}}
	if cost := e.Message(opaque); cost < 700 || cost > 900 {
		t.Errorf("4,000 bytes in an encrypted item cost %d", cost)
	}
	tight := message.Assistant("", message.Call("1", "f", `{"a":1}`))
	loose := message.Assistant("", message.Call("1", "f", "{\n\t\"a\" :   1\n}"))
	if e.Message(tight) >= e.Message(loose) {
		t.Errorf("white space in arguments costs nothing: %d and %d", e.Message(tight), e.Message(loose))
	}
}

// Each detail has its own price, and the order in which an estimator sees the details
// has no effect.
func TestEstimatorDistinguishesTheDetailOfAnImage(t *testing.T) {
	details := []string{"", "auto", "high", "low", "original"}
	for _, model := range []string{"gpt-4o", "gpt-5.4", "gpt-5.5", "gpt-5.6"} {
		image := func(detail string) message.Message {
			m := message.User("")
			m.Parts = []message.Part{{Kind: message.KindImage, Media: &message.Media{URL: "u", Width: 4000, Height: 3000, Detail: detail}}}
			return m
		}
		e := estimator(t, model)
		for _, d := range details {
			if got, want := e.Message(image(d)), estimator(t, model).Message(image(d)); got != want {
				t.Errorf("%s: an image in the detail %q costs %d after others, %d alone", model, d, got, want)
			}
		}
	}
}

// Fingerprints leave out the sizes of media. Each size has its own price nevertheless.
func TestEstimatorDistinguishesTheSizesOfMedia(t *testing.T) {
	of := func(kind message.Kind, m message.Media) message.Message {
		msg := message.User("")
		msg.Parts = []message.Part{{Kind: kind, Media: &m}}
		return msg
	}
	for name, pair := range map[string][2]message.Message{
		"bytes of a sound": {of(message.KindAudio, message.Media{MIME: "audio/wav", Bytes: 400_000}), of(message.KindAudio, message.Media{MIME: "audio/wav", Bytes: 800_000})},
		"bytes of a file":  {of(message.KindFile, message.Media{MIME: "text/csv", Bytes: 40_000}), of(message.KindFile, message.Media{MIME: "text/csv", Bytes: 80_000})},
		"width":            {of(message.KindImage, message.Media{URL: "u", Width: 500, Height: 500}), of(message.KindImage, message.Media{URL: "u", Width: 1000, Height: 500})},
		"height":           {of(message.KindImage, message.Media{URL: "u", Width: 500, Height: 500}), of(message.KindImage, message.Media{URL: "u", Width: 500, Height: 1000})},
	} {
		e := estimator(t, "gpt-4o")
		small, large := e.Message(pair[0]), e.Message(pair[1])
		if alone := estimator(t, "gpt-4o").Message(pair[1]); small >= large || large != alone {
			t.Errorf("%s: the smaller one costs %d, and the larger one %d after it and %d alone", name, small, large, alone)
		}
	}
}

func TestEstimatorCacheIsBounded(t *testing.T) {
	c := &counting{Counter: token.Bytes4}
	e := withCounter(t, "gpt-4o", c, &token.EstimatorOptions{CachedMessages: 16})
	want := map[int]int{}
	for i := range 500 {
		want[i] = e.Message(message.User(strings.Repeat("x", i)))
	}
	for i := range 500 {
		if got := e.Message(message.User(strings.Repeat("x", i))); got != want[i] {
			t.Fatalf("message %d: %d tokens, then %d", i, want[i], got)
		}
	}
	asked := c.calls
	for i := range 500 {
		e.Message(message.User(strings.Repeat("x", i)))
	}
	if again := c.calls - asked; again < 2*(500-16) {
		t.Errorf("%d counts for 500 messages in a cache of 16: more were remembered than allowed", again)
	}
}

func TestEstimatorIsSafeForConcurrentUse(t *testing.T) {
	e := withCounter(t, "gpt-4o", nil, &token.EstimatorOptions{CachedMessages: 64})
	want := estimator(t, "gpt-4o")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 400 {
				m := message.User(fmt.Sprint("message ", i%100, " of a session"))
				if got := e.Message(m); got != want.Message(m) {
					t.Errorf("message %d: %d tokens", i, got)
					return
				}
			}
		})
	}
	wg.Wait()
}

// parts returns each kind of part in each of its states.
func parts() map[string]message.Part {
	blob := base64.StdEncoding.EncodeToString(make([]byte, 6_000))
	return map[string]message.Part{
		"text":                 {Kind: message.KindText, Text: "hello"},
		"a refusal":            {Kind: message.KindText, Text: "no", Sealed: true},
		"reasoning":            {Kind: message.KindReasoning, Text: "hmm"},
		"signed reasoning":     {Kind: message.KindReasoning, Text: "hmm", Sealed: true},
		"encrypted reasoning":  {Kind: message.KindReasoning, Sealed: true, Args: json.RawMessage(`"` + blob + `"`)},
		"encrypted, summed up": {Kind: message.KindReasoning, Text: "hmm", Sealed: true, Args: json.RawMessage(`"` + blob + `"`)},
		"encrypted, size only": {Kind: message.KindReasoning, Sealed: true, Media: &message.Media{Bytes: 900}},
		"encrypted, no size":   {Kind: message.KindReasoning, Sealed: true},
		"a call":               {Kind: message.KindToolCall, CallID: "1", Name: "f", Args: json.RawMessage(`{}`)},
		"a call without args":  {Kind: message.KindToolCall, CallID: "1", Name: "f"},
		"a result":             {Kind: message.KindToolResult, CallID: "1", Text: "ok"},
		"a result, an image":   {Kind: message.KindToolResult, CallID: "1", Media: &message.Media{MIME: "image/png", URL: "u"}},
		"an image":             {Kind: message.KindImage, Media: &message.Media{URL: "https://example.com/i.png"}},
		"an image, data URL":   {Kind: message.KindImage, Media: &message.Media{MIME: "image/png", URL: "data:image/png;base64," + blob}},
		"an image, no media":   {Kind: message.KindImage},
		"audio":                {Kind: message.KindAudio, Media: &message.Media{MIME: "audio/wav", Bytes: 100_000}},
		"audio, no media":      {Kind: message.KindAudio, Args: json.RawMessage(`{"id":"a"}`)},
		"a file":               {Kind: message.KindFile, Media: &message.Media{MIME: "application/pdf", Bytes: 100_000}},
		"a file, no media":     {Kind: message.KindFile},
		"other":                {Kind: message.KindOther, Args: json.RawMessage(`{"type":"video","n":1}`)},
		"other with data":      {Kind: message.KindOther, Args: json.RawMessage(`{"v":"data:video/mp4;base64,` + blob + `"}`)},
		"other, encrypted":     {Kind: message.KindOther, Args: json.RawMessage(`{"encrypted_content": "` + blob + `"}`)},
		"other, empty":         {Kind: message.KindOther},
		"an unknown kind":      {Kind: 200, Args: json.RawMessage(`{}`)},
	}
}

func TestEveryKindOfPartCostsSomething(t *testing.T) {
	for _, model := range []string{"gpt-4o", "gpt-4", "claude-sonnet-4", "gemini-2.5-pro"} {
		e := estimator(t, model)
		for name, p := range parts() {
			if n := e.Part(p); n < 1 {
				t.Errorf("%s: %s costs %d", model, name, n)
			}
		}
	}
}

func TestEveryKindOfPartOfTheChatWireCostsSomething(t *testing.T) {
	e := estimator(t, "gpt-4o")
	frame := e.Message(message.User(""))
	for _, line := range []string{
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/i.png"}}]}`,
		`{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]}`,
		`{"role":"user","content":[{"type":"file","file":{"file_id":"f-1"}}]}`,
		`{"role":"user","content":[{"type":"something_new","x":1}]}`,
		`{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`,
		`{"role":"assistant","content":null,"refusal":"no"}`,
		`{"role":"assistant","content":null,"audio":{"id":"a"}}`,
		`{"role":"assistant","content":null,"reasoning_content":"hm"}`,
		`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}`,
		`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"custom","custom":{"name":"f","input":"x"}}]}`,
	} {
		m, err := openai.ParseMessage([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if n := e.Message(m); n <= frame {
			t.Errorf("%s costs %d, no more than an empty message", line, n)
		}
	}
}

func TestDataIsNotCountedAsText(t *testing.T) {
	e := estimator(t, "gpt-4o")
	all := parts()
	for name, most := range map[string]int{"an image, data URL": 1445, "other with data": 1_700, "encrypted reasoning": 1_700} {
		if n := e.Part(all[name]); n > most {
			t.Errorf("%s costs %d tokens, want at most %d", name, n, most)
		}
	}
}

func TestBreakdownAddsUp(t *testing.T) {
	e := withCounter(t, "gpt-4o", token.Chars, nil)
	tools := []byte(weatherWires()["chat"])
	msgs := conversation(t)
	b, err := e.Breakdown(context.Background(), msgs, tools, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := e.Messages(msgs) + e.Tools(tools) + e.Reply(); b.Total() != want || b.Mix.Total() != want {
		t.Errorf("total %d, mix %d, want %d", b.Total(), b.Mix.Total(), want)
	}
	if b.System != 3+6+9 || b.Developer != 3+9+10 || b.ToolsSchema != e.Tools(tools) {
		t.Errorf("system %d, developer %d, tools %d", b.System, b.Developer, b.ToolsSchema)
	}
	sum := 0
	for n := range maps.Values(b.ByRole) {
		sum += n
	}
	if sum != b.Messages {
		t.Errorf("the roles add up to %d, messages are %d", sum, b.Messages)
	}
	want := map[string]int{
		"read":    3 + 4 + len(`{"path":"a.go"}`) + len("package a"),
		"grep":    3 + 4 + len(`{"pattern":"func"}`) + len("b.go:3: func b() {}"),
		"unknown": len("an orphan"),
	}
	if d := cmp.Diff(want, b.ByTool); d != "" {
		t.Errorf("by tool (-want +got):\n%s", d)
	}
}

func TestBreakdownStopsWhenCancelled(t *testing.T) {
	e := estimator(t, "gpt-4o")
	ctx, cancel := context.WithCancel(context.Background())
	msgs, seen := conversation(t), 0
	_, err := e.Breakdown(ctx, msgs, nil, func(done, total int) {
		if total != len(msgs) {
			t.Errorf("%d messages in all, want %d", total, len(msgs))
		}
		if seen = done; done == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || seen != 3 {
		t.Errorf("stopped after %d messages with %v", seen, err)
	}
}

func TestCharsEstimatorMeasuresContentOnly(t *testing.T) {
	e := token.NewCharsEstimator()
	if n := e.Messages(conversation(t)); n != len("Be brief.Use tools.What is in a.go and b.go?package ab.go:3: func b() {}an orphanPackages a and b.") {
		t.Errorf("%d units", n)
	}
	if n := e.Message(message.User("😀é")); n != 3 {
		t.Errorf("an emoji and a letter: %d units, want 3", n)
	}
	if n := e.Tools([]byte(`[{}]`)) + e.Reply(); n != 0 {
		t.Errorf("tools and reply cost %d", n)
	}
}

func TestCountContextCountsInSteps(t *testing.T) {
	c, err := token.ForEncoding(token.O200K)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("All work and no play.\n\xff", 60_000)
	last, calls := 0, 0
	n, err := token.CountContext(context.Background(), c, text, func(done, total int) {
		if done <= last || done > total {
			t.Errorf("%d of %d bytes after %d", done, total, last)
		}
		last, calls = done, calls+1
	})
	if want := c.Count(text); err != nil || n != want {
		t.Errorf("%d tokens, want %d (%v)", n, want, err)
	}
	if calls < 3 || last == 0 {
		t.Errorf("progress was called %d times, with %d bytes at last", calls, last)
	}
}

func TestCountContextStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	exact, err := token.ForEncoding(token.O200K)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("All work and no play.\n", 100_000)
	steps := 0
	stop := func(done, total int) {
		steps++
		cancel()
	}
	if _, err := token.CountContext(ctx, exact, text, stop); !errors.Is(err, context.Canceled) || steps != 1 {
		t.Errorf("cancelled in the first step: %v, after %d steps", err, steps)
	}
	for _, c := range []token.Counter{exact, token.Chars} {
		if _, err := token.CountContext(ctx, c, text, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before the count: %v", err)
		}
	}
	if n, err := token.CountContext(context.Background(), token.Chars, "abc", func(int, int) {}); n != 3 || err != nil {
		t.Errorf("a counter without steps: %d, %v", n, err)
	}
}

// A message that no model reads costs nothing.
func TestUnreadMessageCostsNothing(t *testing.T) {
	m := message.User("a note of the harness")
	m.Unread = true
	for _, e := range []*token.Estimator{token.NewCharsEstimator(), withCounter(t, "gpt-4o", token.Chars, nil), withCounter(t, "claude-sonnet-4", token.Chars, nil)} {
		if one, all := e.Message(m), e.Messages([]message.Message{m, m}); one != 0 || all != 0 {
			t.Errorf("it costs %d, and two cost %d", one, all)
		}
	}
}

// A text whose first bytes are mostly not ASCII is of the kind that calibration learns apart.
func TestWideTextIsAKindOfItsOwn(t *testing.T) {
	e := withCounter(t, "claude-sonnet-4", token.Chars, nil)
	for text, wide := range map[string]bool{"请修复解析器": true, "fix the parser, größer": false, "": false} {
		if m := e.Mix(message.User(text)); (m.Wide > 0) != wide || (m.Prose > 0) != (text != "" && !wide) {
			t.Errorf("%q: %+v", text, m)
		}
	}
}
