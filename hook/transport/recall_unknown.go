package transport

import (
	"encoding/json"
	"slices"
)

// sendable returns the items of an answer as the provider accepts them back.
func (s *said) sendable() (out []json.RawMessage) {
	for i, raw := range s.whole {
		if !s.unknown || !isReasoning(raw) {
			out = append(out, s.item(i))
		}
	}
	return out
}

// item returns an item of an answer, without its id if the provider does not know it.
func (s *said) item(at int) json.RawMessage {
	if !s.unknown {
		return s.whole[at]
	}
	o := obj(s.whole[at])
	delete(o, "id")
	return enc(o)
}

// isUnknown reports whether the provider does not store the answer to a request, and the answer has
// reasoning without encrypted content. The provider then refuses the id of that reasoning.
func (s *said) isUnknown(body []byte) bool {
	if s.unknown || !s.isOpen() {
		return s.unknown // by the answer itself: some accounts store nothing, whatever the request says
	}
	at, err := fields(body, "store")
	return err == nil && string(at["store"].Of(body)) == "false"
}

// isOpen reports whether an answer has reasoning without its encrypted content.
func (s *said) isOpen() bool {
	return slices.ContainsFunc(s.whole, func(raw json.RawMessage) bool {
		return isReasoning(raw) && text(obj(raw)["encrypted_content"]) == ""
	})
}
