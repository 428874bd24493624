package transport

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/wire"
)

// exchange is one model call on its way.
type exchange struct {
	t      *Transport
	req    *http.Request // as it came in; its body has been read
	next   roundTrip
	format wire.Format
	body   []byte // as it came in

	parsed wire.Request // nil = nothing is known of the body
	who    identity
	model  string          // "" = the configured one
	res    *compact.Result // of what is sent; nil = it goes out as it came in
	sent   []byte
}

// run sends the view of the request, and once more a smaller one if the
// provider says that it is too long.
func (x *exchange) run() (*http.Response, error) {
	if err := x.guard(x.prepare); err != nil {
		if err := x.tell("compact", err); err != nil {
			return nil, err
		}
		x.res, x.sent = nil, x.body
	}
	resp, err := x.send(x.sent, first)
	if err != nil || x.res == nil {
		return resp, err
	}
	resp, retried, err := x.answerOverflow(resp)
	if err != nil {
		return nil, err
	}
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
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// prepare decides what is sent.
func (x *exchange) prepare() error {
	x.sent = x.body
	parsed, err := x.format.ParseRequest(x.body, x.t.cache)
	if err != nil {
		return x.fault("parse", err)
	}
	about := parsed.About()
	if about.ServerSide != "" {
		return nil
	}
	x.parsed, x.who, x.model = parsed, x.t.identify(x.req, parsed), x.modelOf(about.Model)
	window := x.t.windows.of(x.lane())
	err = x.compact(window)
	if err != nil && window > 0 && x.req.Context().Err() == nil && !errors.Is(err, compact.ErrArchiveFailed) && x.compact(0) == nil {
		return nil // what a provider once said may be less than what has to be sent by now
	}
	return err
}

// modelOf returns the model that a request means, which names this one; "" =
// the configured one.
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

// compact makes the view for a window of so many tokens; 0 is the model's own.
func (x *exchange) compact(window int) error {
	opts := []compact.Option{
		compact.WithRequest(x.parsed), compact.WithModel(x.model), compact.WithWindow(window),
		compact.WithAgent(x.who.agent), compact.WithBranch(x.who.branch),
	}
	res, err := x.t.m.Preflight(x.req.Context(), x.who.session, x.parsed.Messages(), append(opts, x.t.call...)...)
	if err != nil {
		return x.fault("compact", err)
	}
	sent, err := x.parsed.Write(res.Messages, res.Sources)
	if err != nil {
		return x.fault("write", err)
	}
	x.res, x.sent = res, sent
	if x.t.onResult != nil {
		x.t.onResult(x.req.Context(), res)
	}
	return nil
}

// attempt says which of the requests of one model call it is.
type attempt int

const (
	first attempt = iota
	again         // after an overflow
)

const idempotencyKey = "Idempotency-Key"

// send sends a body with everything else of the request.
func (x *exchange) send(body []byte, a attempt) (*http.Response, error) {
	out := withBody(x.req, body)
	strip(out.Header)
	if key := out.Header.Get(idempotencyKey); a == again && key != "" {
		out.Header.Set(idempotencyKey, key+"-compacted") // the same key would get the same refusal
	}
	return x.next(out)
}

// meter reads the usage of an answer on its way to the caller.
func (x *exchange) meter(resp *http.Response) {
	kind := countable(resp)
	if kind == notCounted {
		return
	}
	m, res := x.t.m, x.res
	resp.Body = newMeter(resp.Body, kind, func(promptTokens int) {
		m.Observe(res, compact.Usage{PromptTokens: promptTokens})
	})
}
