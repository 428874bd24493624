package transport

import (
	"encoding/json"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// recallTool is the name of the recall tool.
const recallTool = "recall"

// recallCall is one call of the recall tool.
type recallCall struct {
	id   string
	args json.RawMessage
	at   int // index among the calls, items or blocks of the answer, depending on the wire
}

// said is an answer in the form that later requests contain.
type said struct {
	id      string // Responses: the id of the answer, which the provider stores; "" = unknown
	cut     bool   // the answer ended at a limit, so the caller must get it
	unknown bool   // Responses: the provider does not know its items by their ids

	container string // Anthropic: the container of the model's programs; "" = none
	ours      []recallCall
	others    int               // number of calls of the caller's tools
	whole     []json.RawMessage // the answer as elements of a conversation
	shown     []json.RawMessage // the same without the calls of the recall tool
}

// dialect holds the operations that differ between wires.
type dialect interface {
	// list returns the name of the field that holds the conversation.
	list() string
	// declare returns the body with the recall tool after the other tools, and
	// false if it must not be declared. A body without tools is returned
	// unchanged.
	declare(body []byte) ([]byte, bool)
	// only returns a body without tools with the recall tool as its only one.
	only(body []byte) ([]byte, error)
	// read parses an answer, and returns false if it can't be parsed.
	read(p *pieces) (*said, bool)
	// round returns an answer and the results of its recall calls as elements
	// of a conversation.
	round(s *said, texts []string) []json.RawMessage
	// join inserts the recall calls of an answer and their results into the
	// conversation. The caller's version of the answer is element n, followed
	// by its results.
	join(elems []json.RawMessage, n int, b *beside) ([]json.RawMessage, bool)
	// strip removes the recall calls from an answer. If no other call is left,
	// the answer gets the stop reason of a completed answer.
	strip(p *pieces, s *said)
	// merge returns two answers as one, in the form that the caller sees.
	merge(first, second []json.RawMessage) []json.RawMessage
	// cut removes the earlier answers from the merged answer at element at of
	// the caller's conversation, and leaves the last one. It returns false if
	// the element is not that answer.
	cut(elems []json.RawMessage, at int, r *round) ([]json.RawMessage, bool)
	streaming
}

// streaming holds the operations for streams, where the caller receives an
// answer while it is read, and the next answer continues the same stream.
type streaming interface {
	// scan looks for calls in an event, and for reasoning that can lead to a
	// call.
	scan(f *flow, o rawObject)
	// bind marks reasoning that led only to recall calls, because the caller will
	// send it back without these calls.
	bind(p *pieces, s *said)
	// unend removes the end of the answer from an event, or drops the event, so
	// that the next answer can continue the stream.
	unend(e *piece)
	// note records that the caller has received an answer.
	note(j *joint, p *pieces)
	// follow turns an event of a later answer into one that continues the
	// first.
	follow(j *joint, e *piece)
	// failure turns an error into the data of an event of the stream, and
	// returns the event's name; "" = events of this wire have no names.
	failure(j *joint, o rawObject, message string) string
	// unbind returns an element without marked reasoning, and nil if nothing is
	// left.
	unbind(elem json.RawMessage) json.RawMessage
}

var dialects = map[string]dialect{
	"openai": chatDialect{}, "responses": responsesDialect{}, "anthropic": anthropicDialect{}, "gemini": geminiDialect{},
}

// fields returns the spans of the named fields of a body. The body was parsed
// before, so bytes after its end are not checked.
func fields(body []byte, names ...string) (map[string]jsonscan.Span, error) {
	found := map[string]jsonscan.Span{}
	span := jsonscan.Span{Start: jsonscan.Space(body, 0), End: len(body)}
	return found, jsonscan.Object(body, span, func(m jsonscan.Member) error {
		for _, name := range names {
			if m.Key == name {
				found[name] = m.Value
			}
		}
		return nil
	})
}

// hasTools reports whether a request declares tools.
func hasTools(body []byte) bool {
	at, err := fields(body, "tools")
	return err == nil && len(list(at["tools"].Of(body))) > 0
}

// behind returns the body with elem appended to the list in span.
func behind(body []byte, span jsonscan.Span, elem []byte) []byte {
	out := append([]byte(nil), body[:span.End-1]...)
	if jsonscan.Space(body, span.Start+1) < span.End-1 {
		out = append(out, ',')
	}
	return append(append(out, elem...), body[span.End-1:]...)
}

// withField returns the body with one more field, in the first place.
func withField(body []byte, name string, value []byte) []byte {
	at := jsonscan.Space(body, 0) + 1
	out := append([]byte(nil), body[:at]...)
	out = append(append(append(append(out, '"'), name...), `":`...), value...)
	if next := jsonscan.Space(body, at); next < len(body) && body[next] != '}' {
		out = append(out, ',')
	}
	return append(out, body[at:]...)
}

// declareAmong implements declare for wires whose tools are a flat list.
func declareAmong(body, definition []byte, named func(tool rawObject) string) ([]byte, bool) {
	at, err := fields(body, "tools", "functions")
	if err != nil {
		return body, false
	}
	if _, legacy := at["functions"]; legacy {
		return body, false
	}
	tools := list(at["tools"].Of(body))
	for _, raw := range tools {
		if named(obj(raw)) == recallTool {
			return body, false
		}
	}
	if len(tools) == 0 {
		return body, true
	}
	return behind(body, at["tools"], definition), true
}

// onlyTool returns a body without tools with the given list of tools.
func onlyTool(body, tools []byte) ([]byte, error) {
	at, err := fields(body, "tools")
	if err != nil {
		return nil, err
	}
	if span, there := at["tools"]; there { // an empty list, or null
		return append(append(append([]byte(nil), body[:span.Start]...), tools...), body[span.End:]...), nil
	}
	return withField(body, "tools", tools), nil
}

// appendElements returns the body with elements appended to its conversation.
func appendElements(body []byte, name string, more []json.RawMessage) ([]byte, error) {
	if len(more) == 0 {
		return body, nil
	}
	elems, span, err := elements(body, name)
	if err != nil {
		return nil, err
	}
	return withElements(body, span, append(elems, more...)), nil
}

// elements returns the elements of a body's conversation. A conversation that
// is one string counts as one user message.
func elements(body []byte, name string) ([]json.RawMessage, jsonscan.Span, error) {
	at, err := fields(body, name)
	if err != nil {
		return nil, jsonscan.Span{}, err
	}
	span := at[name]
	raw := span.Of(body)
	if len(raw) > 0 && raw[0] == '"' { // Responses: the user's words
		return []json.RawMessage{enc(map[string]any{"role": "user", "content": json.RawMessage(raw)})}, span, nil
	}
	var elems []json.RawMessage
	err = jsonscan.Array(body, span, func(_ int, e jsonscan.Span) error {
		elems = append(elems, e.Of(body))
		return nil
	})
	return elems, span, err
}

// withElements returns the body with another conversation. Whitespace between
// elements is removed.
func withElements(body []byte, span jsonscan.Span, elems []json.RawMessage) []byte {
	out := append(append([]byte(nil), body[:span.Start]...), '[')
	for i, e := range elems {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(append(out, ']'), body[span.End:]...)
}
