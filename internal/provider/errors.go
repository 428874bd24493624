package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// errorAnswer is an error answer, before it gets the form of a provider.
type errorAnswer struct {
	status     int
	kind       string // OpenAI's and Anthropic's type, Google's status
	code       any    // OpenAI's code
	param      any    // OpenAI's param
	text       string
	retryAfter time.Duration
}

// refused returns the answer to a request that breaks a rule.
func refused(w Wire, r Refusal) errorAnswer {
	t := errorAnswer{status: http.StatusBadRequest, kind: "invalid_request_error", text: r.Text, param: r.Path}
	if w == Gemini {
		t.kind = "INVALID_ARGUMENT"
	}
	if r.Rule == "sealed" && w == Responses {
		t.code = "invalid_encrypted_content"
	}
	return t
}

// overflow returns the answer to a prompt that exceeds the window; on
// Anthropic, max_tokens counts as part of the prompt. It returns false if the
// prompt fits, or if window is 0: no limit.
func overflow(a asked, req Request, window int) (errorAnswer, bool) {
	if window <= 0 {
		return errorAnswer{}, false
	}
	t := errorAnswer{status: http.StatusBadRequest, kind: "invalid_request_error"}
	switch over := req.Prompt > window; {
	case req.Wire == Anthropic && !over && a.output < window && req.Prompt+a.output > window:
		t.text = fmt.Sprintf("input length and `max_tokens` exceed context limit: %d + %d > %d, decrease input length or `max_tokens` and try again", req.Prompt, a.output, window)
	case !over:
		return errorAnswer{}, false
	case req.Wire == Chat:
		t.param, t.code = "messages", "context_length_exceeded"
		t.text = fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", window, req.Prompt)
	case req.Wire == Responses:
		t.param, t.code = "input", "context_length_exceeded"
		t.text = "Your input exceeds the context window of this model. Please adjust your input and try again."
	case req.Wire == Anthropic:
		t.text = fmt.Sprintf("prompt is too long: %d tokens > %d maximum", req.Prompt, window)
	default:
		t.kind = "INVALID_ARGUMENT"
		t.text = fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", req.Prompt, window)
	}
	return t, true
}

// failed returns the answer for a failure, such as one of [Server.Fail].
func failed(w Wire, f Failure) errorAnswer {
	kinds := map[int][3]string{
		413: {"invalid_request_error", "request_too_large", "INVALID_ARGUMENT"},
		429: {"requests", "rate_limit_error", "RESOURCE_EXHAUSTED"},
		500: {"server_error", "api_error", "INTERNAL"},
		503: {"server_error", "api_error", "UNAVAILABLE"},
		529: {"server_error", "overloaded_error", "UNAVAILABLE"},
	}
	texts := map[int]string{413: "Request exceeds the maximum allowed number of bytes.", 429: "Rate limit reached. Please try again later.", 500: "The server had an error while processing your request. Sorry about that!", 503: "The model is overloaded. Please try again later.", 529: "Overloaded"}
	kind, ok := kinds[f.Status]
	if !ok {
		kind = [3]string{"invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"}
	}
	t := errorAnswer{status: f.Status, kind: kind[0], text: texts[f.Status], retryAfter: f.RetryAfter}
	switch w {
	case Anthropic:
		t.kind = kind[1]
	case Gemini:
		t.kind = kind[2]
	}
	if f.Status == http.StatusTooManyRequests {
		t.code = "rate_limit_exceeded"
	}
	if t.text == "" {
		t.text = http.StatusText(f.Status)
	}
	return t
}

// shaped returns an error in the form of the provider.
func (t errorAnswer) shaped(w Wire) object {
	switch w {
	case Anthropic:
		return object{"type": "error", "error": object{"type": t.kind, "message": t.text}, "request_id": "req_test"}
	case Gemini:
		return object{"error": object{"code": t.status, "message": t.text, "status": t.kind}}
	default:
		return object{"error": object{"message": t.text, "type": t.kind, "param": t.param, "code": t.code}}
	}
}

func writeError(w http.ResponseWriter, wire Wire, t errorAnswer) {
	if t.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((t.retryAfter+time.Second-1)/time.Second)))
	}
	writeJSON(w, t.status, t.shaped(wire))
}

// writeJSON answers with one object. Write errors are ignored: the client has
// disconnected.
func writeJSON(w http.ResponseWriter, status int, v object) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

// integer returns a JSON number as an int, 0 for any other value.
func integer(v any) int {
	n, ok := v.(json.Number)
	if !ok {
		return 0
	}
	i, err := n.Int64()
	if err != nil {
		return 0
	}
	return int(i)
}
