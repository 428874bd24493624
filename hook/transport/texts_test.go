package transport

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

func TestOverflowsAreRecognizedByTheProvidersErrors(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   overflow
		ok     bool
	}{
		{400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130500 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, overflow{limit: 128000, prompt: 130500}, true},
		{400, `{"error":{"message":"This model's maximum context length is 4,097 tokens. However, you requested 5,121 tokens (4,097 in the messages, 1,024 in the completion). Please reduce the length of the messages or completion.","code":"context_length_exceeded"}}`, overflow{4097, 4097, 1024}, true},
		{400, `{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 369857 tokens. Please reduce the length of the messages.","code":"context_length_exceeded"}}`, overflow{limit: 272000, prompt: 369857}, true},
		{400, `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","code":"context_length_exceeded"}}`, overflow{}, true},
		{400, `{"error":{"code":"context_length_exceeded"}}`, overflow{}, true},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 211000 tokens > 200000 maximum"}}`, overflow{limit: 200000, prompt: 211000}, true},
		{400, "{\"error\":{\"message\":\"input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again\"}}", overflow{200000, 190000, 32000}, true},
		{400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, overflow{limit: 1048576, prompt: 1200000}, true},
		{400, `[{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, overflow{limit: 1048576}, true},
		{400, `{"error":{"code":400,"message":"Unable to submit request because the input token count is 40000 but model only supports up to 32768. Reduce the input token count and try again."}}`, overflow{limit: 32768, prompt: 40000}, true},
		{400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion).","type":"BadRequestError","param":null,"code":400}`, overflow{4096, 4500, 500}, true},
		{400, `{"error":{"message":"This endpoint's maximum context length is 128000 tokens. However, you requested about 200000 tokens (196000 of text input, 4000 in the output)."}}`, overflow{128000, 196000, 4000}, true},
		{400, `{"error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, overflow{limit: 131072, prompt: 537812}, true},
		{400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`, overflow{limit: 4096, prompt: 9000}, true},
		{422, `{"detail":"The decoder prompt (length 9000) is longer than the maximum model length of 8192."}`, overflow{limit: 8192, prompt: 9000}, true},
		{400, `{"object":"error","message":"Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error"}`, overflow{limit: 32768, prompt: 65673}, true},
		{400, `{"message":"Input is too long for requested model."}`, overflow{}, true},
		{413, `prompt is too long: 5 tokens > 4 maximum`, overflow{limit: 4, prompt: 5}, true},

		{400, `{"error":{"message":"Invalid value","code":"invalid_value"}}`, overflow{}, false},
		{400, ``, overflow{}, false},
		{400, `[]`, overflow{}, false},
		{400, `null`, overflow{}, false},
		{400, `{"error":17,"detail":[{"loc":["body"]}]}`, overflow{}, false},
		{429, `{"error":{"code":"context_length_exceeded"}}`, overflow{}, false},
		{404, `{"error":{"code":"context_length_exceeded"}}`, overflow{}, false},
		{500, `{"error":{"code":"context_length_exceeded"}}`, overflow{}, false},
		{200, `{"error":{"code":"context_length_exceeded"}}`, overflow{}, false},
	} {
		got, ok := readOverflow(c.status, []byte(c.body))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%d %s: %+v, %v; want %+v, %v", c.status, c.body, got, ok, c.want, c.ok)
		}
	}
}

// The prompt of the next request fits the limit that the provider named, in the
// provider's count.
func TestWindowAfterAnOverflowFits(t *testing.T) {
	for _, c := range []struct {
		o              overflow
		counted, asked int
		prompt         int // at most, in our count
	}{
		{overflow{limit: 100_000, prompt: 120_000}, 120_000, 0, 100_000},
		{overflow{limit: 100_000, prompt: 120_000}, 110_000, 0, 91_666},  // we count a little less
		{overflow{limit: 100_000, prompt: 120_000}, 60_000, 0, 50_000},   // we count half
		{overflow{limit: 100_000, prompt: 120_000}, 240_000, 0, 100_000}, // we count twice
		{overflow{limit: 100_000, prompt: 90_000}, 80_000, 0, 79_999},    // the request would fit, and was refused
		{overflow{limit: 200_000, prompt: 190_000, output: 32_000}, 190_000, 32_000, 168_000},
		{overflow{limit: 100_000}, 120_000, 0, 100_000},
		{overflow{limit: 100_000}, 90_000, 0, 67_500},
		{overflow{}, 80_000, 1_000, 60_000},
	} {
		w := c.o.window(c.counted, c.asked)
		if room := w - min(c.asked, w/2); room <= 0 || room > c.prompt {
			t.Errorf("%+v, counted %d: window %d leaves %d for the prompt, want 1 to %d", c.o, c.counted, w, room, c.prompt)
		}
		if room := w - min(c.asked, w/2); room < c.prompt*9/10 {
			t.Errorf("%+v, counted %d: window %d leaves only %d of %d", c.o, c.counted, w, room, c.prompt)
		}
	}
	if w := (overflow{limit: 100, output: 100}).window(50, 0); w != 0 {
		t.Errorf("no room for a prompt: window %d, want 0", w)
	}
}

func TestWindowsAreBoundedAndOnlyShrink(t *testing.T) {
	w := newWindows()
	first := lane{identity{session: "first"}, "m"}
	w.put(first, 1000)
	w.put(first, 500)
	w.put(first, 2000)
	for i := range 3 * maxWindows {
		w.put(lane{identity{session: fmt.Sprint(i)}, "m"}, 10)
		if i%1000 == 0 && w.of(first) != 500 {
			t.Fatalf("after %d others: %d, want 500", i, w.of(first))
		}
	}
	if n := len(w.now) + len(w.old); n > 2*maxWindows {
		t.Errorf("%d windows are held", n)
	}
	if n := w.of(lane{identity{session: "0"}, "m"}); n != 0 {
		t.Errorf("the least recently used window is still %d, want 0", n)
	}
}

