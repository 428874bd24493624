package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/agentcompact/compact/compact"
)

// maxError is how much of an error is read, in bytes.
const maxError = 16 << 10

// answerOverflow compacts and sends the request once more, if the answer says
// that it is too long; retried says so. All other answers are handed back
// unread, or as good as that.
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
	if !ok && resp.StatusCode == http.StatusRequestEntityTooLarge && x.lighten() {
		_ = resp.Body.Close()
		resp, err = x.send(x.sent, again)
		return resp, true, err
	}
	if !ok {
		return resp, false, nil
	}
	if err := x.tighten(o); err != nil {
		x.warn(x.fault(opOverflow, err))
		return resp, false, nil
	}
	_ = resp.Body.Close()
	resp, err = x.send(x.sent, again)
	return resp, true, err
}

// failed is a reader that has nothing but an error.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

var errNoSmaller = errors.New("the provider says that the context is too long, and there is no smaller view")

// tighten makes a smaller view, of the size that the provider said or else of
// less than what was sent, and remembers the window for what the session sends
// from now on.
func (x *exchange) tighten(o overflow) error {
	x.forgetSent()
	refused := x.res
	window, err := x.shorten(o)
	x.t.m.Refused(refused, compact.Refusal{Limit: o.limit, Prompt: o.prompt, Window: window, Retried: err == nil})
	return err
}

// shorten makes the smaller view, and returns the window that it is made for.
func (x *exchange) shorten(o overflow) (window int, err error) {
	counted, err := x.counted()
	if err != nil {
		return 0, err
	}
	counted = x.refused(o, counted)
	before := x.sent
	if window = o.window(counted, x.parsed.About().MaxOutput); window == 0 {
		return 0, errNoSmaller
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

// counted returns what was sent, in our count. What went out as it came in is
// looked at now, if that can be done by now.
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

// lane is what a provider's word on the window holds for.
type lane struct {
	identity
	model string
}

func (x *exchange) lane() lane { return lane{x.who, x.model} }

// windows are those that providers said, in our count.
type windows struct{ *recent[lane, int] }

// maxWindows bounds what is remembered; what is not asked for goes first.
const maxWindows = 2048

func newWindows() windows { return windows{newRecent[lane, int](maxWindows)} }

// of returns the window of a lane; 0 = nobody said.
func (w windows) of(l lane) int { return w.get(l) }

// put notes a window. It can only become smaller.
func (w windows) put(l lane, n int) {
	w.update(l, func(had int) int {
		if had > 0 {
			return min(had, n)
		}
		return n
	})
}
