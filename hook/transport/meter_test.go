package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agentcompact/compact/compact"
)

// answers are answers of providers, with the size of the prompt; 0 = the answer does
// not state it, or states the size of another prompt.
var answers = map[string]struct {
	form   counted
	text   string
	tokens int
}{
	"chat":                         {document, `{"choices":[{"message":{"content":"{\"usage\":{\"prompt_tokens\":1}}"}}],"usage":{"prompt_tokens":1234,"prompt_tokens_details":{"cached_tokens":1000}}}`, 1234},
	"chat of a gateway":            {document, `{"usage":{"prompt_tokens":1234,"cache_read_input_tokens":1000,"cache_creation_input_tokens":200}}`, 1234},
	"responses":                    {document, `{"usage":{"input_tokens":1234,"input_tokens_details":{"cached_tokens":1000},"output_tokens":9}}`, 1234},
	"anthropic":                    {document, `{"usage":{"input_tokens":34,"cache_creation_input_tokens":200,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":200},"output_tokens":9}}`, 1234},
	"anthropic for an hour":        {document, `{"usage":{"input_tokens":34,"cache_creation_input_tokens":200,"cache_read_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":50,"ephemeral_1h_input_tokens":150},"output_tokens":9}}`, 1234},
	"deepseek":                     {document, `{"usage":{"prompt_tokens":1234,"completion_tokens":7,"prompt_cache_hit_tokens":1000,"prompt_cache_miss_tokens":234}}`, 1234},
	"anthropic without cache":      {document, `{"usage":{"input_tokens":34,"cache_creation_input_tokens":null,"output_tokens":9}}`, 34},
	"anthropic with searches":      {document, `{"usage":{"input_tokens":34,"server_tool_use":{"web_search_requests":2}}}`, 34},
	"anthropic with zero searches": {document, `{"usage":{"input_tokens":34,"server_tool_use":{"web_search_requests":0}}}`, 34},
	"gemini":                       {document, `{"candidates":[],"usageMetadata":{"promptTokenCount":1234,"cachedContentTokenCount":1000}}`, 1234},
	"gemini list": {document, `[{"usageMetadata":{"promptTokenCount":1234,"candidatesTokenCount":2,"thoughtsTokenCount":4}},` +
		`{"usageMetadata":{"promptTokenCount":1234,"candidatesTokenCount":5,"thoughtsTokenCount":4}}]`, 1234},
	"gemini with searches": {document, `{"usageMetadata":{"promptTokenCount":1234,"toolUsePromptTokenCount":2000,"cachedContentTokenCount":1000,"candidatesTokenCount":5}}`, 3234},
	"white space":          {document, "{\n \"usage\" : { \"prompt_tokens\"\t: 1234\r\n} }", 1234},
	"a usage elsewhere":    {document, `{"x":{"usage":{"prompt_tokens":5}},"choices":[{"usage":{"prompt_tokens":6}}],"metadata":{"usage":{"prompt_tokens":7}}}`, 0},
	"a key with escapes":   {document, `{"\u0075sage":{"prompt_tokens":5},"usage\"":{"prompt_tokens":5}}`, 0},
	"a key in a value":     {document, `{"a":"usage","b":{"prompt_tokens":5}}`, 0},
	"no whole number":      {document, `{"usage":{"prompt_tokens":-5}}`, 0},
	"a fraction":           {document, `{"usage":{"prompt_tokens":5.5}}`, 0},
	"far too many digits":  {document, `{"usage":{"prompt_tokens":` + strings.Repeat("9", 100) + `}}`, 0},
	"cut off":              {document, `{"usage":{"prompt_tokens":1234`, 0},
	"null":                 {document, `{"usage":null}`, 0},
	"deep nesting":         {document, strings.Repeat(`{"a":[`, 50) + `1` + strings.Repeat(`]}`, 50), 0},
	"after deep nesting":   {document, `{"a":` + strings.Repeat(`[`, 500) + strings.Repeat(`]`, 500) + `,"usage":{"prompt_tokens":8}}`, 8},
	"chat stream":          {stream, "data: {\"choices\":[],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":1234}}\n\ndata: [DONE]\n\n", 1234},
	"responses stream": {stream, "event: response.created\ndata: {\"response\":{\"usage\":null}}\n\n" +
		"event: response.completed\ndata: {\"response\":{\"output\":[{\"usage\":{\"input_tokens\":7}}],\"usage\":{\"input_tokens\":1234}}}\n\n", 1234},
	"anthropic stream": {stream, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":34,\"cache_read_input_tokens\":1200}}}\n\n" +
		"event: message_delta\ndata: {\"usage\":{\"input_tokens\":34,\"cache_read_input_tokens\":1200,\"output_tokens\":9}}\n\n", 1234},
	"anthropic stream with searches": {stream, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":34,\"cache_read_input_tokens\":1200,\"output_tokens\":1}}}\n\n" +
		"event: message_delta\ndata: {\"usage\":{\"input_tokens\":9034,\"cache_read_input_tokens\":2400,\"cache_creation_input_tokens\":100,\"output_tokens\":9,\"server_tool_use\":{\"web_search_requests\":1}}}\n\n", 11534},
	"anthropic stream without cached tokens at its end": {stream, "data: {\"message\":{\"usage\":{\"input_tokens\":34,\"cache_read_input_tokens\":1200,\"output_tokens\":1}}}\n\n" +
		"data: {\"usage\":{\"input_tokens\":34,\"output_tokens\":9}}\n\n", 1234},
	"stream of a gateway that counts at its end": {stream, "data: {\"message\":{\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n" +
		"data: {\"usage\":{\"input_tokens\":1234,\"output_tokens\":9}}\n\n", 1234},
	"gemini stream":           {stream, "data: {\"usageMetadata\":{\"promptTokenCount\":1234}}\r\n\r\ndata: {\"usageMetadata\":{\"promptTokenCount\":1234,\"candidatesTokenCount\":5}}\r\n\r\n", 1234},
	"no space":                {stream, "data:{\"usage\":{\"prompt_tokens\":1234}}\n\n", 1234},
	"comments":                {stream, ": ping\n\n: data: {\"usage\":{\"prompt_tokens\":5}}\n\ndata: {\"usage\":{\"prompt_tokens\":1234}}\n\n", 1234},
	"other fields":            {stream, "dat: {\"usage\":{\"prompt_tokens\":5}}\n\nda\ndata: {\"usage\":{\"prompt_tokens\":1234}}\n\n", 1234},
	"no end of the event":     {stream, "data: {\"usage\":{\"prompt_tokens\":1234}}", 1234},
	"an event that is cut":    {stream, "data: {\"usage\":{\"prompt_tokens\":1234}", 0},
	"several lines of data":   {stream, "data: {\"usage\":\ndata: {\"prompt_tokens\":1234}}\n\n", 1234},
	"broken, then a good one": {stream, "data: {\"usage\":{\"x\":\"\n\ndata: {\"usage\":{\"prompt_tokens\":1234}}\n\n", 1234},
}

