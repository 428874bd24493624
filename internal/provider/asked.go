package provider

import (
	"net/http"
	"slices"
	"strings"
)

// asked holds the parts of a request that decide the form of the answer.
type asked struct {
	model  string
	stream bool
	sse    bool // Gemini: alt=sse
	usage  bool // Chat: stream_options.include_usage
	output int  // maximum tokens of the answer

	background bool   // Responses: the answer is made after the server has accepted the request
	waiting    string // Anthropic: the id of the program that waits for results of the client
	encrypts   bool   // Responses: the answer includes encrypted reasoning
	unstored   bool   // Responses: the answer is not stored
}

func readAsked(q *http.Request, wire Wire, body object) asked {
	options, _ := body["stream_options"].(object)
	a := asked{model: str(body, "model"), stream: body["stream"] == true, usage: options["include_usage"] == true, output: integer(body["max_tokens"])}
	include, _ := body["include"].([]any)
	a.unstored, a.background = body["store"] == false, body["background"] == true
	a.encrypts = slices.Contains(include, any("reasoning.encrypted_content"))
	if wire == Anthropic {
		a.waiting = waiting(body)
	}
	if wire == Gemini {
		a.stream = strings.HasSuffix(q.URL.Path, ":streamGenerateContent")
		a.sse = q.URL.Query().Get("alt") == "sse"
		a.model = q.URL.Path[strings.LastIndex(q.URL.Path, "/")+1:]
		a.model, _, _ = strings.Cut(a.model, ":")
	}
	return a
}
