package transport

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/agentcompact/compact/compact"
)

// maxError limits the bytes of an error that are read.
const maxError = 16 << 10

// answerOverflow checks whether the answer says that the request is too long. If so,
// it compacts and sends the request once more, and returns retried true. It returns
// any other answer with its body intact, and the context's error if the caller has
// given up.
func (x *exchange) answerOverflow(resp *http.Response) (_ *http.Response, retried bool, _ error) {
	if resp.StatusCode < 400 || resp.StatusCode >= 500 || resp.Body == nil {
		return resp, false, nil
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	resp.Body = joined{io.MultiReader(bytes.NewReader(text), failed{err}, resp.Body), resp.Body}
	if err != nil {
		return resp, false, nil
	}
	o, ok := readOverflow(resp.StatusCode, x.plain(resp, text))
	switch {
	case ok:
		err = x.tighten(o)
	case resp.StatusCode == http.StatusRequestEntityTooLarge && x.res != nil && hasMedia(x.res):
		x.failed(resp.StatusCode, nil)
		err = x.lighten()
	default:
		return resp, false, nil
	}
	if err == nil {
		_ = resp.Body.Close()
		resp, err = x.send(x.sent, again)
		x.failed(0, err)
		return resp, true, err
	}
	if err := x.unanswered(err); err != nil {
		_ = resp.Body.Close()
		return nil, false, err
	}
	return resp, false, nil
}

// failed reports to the manager that the provider bills nothing for the request: it answered with
// an error or a redirect, or (status 0) err means that there is no connection to it. For any other
// outcome failed does nothing.
func (x *exchange) failed(status int, err error) {
	res := x.asked()
	if res == nil || res == x.refusal || !isUnbilled(status) && !unreached(err) {
		return
	}
	x.refusal = res
	x.t.m.Failed(res, status)
	x.unbilled(x.res)
}

// asked returns the result for the sent request: that of its view or, if no view could be
// made and the request was sent unchanged, that of the failure.
func (x *exchange) asked() *compact.Result {
	if x.res != nil {
		return x.res
	}
	return x.unsent
}

// isUnbilled reports whether a provider bills nothing for an answer. A client that follows
// a redirect calls the transport again.
func isUnbilled(status int) bool { return status >= http.StatusMultipleChoices }

// unreached reports whether an error means that there is no connection to the provider.
func unreached(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	var untrusted *tls.CertificateVerificationError
	var plain tls.RecordHeaderError // of a server that speaks HTTP without TLS
	return errors.As(err, &untrusted) || errors.As(err, &plain) && string(plain.RecordHeader[:]) == "HTTP/"
}

// unanswered reports why no smaller request was sent after an overflow. If the caller
// has given up, it returns the context's error instead: the refusal would tell the
// caller that the conversation is too long for good.
func (x *exchange) unanswered(err error) error {
	if ctx := x.req.Context(); ctx.Err() != nil {
		return ctx.Err()
	}
	x.warn(x.fault(opOverflow, err))
	return nil
}

// failed is a reader that returns only an error, or io.EOF.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

var errNoSmaller = errors.New("the provider says that the context is too long, and there is no smaller view")

// tighten computes a smaller view, for the limit that the provider reported or
// otherwise below the size that was sent. It remembers the window for later requests
// of the lane.
func (x *exchange) tighten(o overflow) error {
	x.forgetSent()
	refused, viewed := x.asked(), x.res
	x.refusal = refused
	window, err := x.shorten(o)
	x.t.m.Refused(refused, compact.Refusal{Limit: o.limit, Prompt: o.prompt, Window: window, Retried: err == nil})
	x.unbilled(viewed)
	return err
}

// shorten computes the smaller view, and returns its window.
func (x *exchange) shorten(o overflow) (window int, err error) {
	counted, err := x.counted()
	if err != nil {
		return 0, err
	}
	counted = x.refused(o, counted)
	before := x.sent
	if window = o.window(counted, x.parsed.About().MaxOutput); window == 0 || x.res == nil && x.least >= window {
		return 0, errNoSmaller // another attempt would count as a second failed call
	}
	if err := x.guard(func() error { return x.compact(window) }); err != nil {
		return window, err
	}
	x.t.windows.put(x.lane(), window)
	if len(x.sent) >= len(before) && bytes.Equal(x.sent, before) {
		return window, errNoSmaller
	}
	return window, nil
}

// counted returns our count of the sent request. A request that was sent unchanged is
// counted now, if possible.
func (x *exchange) counted() (int, error) {
	if x.res != nil {
		return x.res.After.Total, nil
	}
	tokens := 0
	err := x.guard(func() error {
		if x.parsed == nil {
			if err := x.parse(); err != nil {
				return err
			}
		}
		plan, err := x.t.m.Plan(x.req.Context(), x.who.session, x.parsed.Messages(), x.options(0)...)
		if tokens = plan.TokensIn; tokens > 0 {
			return nil
		}
		return err
	})
	return tokens, err
}

// lane identifies the requests for which a window that a provider reported is
// valid.
type lane struct {
	identity
	model string
}

func (x *exchange) lane() lane { return lane{x.who, x.model} }

// windows holds the windows that providers reported, in our count.
type windows struct{ *recent[lane, int] }

// maxWindows limits the number of remembered windows.
const maxWindows = 2048

func newWindows() windows { return windows{newRecent[lane, int](maxWindows)} }

// of returns the window of a lane; 0 = unknown.
func (w windows) of(l lane) int { return w.get(l) }

// put records a window. A recorded window can only become smaller.
func (w windows) put(l lane, n int) {
	w.update(l, func(had int) int {
		if had > 0 {
			return min(had, n)
		}
		return n
	})
}
