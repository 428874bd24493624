// Package wire defines the interface of a provider's wire (its JSON format): a
// request body is parsed into messages and written back by splicing, and the new
// body is checked against the provider's rules before it is sent.
//
// The packages message/openai (chat completions), message/responses,
// message/anthropic and message/gemini implement the wires; message/formats
// detects the wire of a body.
package wire

import (
	"encoding/json"

	"github.com/agentcompact/compact/message"
)

// A Format is one provider's wire. It is safe for concurrent use.
type Format interface {
	// Name is "openai", "responses", "anthropic" or "gemini"; it is the
	// [message.Message.Wire] of the messages that the format reads.
	Name() string

	// ParseRequest reads the body of a request. The body is kept, not copied,
	// and must not be modified afterwards. Messages that were parsed before are
	// taken from the cache, which may be nil. Unknown fields are not an error
	// and survive; an error names the field.
	ParseRequest(body []byte, c *Cache) (Request, error)

	// ParseMessage reads one message in the form of AppendMessage.
	ParseMessage(raw []byte) (message.Message, error)

	// AppendMessage appends a message as one JSON object, without the field "meta" of
	// files. A message that came from this wire keeps its bytes; any other message is
	// converted.
	AppendMessage(dst []byte, m message.Message) []byte
}

// A Request is a parsed request body. It is immutable and safe for concurrent
// use.
type Request interface {
	// Format returns the wire of the body.
	Format() Format

	// Messages returns the conversation: the messages of the body. If the wire
	// keeps the system prompt in a field of its own, it comes first, as a
	// protected message. The slice is shared and must not be modified.
	Messages() []message.Message

	// About describes the rest of the body.
	About() About

	// Write returns the body with another conversation. view replaces Messages,
	// and sources holds, for each message of view, its index in Messages (edited
	// or not), or -1 for a new message. All bytes outside of edited, removed and
	// new messages stay the same. For a view that is equal to Messages, Write
	// returns the same slice.
	Write(view []message.Message, sources []int) ([]byte, error)

	// Check checks the body that Write would return against the provider's rules. The
	// request itself may already break rules: see [New].
	Check(view []message.Message, sources []int) []Violation
}

// About describes the fields of a request other than its conversation.
type About struct {
	Model     string          // "" if the path of the request names the model
	Tools     json.RawMessage // schemas, unchanged from the body; nil = none
	MaxOutput int             // limit of the answer in tokens; 0 = not stated
	Stream    bool
	Bytes     int // length of the body

	// ServerSide names the field by which the provider stores the history or
	// compacts it itself ("previous_response_id", "conversation", …); "" = none.
	// Such a body must be sent unchanged. Delta means that the body holds only
	// the newest part of the history. ServerID is the provider's id of the
	// history; "" = only the newest part has an id.
	ServerSide string
	Delta      bool
	ServerID   string
	// ServerTrigger is the number of tokens from which the provider compacts a history that the
	// body holds completely; 0 = never. A caller may compact such a body if its own trigger is
	// lower.
	ServerTrigger int

	// Cached names the part of the prompt that the provider already has and that
	// is in no message: Gemini's cachedContent. "" = none.
	Cached string

	// Fields that may name the session, as on the wire.
	CacheKey string            // prompt_cache_key
	User     string            // user, safety_identifier, metadata.user_id
	Metadata map[string]string // members of metadata whose values are strings

	ClientMetadata map[string]string // members of client_metadata whose values are strings
}

// A Violation is a rule of the provider that a conversation breaks.
type Violation struct {
	Check  string // the name of the rule, e.g. "tool_result_without_call"
	ID     string // subject of the violation: a call id, or another value that distinguishes it within the check
	Index  int    // index of the message in the view; -1 = the conversation as a whole
	Detail string // description, with the provider's error message if it is known
}

func (v Violation) Error() string { return v.Check + ": " + v.Detail }

// New returns the violations in after that are not in before; a reduction caused these. Two
// violations are the same if Check and ID are equal.
func New(before, after []Violation) []Violation {
	if len(after) == 0 {
		return nil
	}
	type key struct{ check, id string }
	had := map[key]int{}
	for _, v := range before {
		had[key{v.Check, v.ID}]++
	}
	var out []Violation
	for _, v := range after {
		k := key{v.Check, v.ID}
		if had[k]--; had[k] < 0 {
			out = append(out, v)
		}
	}
	return out
}
