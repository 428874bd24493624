package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// keepSent remembers a request that the provider accepted. A request for a
// summary by the agent's model repeats it and appends an instruction.
func (x *exchange) keepSent(resp *http.Response) {
	if x.t.sent == nil || x.res == nil || resp.StatusCode/100 != 2 {
		return
	}
	s := &sentRequest{body: x.sent, to: x.destination(), view: make([]message.Fingerprint, len(x.res.Messages))}
	for i := range x.res.Messages {
		s.view[i] = x.res.Messages[i].Fingerprint()
	}
	x.t.sent.put(x.lane(), s)
}

// forgetSent forgets a request that the provider refused after all.
func (x *exchange) forgetSent() {
	if x.t.sent != nil {
		x.t.sent.drop(x.lane(), x.sent)
	}
}

// lastRequest returns the option that gives the manager the last request. The option is empty if
// there is no such request, or if that request went to another destination, because the prompt
// cache of this one does not have it.
func (x *exchange) lastRequest() compact.Option {
	last := x.t.sent.get(x.lane())
	if last == nil || last.to != x.destination() {
		return compact.WithLastRequest(compact.LastRequest{})
	}
	y := *x // a copy, because the summary can outlive the call
	y.req = x.req.Clone(x.req.Context())
	return compact.WithLastRequest(compact.LastRequest{View: last.view, Ask: func(ctx context.Context, instruction string) (a compact.AgentAnswer, err error) {
		err = y.guard(func() (err error) {
			a, err = y.ask(ctx, last.body, instruction)
			return err
		})
		return a, err
	}})
}

// ask sends the last body with an instruction appended, to the destination and
// with the credentials of this request. The error is the context's, or a
// *compact.AskError.
func (x *exchange) ask(ctx context.Context, last []byte, instruction string) (compact.AgentAnswer, error) {
	body, err := instructed(x.format, x.t.cache, last, instruction)
	if err != nil {
		return compact.AgentAnswer{}, &compact.AskError{Status: http.StatusBadRequest, Err: err}
	}
	resp, err := x.next(x.asking(ctx, body))
	if err != nil {
		if ctx.Err() != nil {
			return compact.AgentAnswer{}, ctx.Err()
		}
		return compact.AgentAnswer{}, &compact.AskError{Err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := readAnswer(resp)
	if err != nil {
		if ctx.Err() != nil {
			return compact.AgentAnswer{}, ctx.Err()
		}
		return compact.AgentAnswer{}, &compact.AskError{Err: err}
	}
	if countable(resp) == notCounted {
		return compact.AgentAnswer{}, refusedAsk(resp, raw)
	}
	a, ok := readAsked(x.format, raw, countable(resp) == stream)
	if !ok {
		return a, &compact.AskError{Status: resp.StatusCode, Unreadable: true, Err: errors.New("the answer can't be read")}
	}
	return a, nil
}

// instructed returns a body with one more user message at its end.
func instructed(f wire.Format, c *wire.Cache, body []byte, instruction string) ([]byte, error) {
	req, err := f.ParseRequest(body, c)
	if err != nil {
		return nil, err
	}
	msgs := req.Messages()
	sources := make([]int, len(msgs))
	for i := range sources {
		sources[i] = i
	}
	before := req.Check(msgs, sources)
	view := append(msgs[:len(msgs):len(msgs)], message.User(instruction))
	sources = append(sources, -1)
	if broken := wire.New(before, req.Check(view, sources)); len(broken) > 0 {
		return nil, fmt.Errorf("an instruction can't follow the request: %w", broken[0])
	}
	return req.Write(view, sources)
}

// asking returns the request for a summary. The caller's httptrace hooks don't
// see it, because they follow the caller's own request.
func (x *exchange) asking(ctx context.Context, body []byte) *http.Request {
	out := withBody(x.req.WithContext(untraced{ctx}), body)
	strip(out.Header)
	out.Header.Del("Content-Encoding")
	out.Header.Del("Accept-Encoding") // so that the answer can be read
	if key := out.Header.Get(idempotencyKey); key != "" {
		out.Header.Set(idempotencyKey, key+"-summary-"+strconv.FormatInt(x.t.asked.Add(1), 10))
	}
	return out
}

// untraced is a context without the hooks of net/http/httptrace.
type untraced struct{ context.Context }

func (c untraced) Value(key any) any {
	v := c.Context.Value(key)
	if _, hooks := v.(*httptrace.ClientTrace); hooks {
		return nil
	}
	return v
}

// readAnswer reads an answer to its end.
func readAnswer(resp *http.Response) ([]byte, error) {
	c := codingOf(resp)
	if c == unknown {
		return nil, errors.New("the answer has a Content-Encoding that can't be read: " + resp.Header.Get("Content-Encoding"))
	}
	r, err := c.reader(resp.Body)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(r, maxAnswer))
	if err == nil && len(raw) == maxAnswer {
		err = errors.New("the answer is too long")
	}
	return raw, err
}

// refusedAsk returns the error for a request that the provider refused, or
// answered in a form that can't be read.
func refusedAsk(resp *http.Response, raw []byte) error {
	e := &compact.AskError{Status: resp.StatusCode}
	_, e.TooLong = readOverflow(resp.StatusCode, raw)
	e.RetryAfter = retryAfter(resp.Header, time.Now())
	text := parseFailure(raw[:min(len(raw), maxError)]).Message
	if len(text) > 300 {
		text = text[:300]
	}
	e.Unreadable = resp.StatusCode/100 == 2
	e.Err = fmt.Errorf("the provider answered %d: %s", resp.StatusCode, text)
	return e
}
