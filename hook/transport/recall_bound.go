package transport

import (
	"bytes"
	"encoding/json"

	"github.com/agentcompact/compact/message/responses"
)

// boundSeal replaces the signature of reasoning that led only to a call of the
// recall tool. The caller receives the reasoning without the call, and a
// provider refuses signed reasoning without its call.
const boundSeal = "compact:recalled"

// unbind removes reasoning with a boundSeal from a body, even if another process wrote
// the seal, and references to it. If this process has the round, the complete round is
// inserted instead.
func (x *exchange) unbind() {
	if d := dialects[x.format.Name()]; d != nil {
		x.unbindIn(d.list())
	}
}

// unbindIn is unbind for a body whose conversation is in the field list.
func (x *exchange) unbindIn(list string) {
	d := dialects[x.format.Name()]
	refers := x.t.rounds != nil && x.format.Name() == responses.Name && x.t.rounds.bound.some()
	if d == nil || !refers && !bytes.Contains(x.body, []byte(boundSeal)) {
		return
	}
	elems, span, err := elements(x.body, list)
	if err != nil {
		return
	}
	kept, changed := make([]json.RawMessage, 0, len(elems)), false
	for _, e := range elems {
		if refers && x.isBound(e) {
			changed = true
			continue
		}
		if bytes.Contains(e, []byte(boundSeal)) {
			rest := d.unbind(e)
			changed = changed || len(rest) != len(e)
			e = rest
		}
		if e != nil {
			kept = append(kept, e)
		}
	}
	if changed {
		x.body = withElements(x.body, span, kept)
	}
}

// positions returns the positions of the recall calls.
func (s *said) positions() map[int]bool {
	at := map[int]bool{}
	for _, c := range s.ours {
		at[c.at] = true
	}
	return at
}

// alone returns the positions that a caller does not get in an answer that is held until its end.
// These are the recall calls. If there is no other call, they include the reasoning that led only
// to the recall calls, because the provider refuses this reasoning without them.
func (s *said) alone(isReasoning func(at int) bool) map[int]bool {
	at := s.positions()
	if s.others > 0 {
		return at
	}
	for k, led := range s.bound(isReasoning) {
		at[k] = at[k] || led
	}
	return at
}

// bound returns the positions of reasoning that led only to a call of the recall
// tool: the reasoning directly before the call.
func (s *said) bound(isReasoning func(at int) bool) map[int]bool {
	at := map[int]bool{}
	for _, c := range s.ours {
		for k := c.at - 1; k >= 0 && (isReasoning(k) || s.isOurs(k)); k-- {
			at[k] = !s.isOurs(k)
		}
	}
	return at
}
