package splice

import (
	"bytes"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// The field "meta" of a message belongs to the codecs: it stands in files, and
// is cut out of what goes to a provider.
const meta = "meta"

// hasMeta reports whether the name is in some JSON at all.
func hasMeta(raw []byte) bool { return bytes.Contains(raw, []byte(`"`+meta+`"`)) }

// withoutMeta reads items as they are sent.
func withoutMeta(parse func([]byte) ([]message.Message, error)) func([]byte) ([]message.Message, error) {
	return func(raw []byte) ([]message.Message, error) {
		sent, protected := strip(raw)
		msgs, err := parse(sent)
		for i := range msgs {
			msgs[i].Protected = msgs[i].Protected || protected
		}
		return msgs, err
	}
}

// strip returns a message without its field meta, raw itself where there is
// none, and whether the field protects the message. Of several the last counts.
func strip(raw []byte) (sent []byte, protected bool) {
	if !hasMeta(raw) {
		return raw, false
	}
	sent, value := jsonscan.Strip(raw, meta)
	return sent, Protected(value, jsonscan.Span{End: len(value)})
}

// Protected reports whether the field meta of a message says that the message
// is protected. Only the boolean true does.
func Protected(raw []byte, at jsonscan.Span) bool {
	if at.End == 0 || raw[at.Start] != '{' {
		return false
	}
	protected := false
	err := jsonscan.Object(raw, at, func(m jsonscan.Member) error {
		if m.Key == "protected" {
			protected = string(m.Value.Of(raw)) == "true"
		}
		return nil
	})
	return err == nil && protected
}

// AppendSent appends a message without its field meta.
func AppendSent(dst, raw []byte) []byte {
	sent, _ := strip(raw)
	return append(dst, sent...)
}
