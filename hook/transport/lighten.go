package transport

import (
	"errors"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
)

var errBody = errors.New("the provider says that the body is too large, and it can't be made smaller")

// lighten compacts a request with media whose body the provider refused as too large without naming
// its limit. The new limit is two thirds of the sent bytes. This limit also applies to later
// requests of the conversation. If removing old images and files does not make the body small
// enough, it returns an error and changes nothing.
func (x *exchange) lighten() error {
	body, res := x.sent, x.res
	x.limit = len(body) / 3 * 2
	err := x.guard(func() error { return x.compact(x.t.windows.of(x.lane())) })
	if err == nil && len(x.sent) > x.limit {
		err = errBody
	}
	if err != nil {
		x.sent, x.res, x.limit = body, res, 0
		return err
	}
	x.t.limits.put(x.lane(), x.limit)
	return nil
}

// hasMedia reports whether a view holds media, which can be removed to make the
// body smaller.
func hasMedia(res *compact.Result) bool {
	for _, m := range res.Messages {
		if m.Has(message.KindImage) || m.Has(message.KindAudio) || m.Has(message.KindFile) {
			return true
		}
	}
	return false
}

// maxBytes returns the limit in bytes of the body, as learned from the provider; 0 =
// unknown.
func (x *exchange) maxBytes() int {
	if x.limit > 0 {
		return x.limit
	}
	return x.t.limits.of(x.lane())
}
