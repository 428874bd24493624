// Package message models a conversation: messages with roles and ordered parts,
// the rounds and turns that they form, and fingerprints that identify equal
// content.
//
// A message that came from a provider's wire is a read view over verbatim
// bytes. Parts are for reading; the bytes ([Message.Raw]) are sent again, so
// unknown fields survive. Editing replaces one JSON string inside these bytes
// and nothing else.
//
// The package knows no provider. The packages below it (message/openai, …)
// read a provider's JSON and write it back.
package message

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// A Role is the role of the author of a message.
type Role string

// The roles of the common wires. Other roles are kept unchanged.
const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// A Kind is the kind of a part.
type Kind uint8

// The kinds of parts. KindOther is anything a codec does not know.
const (
	KindOther Kind = iota
	KindText
	KindReasoning
	KindToolCall
	KindToolResult
	KindImage
	KindAudio
	KindFile
)

var kindNames = [...]string{"other", "text", "reasoning", "tool_call", "tool_result", "image", "audio", "file"}

// String returns the name of the kind in reports.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "other"
}

// IsMedia reports whether the kind is a picture, a sound or a file.
func (k Kind) IsMedia() bool { return k == KindImage || k == KindAudio || k == KindFile }

// A Part is one piece of a message. A Part is only for reading: to change the text of a
// message that came from a wire, use [Message.WithPartText].
type Part struct {
	Kind   Kind
	Text   string          // decoded text of text, reasoning and tool results
	CallID string          // of a tool call, or of the call that a result (or media within a result) answers
	Name   string          // name of the tool, on some wires also for results
	Args   json.RawMessage // arguments of a tool call as on the wire, decoded if they are a string; for a part of an unknown kind, its JSON
	Media  *Media          // of images, audio and files
	Sealed bool            // signed or encrypted: kept verbatim, or removed with its round
}

// Media describes a picture, a sound or a file.
type Media struct {
	MIME   string
	URL    string // as on the wire; a data URL is kept whole, and never counted as text
	Name   string
	Detail string // "low", "high" or "auto"; "" if the wire has no such field
	Bytes  int    // size on the wire, for media whose dimensions are unknown
	Width  int    // in pixels; 0 = not known
	Height int    // in pixels; 0 = not known
}

// A Message is one entry of a conversation. It is a small value; copies share
// the underlying bytes, which must not be modified.
type Message struct {
	Role  Role
	Name  string // the speaker's name, if the wire has one
	Parts []Part

	// Protected messages are never edited and never removed.
	Protected bool

	// The provider skips unread messages, because its own compaction item after
	// them replaces them. They cost no tokens and are Protected.
	Unread bool

	wire *wire
	memo *memo
}

// wire is the verbatim form, with the position of each part's text.
type wire struct {
	format string
	raw    []byte
	spans  []jsonscan.Span // parallel to Parts; zero = this part can't be edited
	slots  map[int]Slot    // for parts whose span is not a string, see Slotted
}

// A Span is a byte range of a message's raw form: a JSON string, quotes included.
type Span = jsonscan.Span

// FromWire makes a message from a provider's bytes. It is for codecs. format
// is the name of the wire. spans has one entry for each part: the position in
// raw of the JSON string of its text, or the zero Span if there is none, so
// that the part can't be edited. raw is not copied and must not be modified
// afterwards.
func FromWire(m Message, format string, raw []byte, spans []Span) Message {
	m.wire = &wire{format: format, raw: raw, spans: spans}
	m.memo = new(memo)
	return m
}

// Raw returns the provider's own JSON of the message, or nil for one that was
// made in Go. It must not be modified.
func (m Message) Raw() []byte {
	if m.wire == nil {
		return nil
	}
	return m.wire.raw
}

// Wire returns the name of the wire that the message came from ("openai",
// "responses", "anthropic", "gemini"), or "" for a message that was made in Go.
func (m Message) Wire() string {
	if m.wire == nil {
		return ""
	}
	return m.wire.format
}

// ErrSealed is returned for an edit of a signed or encrypted part.
var ErrSealed = errors.New("message: the part is sealed (signed or encrypted) and can't be edited")

// ErrNotText is returned for an edit of a part that holds no text, or whose
// text is not one JSON value in the raw form.
var ErrNotText = errors.New("message: the part has no text that can be edited")

// WithPartText returns a copy of m in which part i has the text s. In a message from a
// wire it replaces exactly one JSON string of the raw form; m itself does not change. A
// picture, a sound or a file that is [Message.Replaceable] becomes a text: its whole piece
// of the raw form is replaced. Errors are [ErrSealed], [ErrNotText], and an index out of
// range.
func (m Message) WithPartText(i int, s string) (Message, error) {
	return m.WithPartTexts(map[int]string{i: s})
}

// mayEdit returns the reason why part i can't be edited. It does not look at the raw form.
func (m Message) mayEdit(i int) error {
	if i < 0 || i >= len(m.Parts) {
		return fmt.Errorf("message: there is no part %d of %d", i, len(m.Parts))
	}
	p := &m.Parts[i]
	switch {
	case p.Sealed:
		return ErrSealed
	case p.Kind.IsMedia():
		if !m.Replaceable(i) {
			return ErrNotText
		}
	case p.Kind != KindText && p.Kind != KindToolResult && p.Kind != KindReasoning:
		return ErrNotText
	}
	return nil
}

// Editable reports whether WithPartText(i, …) can succeed.
func (m Message) Editable(i int) bool {
	if i < 0 || i >= len(m.Parts) || m.Parts[i].Sealed {
		return false
	}
	switch m.Parts[i].Kind {
	case KindText, KindToolResult, KindReasoning:
		return m.wire == nil || m.TextSpan(i).End != 0
	}
	return false
}

// TextSpan returns the position in [Message.Raw] of the text of part i. It
// returns the zero Span if the text is not one JSON string there, as in a
// message that was made in Go.
func (m Message) TextSpan(i int) Span {
	if m.wire == nil || i < 0 || i >= len(m.wire.spans) {
		return Span{}
	}
	return m.wire.spans[i]
}

// Text returns the text parts (not reasoning, not results) joined by newlines.
func (m Message) Text() string { return m.join(KindText) }

// ResultText returns the tool-result parts joined by newlines.
func (m Message) ResultText() string { return m.join(KindToolResult) }

// join joins the texts of the parts of kind k with newlines. It returns the text of a single part
// without a copy.
func (m Message) join(k Kind) string {
	one, n, size := "", 0, 0
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == k {
			n, one = n+1, p.Text
			size += len(p.Text) + 1
		}
	}
	if n < 2 {
		return one
	}
	out := make([]byte, 0, size)
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == k {
			out = append(append(out, p.Text...), '\n')
		}
	}
	return string(out[:size-1])
}

// Has reports whether m has a part of kind k.
func (m Message) Has(k Kind) bool {
	for _, p := range m.Parts {
		if p.Kind == k {
			return true
		}
	}
	return false
}

// IsUser reports whether m is a user's own message. A message in the user's
// role that holds only tool results, as on some wires, is not.
func (m Message) IsUser() bool {
	if m.Role != RoleUser {
		return false
	}
	for _, p := range m.Parts {
		if p.Kind != KindToolResult {
			return true
		}
	}
	return len(m.Parts) == 0
}
