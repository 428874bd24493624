// Package meta reads and removes the field "meta" of a message, which belongs to the
// codecs: it stays in files, and is removed from messages for a provider.
package meta

import (
	"bytes"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// Key is the name of the field.
const Key = "meta"

// In reports whether the name occurs anywhere in some JSON.
func In(raw []byte) bool { return bytes.Contains(raw, []byte(`"`+Key+`"`)) }

// Without wraps parse so that it gets messages without the field, as the provider does.
func Without(parse func([]byte) ([]message.Message, error)) func([]byte) ([]message.Message, error) {
	return func(raw []byte) ([]message.Message, error) {
		sent, protected := Strip(raw)
		msgs, err := parse(sent)
		for i := range msgs {
			msgs[i].Protected = msgs[i].Protected || protected
		}
		return msgs, err
	}
}

// Strip returns a message without the field (raw itself if it has none), and whether
// the field protects the message. If the field occurs several times, the last one is
// used.
func Strip(raw []byte) (sent []byte, protected bool) {
	if !In(raw) {
		return raw, false
	}
	sent, value := jsonscan.Strip(raw, Key)
	return sent, Protected(value, jsonscan.Span{End: len(value)})
}

// Protected reports whether the field protects the message. Only the boolean true
// protects it.
func Protected(raw []byte, at jsonscan.Span) bool {
	protected := false
	_ = jsonscan.Object(raw, at, func(m jsonscan.Member) error { // no member if the value is no object
		if m.Key == "protected" {
			protected = string(m.Value.Of(raw)) == "true"
		}
		return nil
	})
	return protected
}

// AppendSent appends a message without the field.
func AppendSent(dst, raw []byte) []byte {
	sent, _ := Strip(raw)
	return append(dst, sent...)
}
