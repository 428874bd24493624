package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/wire"
)

// exchange is one model call.
type exchange struct {
	t      *Transport
	req    *http.Request // as received; its body has been read
	next   roundTrip
	format wire.Format
	body   []byte  // as received
	packed *packed // the compressed original of body; nil = it was not compressed

	parsed wire.Request // the parsed body; nil = not parsed
	passed bool         // the request is not compacted on purpose
	own    string       // the agent that summarizes its own history with this request; "" = none
	who    identity
	model  string          // "" = the configured one
	res    *compact.Result // result for the view; nil = the body is sent unchanged
	unsent *compact.Result // result of the compaction that failed, so that the body is sent unchanged; nil = none failed
	sent   []byte

	unwritten bool // unsent is the result of a compaction whose view could not be written

	dialect dialect           // declares the recall tool; nil = not declared
	bare    bool              // the body declares no tools so far
	inner   []json.RawMessage // hidden rounds of the recall tool in this call

	refusal *compact.Result // the result that was last reported as refused or unbilled; it is not reported twice

	limit int // limit for the body, in bytes, that this call learned; 0 = none
	held  int // tokens that were counted for the named cache
	least int // tokens of the smallest view, if no view fit; 0 = not known
}

// run sends the view of the request. If the provider says that it is too long,
// run sends a smaller view once more. If computing the view fails, it sends the
// original body in the same way; a [Strict] transport refuses the call instead.
func (x *exchange) run() (*http.Response, error) {
	if err := x.guard(x.prepare); err != nil {
		if ctx := x.req.Context(); ctx.Err() != nil {
			return nil, ctx.Err()
		}
		err := x.fault(opCompact, err)
		if x.t.strict {
			return x.refuse(err), nil
		}
		x.warn(err)
		x.res, x.sent = nil, x.raw()
	}
	resp, err := x.send(x.sent, first)
	if err != nil || x.passed {
		x.failed(0, err)
		return resp, err
	}
	resp, retried, err := x.answerOverflow(resp)
	if err != nil {
		return nil, err
	}
	x.failed(resp.StatusCode, nil)
	x.keepSent(resp)
	x.meter(resp)
	if !retried {
		x.watch(resp)
	}
	return resp, nil
}

// guard turns a panic into an error: a hook must not end the program.
func (x *exchange) guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, v, debug.Stack())
		}
	}()
	return f()
}

// raw returns the caller's body without the fields that are meant for this
// module.
func (x *exchange) raw() []byte {
	out := x.body
	_ = x.guard(func() error {
		if x.parsed == nil {
			return nil
		}
		msgs := x.parsed.Messages()
		same := make([]int, len(msgs))
		for i := range same {
			same[i] = i
		}
		body, err := x.parsed.Write(msgs, same)
		if err == nil {
			out = body
		}
		return err
	})
	return out
}

// prepare computes the body to send.
func (x *exchange) prepare() error {
	x.sent = x.body
	if err := x.parse(); err != nil {
		return err
	}
	if about := x.parsed.About(); about.ServerSide != "" && !x.before(about) {
		x.theirs(about)
		return nil
	}
	if x.summarizesItself() {
		return nil
	}
	window := x.t.windows.of(x.lane())
	err := x.compact(window)
	if err != nil && window > 0 && x.req.Context().Err() == nil && !errors.Is(err, compact.ErrArchiveFailed) && x.compact(0) == nil {
		return nil // a window that a provider once reported can be too small for the messages that must stay
	}
	return err
}

// parse parses the body, and identifies its session.
func (x *exchange) parse() error {
	parsed, err := x.format.ParseRequest(x.body, x.t.cache)
	if err != nil {
		return x.fault(opParse, err)
	}
	x.parsed, x.who = parsed, x.t.identify(x.req, parsed)
	x.model = x.modelOf(parsed.About().Model)
	if x.own = ownSummaryOf(parsed.Messages(), func() bool { return hasTools(x.body) }); x.own != "" && x.tooLong() {
		x.own = ""
	}
	if x.own == "" {
		x.equip()
	}
	return nil
}