func TestWindowsAreSharedByGoroutines(t *testing.T) {
	w, l := newWindows(), lane{model: "m"}
	var all sync.WaitGroup
	for k := range 8 {
		all.Go(func() {
			for n := range 200 {
				w.put(l, 1000-n+k)
				w.put(lane{identity{session: fmt.Sprint(k, n)}, "m"}, n)
				if got := w.of(l); got == 0 || got > 1000-n+k {
					t.Errorf("the window is %d, after the provider named %d", got, 1000-n+k)
				}
			}
		})
	}
	all.Wait()
}

const (
	created = "event: response.created\ndata: {\"type\":\"response.created\"}\n\n"
	failedE = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model.\"}}}\n\n"
	delta   = "event: response.output_text.delta\ndata: {\"delta\":\"prompt is too long\"}\n\n"
)

func TestStreamsThatBeginWithAnOverflowAreReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		replaced bool
	}{
		"at once":           {failedE, true},
		"announced by type": {"data: {\"type\":\"response.queued\"}\n\nevent: response.in_progress\ndata: {}\n\n" + failedE, true},
		"announced":         {created + created + ": ping\n\n" + failedE + delta, true},
		"without names":     {strings.ReplaceAll(strings.ReplaceAll(created+failedE, "event: response.created\n", ""), "event: response.failed\n", ""), true},
		"an error event":    {created + "event: error\ndata: {\"type\":\"error\",\"code\":\"context_length_exceeded\",\"message\":\"x\"}\n\n", true},
		"chat":              {"data: {\"error\":{\"message\":\"This model's maximum context length is 10 tokens\"}}\n\n", true},
		"carriage returns":  {strings.ReplaceAll(created+failedE, "\n", "\r\n"), true},
		"later":             {created + delta + failedE, false},
		"an answer":         {created + delta + delta, false},
		"another failure":   {created + "event: response.failed\ndata: {\"response\":{\"error\":{\"code\":\"server_error\"}}}\n\n", false},
		"nothing":           {"", false},
		"no JSON":           {"data: prompt is too long\n\n", false},
		"cut off":           {created + failedE[:50], false},
		"too long":          {strings.Repeat(created, 4*maxHeld/len(created)) + failedE, false},
	} {
		for i, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text)), iotest.DataErrReader(strings.NewReader(c.text))} {
			if i > 0 && len(c.text) > maxHeld {
				continue
			}
			asked, old, fresh := 0, &body{Reader: r}, &body{Reader: strings.NewReader(delta)}
			e := &early{body: old, again: func(overflow) io.ReadCloser { asked++; return fresh }}
			got, err := io.ReadAll(e)
			want := c.text
			if c.replaced {
				want = delta
			}
			if err != nil || string(got) != want || (asked == 1) != c.replaced {
				t.Errorf("%s, reader %d: asked %d times, %.200q, %v", name, i, asked, got, err)
			}
			_ = e.Close()
			if old.closed != 1 || fresh.closed != asked {
				t.Errorf("%s: the first was closed %d times, the second %d; want 1 and %d", name, old.closed, fresh.closed, asked)
			}
		}
	}
}

// If there is no smaller request, the caller gets the refusal.
func TestIrreplaceableStreamsAreReturned(t *testing.T) {
	e := &early{body: &body{Reader: strings.NewReader(created + failedE)}, again: func(overflow) io.ReadCloser { return nil }}
	if got, err := io.ReadAll(e); err != nil || string(got) != created+failedE {
		t.Errorf("%q, %v", got, err)
	}
	gone := errors.New("gone")
	e = &early{body: &body{Reader: io.MultiReader(strings.NewReader(created), iotest.ErrReader(gone))}}
	if got, err := io.ReadAll(e); !errors.Is(err, gone) || string(got) != created {
		t.Errorf("%q, %v, want gone", got, err)
	}
}

// Closing a body during the smaller request also closes that request.
func TestClosingAStreamClosesWhatReplacesIt(t *testing.T) {
	fresh := &body{Reader: strings.NewReader(delta)}
	e := &early{body: &body{Reader: strings.NewReader(failedE)}}
	e.again = func(overflow) io.ReadCloser { _ = e.Close(); return fresh }
	if _, err := e.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if fresh.closed != 1 {
		t.Errorf("closed %d times, want 1", fresh.closed)
	}
}

type body struct {
	io.Reader
	closed int
}

func (b *body) Close() error { b.closed++; return nil }

func FuzzReadOverflow(f *testing.F) {
	f.Add(400, `[{"error":{"code":400,"message":"The input token count (12) exceeds the maximum number of tokens allowed (10)."}}]`)
	f.Add(400, `{"error":{"message":"This model's maximum context length is 99999999999999999999 tokens. However, you requested 5 tokens (4 in the messages, 1 in the completion)"}}`)
	f.Fuzz(func(t *testing.T, status int, text string) {
		o, ok := readOverflow(status, []byte(text))
		if ok && (status < 400 || status >= 500) {
			t.Fatalf("status %d", status)
		}
		for _, counted := range []int{1, 1000, 1 << 30} {
			if w := o.window(counted, 100); w < 0 || w > 2*counted {
				t.Fatalf("%+v: window %d for %d, want at least 0", o, w, counted)
			}
		}
	})
}
