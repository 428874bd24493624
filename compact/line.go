package compact

import (
	"bytes"
	"strings"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
)

// line returns one message as the archive stores it:
//
//	{…the message, redacted…,"meta":{"fp":"…","refs":["3f9a2c1b77de"],"protected":true}}
//
// fp is the sealed fingerprint of the message before redaction, and refs are the
// references of its parts, in order. A message of a wire other than chat
// completions also has the wire's name, in "wire".
func (s *session) line(msg message.Message) redact.Text {
	object := s.object(msg)
	return redact.Join(object, s.metaMember(msg, object))
}

// pieces returns the lines of a history, each in two pieces, which mostly share
// memory with the messages.
func (s *session) pieces(history []message.Message) [][]redact.Text {
	out := make([][]redact.Text, len(history))
	for i := range history {
		object := s.object(history[i])
		out[i] = []redact.Text{object, s.metaMember(history[i], object)}
	}
	return out
}

// object returns the line up to its meta. If nothing was redacted, it shares
// memory with the message.
func (s *session) object(msg message.Message) redact.Text {
	body := oneLine(ledger.FormatOf(msg.Wire()).AppendMessage(nil, msg))
	body = bytes.TrimSuffix(bytes.TrimSpace(body), []byte("}"))
	// The redactor returns an object, too; its closing brace moves after the
	// meta.
	return s.redactor.JSON(append(body, '}')).In(bytes.TrimSpace(msg.Raw())).TrimSuffix("}")
}

// metaMember returns the rest of the line, after the members of the message.
func (s *session) metaMember(msg message.Message, object redact.Text) redact.Text {
	sep := redact.Lit(`,"meta":{"fp":"`)
	if strings.TrimSpace(object.String()) == "{" {
		sep = redact.Lit(`"meta":{"fp":"`)
	}
	texts := []redact.Text{sep, redact.Digest(s.sealed(msg.Fingerprint())), redact.Lit(`","refs":[`)}
	for i, p := range msg.Parts {
		if i > 0 {
			texts = append(texts, redact.Lit(","))
		}
		texts = append(texts, redact.Lit(`"`), redact.Ref(s.sealed(p.Fingerprint())), redact.Lit(`"`))
	}
	texts = append(texts, redact.Lit("]"))
	if w, ok := ledger.WireMark(msg.Wire()); ok {
		texts = append(texts, redact.Lit(`,"wire":"`), w, redact.Lit(`"`))
	}
	if msg.Protected {
		texts = append(texts, redact.Lit(`,"protected":true`))
	}
	return redact.Join(append(texts, redact.Lit("}}"))...)
}

// oneLine removes the line breaks of pretty-printed JSON, which can occur only
// between tokens.
func oneLine(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return raw
	}
	out := raw[:0:0]
	for _, b := range raw {
		if b != '\n' && b != '\r' {
			out = append(out, b)
		}
	}
	return out
}

// lines returns messages in their stored form: one redacted JSON object for
// each line, whose "meta" holds the fingerprints, so that references can be
// found.
func (s *session) lines(history []message.Message, only []int) []redact.Text {
	if only == nil {
		out := make([]redact.Text, len(history))
		for i := range history {
			out[i] = s.line(history[i])
		}
		return out
	}
	out := make([]redact.Text, len(only))
	for k, i := range only {
		out[k] = s.line(history[i])
	}
	return out
}
