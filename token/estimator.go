package token

import (
	"crypto/sha256"

	"github.com/agentcompact/compact/message"
)

// DefaultCachedMessages is the default of [EstimatorOptions.CachedMessages].
const DefaultCachedMessages = 1 << 15

// An Estimator computes the cost of messages and requests for one model. It is
// immutable, safe for concurrent use, and meant to be shared by all sessions of a
// model: the cost of a message that was counted for any session comes from a cache.
type Estimator struct {
	format format
	cache  *cache // nil: no cache
}

// EstimatorOptions are the optional settings of [NewEstimator].
type EstimatorOptions struct {
	// CachedMessages bounds the number of messages whose cost is cached (about 60
	// bytes each). It is rounded up to a power of two; 0 means
	// [DefaultCachedMessages].
	CachedMessages int
}

// A format computes costs.
type format interface {
	message(m *message.Message) priced // with the overhead of the format
	part(p *message.Part) Mix          // without it
	text(s string) int
	tools(schemas []byte) int // a JSON array
	reply() int               // the tokens that prime the answer
}

// NewEstimator returns an estimator for requests to model in the chat format. A
// nil counter means [ForModel], whose error is returned; a nil o means the
// defaults.
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

// NewGatewayEstimator returns an estimator for the preset gateway: the bytes of
// each part divided by four and rounded down, and 4 for each message. The tool
// calls of a message count together, as the compact JSON of the chat format.
// There is no reply primer.
func NewGatewayEstimator() *Estimator { return &Estimator{format: gateway{}} }

// NewCharsEstimator returns an estimator that counts UTF-16 code units of text
// and tool results instead of tokens. The preset history-reducer counts in this
// unit. Tool calls, reasoning, schemas and the format cost nothing.
func NewCharsEstimator() *Estimator { return &Estimator{format: charsFormat{}} }

// Message returns the cost of a message in a request, with the overhead of the
// format for each message and for a name. A message that the provider does not
// read costs nothing.
func (e *Estimator) Message(m message.Message) int { return e.Mix(m).Total() }

// Mix returns the cost of a message by kind of text.
func (e *Estimator) Mix(m message.Message) Mix {
	if m.Unread {
		return Mix{}
	}
	if e.cache != nil {
		if p, ok := e.cache.lookup(keyOf(&m)); ok {
			return p.Mix
		}
	}
	unknown := m // the copy escapes to the heap, so m does not
	return e.price(&unknown).Mix
}

// priced is the cost of a message.
type priced struct {
	Mix
	tools []int // cost of each tool call and each result, in order
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

// Messages returns the total cost of messages, without tools and reply.
func (e *Estimator) Messages(msgs []message.Message) int {
	n := 0
	for i := range msgs {
		n += e.price(&msgs[i]).Total()
	}
	return n
}

// Part returns the cost that one part adds to its message. It is at least 1,
// except for empty text, reasoning and results. Estimators from
// [NewGatewayEstimator] and [NewCharsEstimator] may round down to 0.
func (e *Estimator) Part(p message.Part) int { return e.format.part(&p).Total() }

// Text returns the cost of a text by itself.
func (e *Estimator) Text(s string) int { return e.format.text(s) }

// Tools returns the cost of tool schemas: the JSON of the tools field of a
// request, in the form of any known API. Other JSON is counted as text. No
// schemas cost 0.
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

// Reply returns the cost of the tokens that prime the model's answer. A request has
// these tokens in addition to its messages and tools.
func (e *Estimator) Reply() int { return e.format.reply() }
