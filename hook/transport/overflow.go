package transport

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// overflow is a provider's error that the context is too long, with the sizes
// in it, in tokens; 0 = not reported.
type overflow struct {
	limit  int // the window
	prompt int // size of the prompt
	output int // requested output, if the limit covers both
}

// readOverflow parses the error in an answer. body may be truncated.
func readOverflow(status int, body []byte) (overflow, bool) {
	switch {
	case status < 400 || status >= 500:
		return overflow{}, false
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound, status == http.StatusTooManyRequests:
		return overflow{}, false
	}
	return parseFailure(body).overflow()
}

// failure holds the fields of the providers' errors.
type failure struct {
	Code    any    `json:"code"` // a string from OpenAI, a number from Google and llama.cpp
	Type    string `json:"type"`
	Message string `json:"message"`
	Detail  any    `json:"detail"`
	Prompt  int    `json:"n_prompt_tokens"` // llama.cpp
	Limit   int    `json:"n_ctx"`
}

// statuses are the HTTP statuses of errors by their types and codes.
var statuses = map[string]int{
	"overloaded_error": 529, "rate_limit_error": 429, "rate_limit_exceeded": 429, "invalid_request_error": 400, "authentication_error": 401,
	"permission_error": 403, "not_found_error": 404, "timeout_error": 504,
}

// status returns the HTTP status of an error in a stream, whose own status is 200.
func (f failure) status() int {
	if n, ok := f.Code.(float64); ok && n >= 400 && n < 600 {
		return int(n)
	}
	code, _ := f.Code.(string)
	return cmp.Or(statuses[code], statuses[f.Type], http.StatusInternalServerError)
}

// parseFailure finds the error in an answer or in an event of a stream.
func parseFailure(body []byte) failure {
	var doc struct {
		failure
		Error    json.RawMessage `json:"error"`
		Response struct {
			Error json.RawMessage `json:"error"`
		} `json:"response"`
	}
	body = trimArray(body)
	if json.Unmarshal(body, &doc) != nil {
		return failure{Message: string(body)}
	}
	for _, raw := range []json.RawMessage{doc.Error, doc.Response.Error} {
		var f failure
		if json.Unmarshal(raw, &f) == nil && (f.Message != "" || f.Code != nil) {
			return f
		}
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return failure{Message: text}
		}
	}
	if s, ok := doc.Detail.(string); ok && doc.Message == "" {
		doc.Message = s
	}
	return doc.failure
}

// trimArray returns the first element of a list. Gemini's streams put their
// error in a list.
func trimArray(body []byte) []byte {
	var list []json.RawMessage
	if len(body) > 0 && body[0] == '[' && json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return body
}

// overflowCodes are the codes and types that mean an overflow.
var overflowCodes = map[string]bool{"context_length_exceeded": true, "exceed_context_size_error": true, "model_max_prompt_tokens_exceeded": true}

// overflowTexts match the providers' messages. The groups limit, prompt and
// output match the numbers.
var overflowTexts = sync.OnceValue(func() []*regexp.Regexp { return compile(overflowForms...) })

var overflowForms = []string{
	// OpenAI, Azure, DeepSeek, vLLM, OpenRouter, xAI
	`maximum (?:context|prompt) length is (?P<limit>N) tokens[^(]*requested (?:about )?N tokens \((?P<prompt>N) [^,;)]*[,;] (?P<output>N) (?:in the completion|for the completion|in the output|of the output)`,
	`maximum (?:context|prompt) length is (?P<limit>N)\D*(?:resulted in|requested|request contains|requested about|contains) (?P<prompt>N) (?:input )?tokens`,
	`maximum (?:context|prompt) length is (?P<limit>N)`,
	`exceed the configured limit of (?P<limit>N) tokens\D*(?P<prompt>N) tokens`,
	`exceeds the context window`,
	// Anthropic
	`prompt is too long: (?P<prompt>N) tokens > (?P<limit>N)`,
	`exceed context limit: (?P<prompt>N) \+ (?P<output>N) > (?P<limit>N)`,
	`prompt is too long`,
	// Google
	`input token count (?:is )?\(?(?P<prompt>N)\)? (?:exceeds the maximum number of tokens allowed \(|but model only supports up to )(?P<limit>N)`,
	`input token count exceeds the maximum number of tokens allowed \(?(?P<limit>N)`,
	// vLLM, llama.cpp, Mistral, Bedrock
	`\(length (?P<prompt>N)\) is longer than the maximum model length of (?P<limit>N)`,
	`exceeds the available context size`,
	`[Pp]rompt contains (?P<prompt>N) tokens[^.]*too large for model with (?P<limit>N)`,
	`[Ii]nput is too long for requested model`,
}

func compile(texts ...string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(texts))
	for i, s := range texts {
		s = strings.ReplaceAll(s, "N)", `\d[\d,]*)`)
		out[i] = regexp.MustCompile(strings.ReplaceAll(s, "N ", `\d[\d,]* `))
	}
	return out
}

// overflow reports whether the error says that the context is too long.
func (f failure) overflow() (overflow, bool) {
	code, _ := f.Code.(string)
	o, ok := overflow{limit: f.Limit, prompt: f.Prompt}, overflowCodes[code] || overflowCodes[f.Type]
	for _, re := range overflowTexts() {
		m := re.FindStringSubmatch(f.Message)
		if m == nil {
			continue
		}
		ok = true
		for i, name := range re.SubexpNames() {
			switch name {
			case "limit":
				o.limit = number(m[i])
			case "prompt":
				o.prompt = number(m[i])
			case "output":
				o.output = number(m[i])
			}
		}
		break
	}
	return o, ok
}

func number(s string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		return 0
	}
	return n
}

// window returns the window, in our count, to which a request must be compacted
// so that the provider accepts it; 0 = none. counted is our count of the
// refused request, and asked is the number of tokens that it reserves for the
// answer.
func (o overflow) window(counted, asked int) int {
	room := o.limit - o.output
	switch {
	case o.limit <= 0:
		room = counted / 4 * 3
	case o.prompt > 0:
		room = min(room, int(float64(room)*float64(counted)/float64(o.prompt)))
	case counted <= room: // our count is lower than the provider's, by an unknown amount
		room = counted / 4 * 3
	}
	room = min(room, counted-1)
	if room <= 0 {
		return 0
	}
	return room + min(asked, room)
}
