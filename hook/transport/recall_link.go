package transport

import (
	"cmp"
	"encoding/json"
	"slices"
)

// link describes a stored answer of the Responses API that differs from the answer that the caller
// received. A request with previous_response_id continues the stored answer, and the provider
// refuses the request as long as a recall call in that answer has no result.
type link struct {
	id      string            // id of the last answer
	results []json.RawMessage // results of its recall calls
	before  []string          // ids of the stored answers before it, whose calls are answered
	joined  bool              // the caller received them and the last answer as one stream
}

// link remembers the stored answers behind the id that the caller has, if there are several of
// them, or if the stored answer differs from what the caller received. The process remembers a
// limited number of such ids.
func (a *asking) link(s *said, texts []string) {
	if a.ctx != nil { // the id of a stream is that of its first answer
		a.first = cmp.Or(a.first, s.id)
	}
	if s.id == "" {
		return
	}
	if len(s.ours) > 0 || len(a.ids) > 0 {
		to := link{s.id, responsesDialect{}.results(s, texts), slices.Clone(a.ids), a.first != ""}
		a.x.t.rounds.links.update(a.x.linkKey(cmp.Or(a.first, s.id)), func(link) link { return to })
	}
	a.ids = append(a.ids, s.id)
}

// linkKey returns the key of a response id. It includes the host and the credentials, because the
// ids of two servers can be equal.
func (x *exchange) linkKey(id string) string { return origin(x.t.key, x.req, "", nil) + "\x00" + id }

// linked returns a body that continues the stored answer behind its
// previous_response_id, with the results of the recall calls in it.
func (x *exchange) linked(body []byte) []byte {
	at, err := fields(body, "previous_response_id")
	if err != nil || x.t.rounds == nil {
		return body
	}
	span := at["previous_response_id"]
	to := x.t.rounds.links.get(x.linkKey(text(span.Of(body))))
	if to.id == "" {
		return body
	}
	out := slices.Concat(body[:span.Start], enc(to.id), body[span.End:])
	if len(to.results) == 0 {
		return out
	}
	if out, err = prepended(out, to.results); err != nil {
		return body
	}
	return out
}

// prepended returns a body with items before its input, which may be missing.
func prepended(body []byte, items []json.RawMessage) ([]byte, error) {
	at, err := fields(body, "input")
	if err != nil {
		return nil, err
	}
	span, there := at["input"]
	switch {
	case !there:
		return withField(body, "input", enc(items)), nil
	case isNone(span.Of(body)):
		return withElements(body, span, items), nil
	}
	elems, span, err := elements(body, "input")
	if err != nil {
		return nil, err
	}
	return withElements(body, span, slices.Concat(items, elems)), nil
}

// isNone reports whether a value is missing or null.
func isNone(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
