package transport

import (
	"errors"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
)

var errBody = errors.New("the provider says that the body is too large, and there is no smaller one")

// lighten makes a smaller body of a request that the provider finds too large, without
// saying what it takes: two thirds of what was sent, which also is what the conversation
// may have from now on. It reports false where what can be taken out of it for that, old
// pictures and files, is not enough.
func (x *exchange) lighten() bool {
	before, body, res := len(x.sent), x.sent, x.res
	if res == nil || !hasMedia(res) {
		return false
	}
	x.limit = before / 3 * 2
	err := x.guard(func() error { return x.compact(x.t.windows.of(x.lane())) })
	if err == nil && len(x.sent) > x.limit {
		err = errBody
	}
	if err != nil {
		x.warn(x.fault(opOverflow, err))
		x.sent, x.res, x.limit = body, res, 0
		return false
	}
	x.t.limits.put(x.lane(), x.limit)
	return true
}

// hasMedia reports whether there is something that may go for the size of the body.
func hasMedia(res *compact.Result) bool {
	for _, m := range res.Messages {
		if m.Has(message.KindImage) || m.Has(message.KindAudio) || m.Has(message.KindFile) {
			return true
		}
	}
	return false
}

// maxBytes is how large the body may be as far as the provider said; 0 = it did not.
func (x *exchange) maxBytes() int {
	if x.limit > 0 {
		return x.limit
	}
	return x.t.limits.of(x.lane())
}
