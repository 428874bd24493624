package transport

import (
	"encoding/json"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// recallTool is the name of the tool that this package answers.
const recallTool = "recall"

// recallCall is one call of it.
type recallCall struct {
	id   string
	args json.RawMessage
	at   int // among the calls of the answer, or the items or blocks, as the wire counts
}

// said is what an answer says, as it stands in a request.
type said struct {
	ours   []recallCall
	others int               // calls that are the caller's
	whole  []json.RawMessage // elements of the conversation
	shown  []json.RawMessage // likewise, without our calls
}

// dialect is what the wires do not have in common.
type dialect interface {
	// list is the field that holds the conversation.
	list() string
	// declare returns the body with the tool behind the others; false where it
	// is not to be declared. A body without tools stays as it is.
	declare(body []byte) ([]byte, bool)
	// only returns a body, which has no tools, with ours.
	only(body []byte) ([]byte, error)
	// read reads an answer; false where it can't be.
	read(p *pieces) (*said, bool)
	// round returns the elements that an answer and its results become.
	round(s *said, texts []string) []json.RawMessage
	// join puts our part of an answer back into the conversation, where the
	// caller has put what it was shown at element n, and its results behind it.
	join(elems []json.RawMessage, n int, b *beside) ([]json.RawMessage, bool)
	// strip takes our calls out of an answer. One that has no others ends as if
	// the model had said all.
	strip(p *pieces, s *said)
	// merge returns what a caller has of two answers that it takes for one.
	merge(first, second []json.RawMessage) []json.RawMessage
	// cut takes what came before the last answer out of one that the caller has
	// put at the element where the round belongs; false where it has not.
	cut(elems []json.RawMessage, at int, r *round) ([]json.RawMessage, bool)
	streaming
}

// streaming is what the wires do not have in common where an answer reaches the
// caller while it is read, and the next one has to go on with it.
type streaming interface {
	// scan looks at an event for calls, and for reasoning that may lead to one.
	scan(f *flow, o rawObject)
	// bind marks reasoning that led to nothing but our calls: the caller sends it
	// back without them.
	bind(p *pieces, s *said)
	// unend takes out of an event that the answer ends.
	unend(e *piece)
	// note adds what the caller has of an answer.
	note(j *joint, p *pieces)
	// follow makes an event of a later answer one of the first.
	follow(j *joint, e *piece)
	// failure makes an error one of a stream, and returns the event's name.
	failure(j *joint, o rawObject, message string) string
	// unbind returns an element without the reasoning that was marked; nil where
	// nothing is left.
	unbind(elem json.RawMessage) json.RawMessage
}

var dialects = map[string]dialect{
	"openai": chatDialect{}, "responses": responsesDialect{}, "anthropic": anthropicDialect{}, "gemini": geminiDialect{},
}

// fields returns the spans of the fields of a body that are named. The body was
// read before: what stands behind it is not looked at.
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

// hasTools reports whether a request declares any.
func hasTools(body []byte) bool {
	at, err := fields(body, "tools")
	return err == nil && len(list(at["tools"].Of(body))) > 0
}

// behind returns the body with an element at the end of the list in span.
func behind(body []byte, span jsonscan.Span, elem []byte) []byte {
	out := append([]byte(nil), body[:span.End-1]...)
	if jsonscan.Space(body, span.Start+1) < span.End-1 {
		out = append(out, ',')
	}
	return append(append(out, elem...), body[span.End-1:]...)
}

// withField returns the body with one more field, the first.
func withField(body []byte, name string, value []byte) []byte {
	at := jsonscan.Space(body, 0) + 1
	out := append([]byte(nil), body[:at]...)
	out = append(append(append(append(out, '"'), name...), `":`...), value...)
	if next := jsonscan.Space(body, at); next < len(body) && body[next] != '}' {
		out = append(out, ',')
	}
	return append(out, body[at:]...)
}

// declareAmong is declare for the wires whose tools are a flat list.
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

// onlyTool returns a body without tools with this list of them.
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

// appendElements returns the body with more elements at the end of its
// conversation.
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
// is one text has none.
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

// withElements returns the body with another conversation. What stands between
// elements goes.
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
