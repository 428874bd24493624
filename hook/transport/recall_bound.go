package transport

import (
	"bytes"
	"encoding/json"
)

// boundSeal stands where the signature of reasoning stood that led to nothing
// but a call of ours. The caller has the reasoning and not the call; with the
// signature the provider would refuse it in the next request.
const boundSeal = "compact:recalled"

// unbind takes reasoning that was marked out of a body, whichever process marked
// it: where this one remembers the round, it is there whole.
func (x *exchange) unbind() {
	d := dialects[x.format.Name()]
	if d == nil || !bytes.Contains(x.body, []byte(boundSeal)) {
		return
	}
	elems, span, err := elements(x.body, d.list())
	if err != nil {
		return
	}
	kept, changed := make([]json.RawMessage, 0, len(elems)), false
	for _, e := range elems {
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

// bound returns where the reasoning stands that leads to one of our calls and
// nothing else: directly before it.
func (s *said) bound(isReasoning func(at int) bool) map[int]bool {
	at := map[int]bool{}
	for _, c := range s.ours {
		for k := c.at - 1; k >= 0 && (isReasoning(k) || s.isOurs(k)); k-- {
			at[k] = !s.isOurs(k)
		}
	}
	return at
}
