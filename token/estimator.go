package token

import (
	"crypto/sha256"

	"github.com/agentcompact/compact/message"
)

// DefaultCachedMessages is how many messages an [Estimator] remembers the cost
// of when [EstimatorOptions] does not say.
const DefaultCachedMessages = 1 << 15

// An Estimator prices messages and requests for one model. It can't be
// changed, may be used from many goroutines at once, and is meant to be shared
// by all sessions of a model: a message that any of them has shown before is
// priced without its text being touched again.
type Estimator struct {
	format format
	cache  *cache // nil: every message is priced anew
}

// EstimatorOptions are the optional settings of [NewEstimator].
type EstimatorOptions struct {
	// CachedMessages bounds the number of messages whose cost is remembered
	// (about 60 bytes each). 0 means [DefaultCachedMessages]; it is rounded up
	// to a power of two.
	CachedMessages int
}

// A format is one way of pricing.
type format interface {
	message(m *message.Message) priced // with its share of the format
	part(p *message.Part) Mix          // without
	text(s string) int
	tools(schemas []byte) int // a JSON array
	reply() int               // what primes the answer
}

// NewEstimator returns an estimator that prices requests to model as the chat
// format does. counter nil means [ForModel], whose error is returned; o nil
// means the defaults.
func NewEstimator(model string, counter Counter, o *EstimatorOptions) (*Estimator, error) {
	if counter == nil {
		c, err := ForModel(model)
		if err != nil {
			return nil, err
		}
		counter = c
	}
	size := DefaultCachedMessages
	if o != nil && o.CachedMessages > 0 {
		size = o.CachedMessages
	}
	return &Estimator{format: newChat(model, counter), cache: newCache(size)}, nil
}

// NewGatewayEstimator returns an estimator that prices as the gateway preset
// does: the bytes of each part divided by four and rounded down, the tool
// calls of a message taken together as the compact JSON of the chat wire, and
// 4 for each message. There is no reply primer.
func NewGatewayEstimator() *Estimator { return &Estimator{format: gateway{}} }

// NewCharsEstimator returns an estimator whose unit is not tokens but the
// UTF-16 code units of text and tool results: the unit of the history-reducer
// preset. Tool calls, reasoning, schemas and the format itself cost nothing.
func NewCharsEstimator() *Estimator { return &Estimator{format: charsFormat{}} }

// Message returns the cost of a message in a request, with what the format
// adds for each message and for a name. One that the provider does not read costs
// nothing.
func (e *Estimator) Message(m message.Message) int { return e.Mix(m).Total() }

// Mix returns the cost of a message by the kind of its text.
func (e *Estimator) Mix(m message.Message) Mix {
	if m.Unread {
		return Mix{}
	}
	if e.cache != nil {
		if p, ok := e.cache.lookup(keyOf(&m)); ok {
			return p.Mix
		}
	}
	unknown := m // what is handed to a format goes to the heap, and m need not
	return e.price(&unknown).Mix
}

// priced is what a message costs.
type priced struct {
	Mix
	tools []int // what each tool call and each result of it costs, in order
}

func (e *Estimator) price(m *message.Message) priced {
	if m.Unread {
		return priced{}
	}
	if e.cache == nil {
		return e.format.message(m)
	}
	key := keyOf(m)
	if p, ok := e.cache.lookup(key); ok {
		return p
	}
	p := e.format.message(m)
	e.cache.store(key, p)
	return p
}

func keyOf(m *message.Message) cacheKey { return cacheKey{m.Fingerprint(), shape(m)} }

// Messages returns the cost of messages together, without tools and reply.
func (e *Estimator) Messages(msgs []message.Message) int {
	n := 0
	for i := range msgs {
		n += e.price(&msgs[i]).Total()
	}
	return n
}

// Part returns what one part adds to its message. Every part costs at least 1,
// but for text, reasoning and results that are empty; an estimator made by
// [NewGatewayEstimator] or [NewCharsEstimator] may round down to 0.
func (e *Estimator) Part(p message.Part) int { return e.format.part(&p).Total() }

// Text returns the cost of a text by itself.
func (e *Estimator) Text(s string) int { return e.format.text(s) }

// Tools returns the cost of tool schemas: the JSON of the tools field of a
// request, in the form of any of the known wires. JSON that is none of them is
// priced as text. No schemas cost 0.
func (e *Estimator) Tools(schemas []byte) int {
	if len(schemas) == 0 {
		return 0
	}
	if e.cache == nil {
		return e.format.tools(schemas)
	}
	sum := sha256.Sum256(schemas)
	key := cacheKey{message.Fingerprint(sum[:16]), ^uint64(len(schemas))}
	if p, ok := e.cache.lookup(key); ok {
		return p.Total()
	}
	n := e.format.tools(schemas)
	e.cache.store(key, priced{Mix: Mix{Code: n}})
	return n
}

// Reply returns what a request costs besides its messages and tools: the
// tokens that prime the model's answer.
func (e *Estimator) Reply() int { return e.format.reply() }