// modelOf returns the model for the name in a request; "" = the configured one.
func (x *exchange) modelOf(model string) string {
	if model == "" {
		model = pathModel(x.req.URL.Path)
	}
	if x.t.models == nil {
		return model
	}
	if model == "" {
		model = deployment(x.req.URL.Path)
	}
	return x.t.models(model)
}

// compact computes the view for a window in tokens; 0 = the model's own.
func (x *exchange) compact(window int) error {
	res, err := x.t.m.Preflight(x.req.Context(), x.who.session, x.parsed.Messages(), x.options(window)...)
	if err != nil {
		if x.unsent == nil {
			x.unsent = res
		}
		var e *compact.BudgetError
		if errors.As(err, &e) {
			x.least = e.Tokens
		}
		return x.fault(opCompact, err)
	}
	sent, err := x.write(res)
	if err != nil {
		x.unsent, x.unwritten = res, true
		return x.fault(opWrite, err)
	}
	x.res, x.sent = res, sent
	x.declareLate()
	x.result(x.req.Context())
	x.t.voice.warn(x.req.Context(), res)
	return nil
}

// write returns the body with the view, and with cache marks if they are
// enabled.
func (x *exchange) write(res *compact.Result) ([]byte, error) {
	if m, ok := x.parsed.(wire.Marker); ok && x.t.marks {
		return m.WriteMarked(res.Messages, res.Sources, res.Settled())
	}
	return x.parsed.Write(res.Messages, res.Sources)
}

func (x *exchange) options(window int) []compact.Option {
	x.held = x.fixed()
	opts := append([]compact.Option{
		compact.WithRequest(x.parsed), compact.WithModel(x.model), compact.WithWindow(window),
		compact.WithAgent(x.who.agent), compact.WithBranch(x.who.branch), compact.WithFixed(x.held),
		compact.WithMaxBytes(x.maxBytes()),
	}, x.t.call...)
	if x.dialect != nil {
		opts = append(opts, compact.WithRecall())
	}
	if x.t.sent != nil {
		opts = append(opts, x.lastRequest())
	}
	return opts
}

// An attempt distinguishes the first request of a model call from later ones.
type attempt int

const (
	first attempt = iota
	again         // after an overflow
)

const idempotencyKey = "Idempotency-Key"

// send sends a body with the headers of the request.
func (x *exchange) send(body []byte, a attempt) (*http.Response, error) {
	raw, same := x.packed.again(body)
	if same {
		body = raw
	}
	out := withBody(x.req, body)
	strip(out.Header)
	if x.packed != nil && !same {
		out.Header.Del("Content-Encoding")
	}
	if x.dialect != nil {
		out.Header.Del("Accept-Encoding") // so that the answer can be read
	}
	if key := out.Header.Get(idempotencyKey); key != "" {
		out.Header.Set(idempotencyKey, key+x.suffix(a)) // with the same key the provider would return the first answer again
	}
	resp, err := x.next(out)
	if err != nil {
		return resp, err
	}
	return x.readable(resp), nil
}

// suffix returns a suffix that is unique for each request of a model call.
func (x *exchange) suffix(a attempt) (s string) {
	if n := len(x.inner); n > 0 {
		s = "-recall-" + strconv.Itoa(n)
	}
	if a == again {
		s += "-compacted"
	}
	return s
}

// meter reads the usage of an answer on its way to the caller.
func (x *exchange) meter(resp *http.Response) {
	kind, res := countable(resp), x.asked()
	if kind == notCounted || res == nil || x.res == nil && x.unwritten {
		return
	}
	c := x.coding(resp)
	if c == unknown {
		return
	}
	counted := x.held
	var body *meter
	body = newMeter(resp.Body, kind, func(promptTokens int) { x.billed(res, body.bill.of(promptTokens), body.bill.held, counted) })
	body.coding, body.ended = c, x.t.answering()
	resp.Body = body
}
