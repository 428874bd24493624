// Package body reads the fields of a request other than its conversation.
package body

import (
	"encoding/json"
	"strconv"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message/wire"
)

// A Body is the top level of a request. Fields that are null, or of a wrong
// type, count as absent: the provider reports wrong types.
type Body struct {
	data    []byte
	members []jsonscan.Member
}

// New returns the top level of a body that was split.
func New(data []byte, members []jsonscan.Member) Body { return Body{data, members} }

// Once returns an error if one of these fields occurs twice, because the provider
// may read the other occurrence.
func (b Body) Once(keys ...string) error {
	for _, key := range keys {
		n := 0
		for _, m := range b.members {
			if m.Key == key {
				n++
			}
		}
		if n > 1 {
			return &wire.FieldError{Field: key, Reason: "occurs twice"}
		}
	}
	return nil
}

// JSON returns the first of these fields that exists, unchanged.
func (b Body) JSON(keys ...string) json.RawMessage {
	for _, key := range keys {
		for i := len(b.members) - 1; i >= 0; i-- { // if a field occurs twice, the last one is used
			m := b.members[i]
			if m.Key != key {
				continue
			}
			if raw := m.Value.Of(b.data); string(raw) != "null" {
				return raw
			}
			break
		}
	}
	return nil
}

// Text returns the first of these fields that is a string.
func (b Body) Text(keys ...string) string {
	for _, key := range keys {
		if s, err := jsonscan.Unquote(b.JSON(key)); err == nil {
			return s
		}
	}
	return ""
}

// Int returns the first of these fields that is a number, 0 if there is none.
func (b Body) Int(keys ...string) int {
	for _, key := range keys {
		if n, err := strconv.Atoi(string(b.JSON(key))); err == nil {
			return n
		}
	}
	return 0
}

// True reports whether a field is true.
func (b Body) True(key string) bool { return string(b.JSON(key)) == "true" }

// Texts returns those members of the object in a field whose values are
// strings.
func (b Body) Texts(key string) map[string]string {
	raw := b.JSON(key)
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	out := map[string]string{}
	_ = jsonscan.Object(raw, jsonscan.Span{End: len(raw)}, func(m jsonscan.Member) error {
		if s, err := jsonscan.Unquote(m.Value.Of(raw)); err == nil {
			out[m.Key] = s
		}
		return nil
	})
	return out
}

// About returns the fields that OpenAI's wires have in common.
func (b Body) About() wire.About {
	a := wire.About{
		Model:    b.Text("model"),
		Stream:   b.True("stream"),
		CacheKey: b.Text("prompt_cache_key"),
		User:     b.Text("user", "safety_identifier"),
		Metadata: b.Texts("metadata"),

		ClientMetadata: b.Texts("client_metadata"),
		Bytes:          len(b.data),
	}
	if a.User == "" {
		a.User = a.Metadata["user_id"]
	}
	return a
}