// told reads a body through a meter and returns the observed usage.
func told(form counted, r io.Reader) (text string, tokens []int, err error) {
	m := newMeter(io.NopCloser(r), form, func(n int) { tokens = append(tokens, n) })
	b, err := io.ReadAll(m)
	_ = m.Close()
	return string(b), tokens, err
}

func TestUsageIsReadFromEveryFormInPiecesOfAnySize(t *testing.T) {
	for name, a := range answers {
		for i, r := range []io.Reader{
			strings.NewReader(a.text), iotest.OneByteReader(strings.NewReader(a.text)),
			iotest.HalfReader(strings.NewReader(a.text)), iotest.DataErrReader(strings.NewReader(a.text)),
		} {
			text, tokens, err := told(a.form, r)
			if err != nil || text != a.text {
				t.Errorf("%s, reader %d: %q, %v; want %q and no error", name, i, text, err, a.text)
			}
			var want []int
			if a.tokens > 0 {
				want = []int{a.tokens}
			}
			if fmt.Sprint(tokens) != fmt.Sprint(want) {
				t.Errorf("%s, reader %d: reported %v, want %v", name, i, tokens, want)
			}
		}
	}
}

// The parts of a bill are read from the usage of every provider.
func TestUsageReportsCachedTokens(t *testing.T) {
	for name, want := range map[string]compact.Usage{
		"chat":                           {PromptTokens: 1234, CacheKnown: true, CachedTokens: 1000},
		"chat of a gateway":              {PromptTokens: 1234, CacheKnown: true, CachedTokens: 1000, WrittenTokens: 200},
		"responses":                      {PromptTokens: 1234, CacheKnown: true, CachedTokens: 1000, OutputTokens: 9},
		"anthropic":                      {PromptTokens: 1234, CacheKnown: true, CachedTokens: 1000, WrittenTokens: 200, OutputTokens: 9},
		"anthropic for an hour":          {PromptTokens: 1234, CacheKnown: true, CachedTokens: 1000, WrittenTokens: 50, WrittenHourTokens: 150, OutputTokens: 9},
		"anthropic without cache":        {PromptTokens: 34, OutputTokens: 9},
		"anthropic stream":               {PromptTokens: 1234, CacheKnown: true, CachedTokens: 1200, OutputTokens: 9},
		"gemini":                         {PromptTokens: 1234, CacheKnown: true, CachedTokens: 1000},
		"gemini list":                    {PromptTokens: 1234, CacheKnown: true, OutputTokens: 9},
		"gemini with searches":           {PromptTokens: 3234, ToolRounds: true, CacheKnown: true, CachedTokens: 1000, OutputTokens: 5},
		"anthropic with searches":        {PromptTokens: 34, ToolRounds: true},
		"anthropic stream with searches": {PromptTokens: 11534, ToolRounds: true, CacheKnown: true, CachedTokens: 2400, WrittenTokens: 100, OutputTokens: 9},
		"anthropic stream without cached tokens at its end": {PromptTokens: 1234, CacheKnown: true, CachedTokens: 1200, OutputTokens: 9},
		"stream of a gateway that counts at its end":        {PromptTokens: 1234, OutputTokens: 9},
		"gemini stream": {PromptTokens: 1234, CacheKnown: true, OutputTokens: 5},
		"chat stream":   {PromptTokens: 1234},
		"deepseek":      {PromptTokens: 1234, CacheKnown: true, CachedTokens: 1000, OutputTokens: 7},
	} {
		a := answers[name]
		m := newMeter(io.NopCloser(strings.NewReader(a.text)), a.form, func(int) {})
		if _, err := io.ReadAll(m); err != nil {
			t.Fatal(err)
		}
		if got := m.bill.of(m.bill.tokens()); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestErrorsOfAnAnswerAreReturned(t *testing.T) {
	gone := errors.New("gone")
	whole := `{"usage":{"prompt_tokens":1234}}`
	text, tokens, err := told(document, io.MultiReader(strings.NewReader(whole), iotest.ErrReader(gone)))
	if !errors.Is(err, gone) || text != whole || len(tokens) != 1 {
		t.Errorf("%q, %v, reported %v; want %q and gone", text, err, tokens, whole)
	}
}

// A meter holds only a few bytes of any answer.
func TestMeterHoldsAFewBytes(t *testing.T) {
	m := newMeter(io.NopCloser(strings.NewReader("")), stream, func(int) {})
	for _, piece := range []string{"data: {\"", strings.Repeat("k", 1<<20), "\":", strings.Repeat("9", 1<<20), ",\"s\":\"", strings.Repeat("v", 1<<20), "\"", strings.Repeat("[", 1<<20)} {
		m.look([]byte(piece))
	}
	if cap(m.scanner.text) > 1024 {
		t.Errorf("%d bytes are held, want at most 1024", cap(m.scanner.text))
	}
}

// FuzzMeter compares the findings of a meter with the values that encoding/json reads,
// and the input in pieces with the whole input.
func FuzzMeter(f *testing.F) {
	for _, a := range answers {
		f.Add(a.text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if len(text) > 1<<16 {
			return
		}
		for _, form := range []counted{document, stream} {
			_, whole, _ := told(form, strings.NewReader(text))
			cut = min(max(cut, 0), len(text))
			got, pieces, err := told(form, io.MultiReader(strings.NewReader(text[:cut]), iotest.OneByteReader(strings.NewReader(text[cut:]))))
			if err != nil || got != text || fmt.Sprint(whole) != fmt.Sprint(pieces) {
				t.Fatalf("in one piece %v, in several %v", whole, pieces)
			}
		}
		var doc struct {
			Usage struct {
				Prompt *int `json:"prompt_tokens"`
			} `json:"usage"`
		}
		plain := `{"usage":{"prompt_tokens":77},"text":` + quoted(text) + `}`
		if err := json.Unmarshal([]byte(plain), &doc); err != nil {
			t.Fatal(err)
		}
		if _, tokens, _ := told(document, strings.NewReader(plain)); len(tokens) != 1 || tokens[0] != *doc.Usage.Prompt {
			t.Fatalf("%s: reported %v", plain, tokens)
		}
	})
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
