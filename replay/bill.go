package replay

import (
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/token"
)

// biller prices the calls of one session under one policy, in order.
type biller struct {
	card  price.Card
	count *token.Estimator
	fixed int // tokens before the messages: the tools, and the priming of the reply
	gap   time.Duration

	last []message.Message // messages of the previous call; nil = there was no previous call
}

// bill returns the usage of a call, and whether its prompt changes the previous
// one instead of only extending it.
func (b *biller) bill(view []message.Message, answer message.Message) (u price.Usage, changed bool) {
	total := b.fixed
	for i := range view {
		total += b.count.Message(view[i])
	}
	same, whole := b.common(view)
	switch {
	case b.last == nil, b.card.Lifetime > 0 && b.gap > b.card.Lifetime:
		same = 0
	default:
		same += b.fixed
	}
	changed = b.last != nil && whole < len(b.last)
	u = b.card.Split(total, same)
	u.Output = b.count.Message(answer)
	b.last = view
	return u, changed
}

// common returns the tokens that a view shares with the previous view, and the number
// of shared whole messages. For the first different message, it counts the share of its
// equal leading bytes.
func (b *biller) common(view []message.Message) (tokens, whole int) {
	for whole < len(view) && whole < len(b.last) && message.Identical(view[whole], b.last[whole]) {
		tokens += b.count.Message(view[whole])
		whole++
	}
	if whole < len(view) && whole < len(b.last) {
		tokens += b.partly(view[whole], b.last[whole])
	}
	return tokens, whole
}

func (b *biller) partly(m, before message.Message) int {
	x, y := openai.AppendMessage(nil, m), openai.AppendMessage(nil, before)
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return b.count.Message(m) * n / len(x)
}
