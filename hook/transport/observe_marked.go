package transport

import (
	"bytes"
	"net/http"
)

// keepMarked remembers a body for unmarked if it can hold a boundSeal. A body that
// the client compressed is inspected only if it is refused.
func (l *look) keepMarked(body []byte) {
	if bytes.Contains(body, []byte(boundSeal)) || requestCoding(l.x.req.Header) != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.marked = body
	}
}

// unmarked returns the answer to a request that was sent unchanged. If the provider
// refused it and it holds reasoning with a boundSeal, which only this package writes,
// the request is sent again without that reasoning. If that fails, the first answer is
// returned.
func (l *look) unmarked(req *http.Request, resp *http.Response) *http.Response {
	l.mu.Lock()
	body := l.marked
	l.marked = nil
	l.mu.Unlock()
	if body == nil || resp.StatusCode != http.StatusBadRequest {
		return resp
	}
	x := &exchange{t: l.x.t, req: req, next: l.x.next, format: l.x.format, body: body}
	changed := false
	err := x.guard(func() error {
		if err := x.unpack(); err != nil {
			return err
		}
		plain := x.body
		x.unbind()
		changed = !bytes.Equal(plain, x.body)
		return nil
	})
	if err != nil || !changed {
		return resp
	}
	second, err := x.send(x.body, again)
	if err != nil {
		return resp
	}
	_ = resp.Body.Close()
	return second
}
