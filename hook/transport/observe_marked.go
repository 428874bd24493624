package transport

import (
	"bytes"
	"net/http"
)

// keepMarked remembers a body for unmarked, where there may be marks in it: one that
// the client compressed is looked into only if it is refused.
func (l *look) keepMarked(body []byte) {
	if bytes.Contains(body, []byte(boundSeal)) || requestCoding(l.x.req.Header) != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.marked = body
	}
}

// unmarked is the answer to a request that went out as it came. Where that is
// refused and holds reasoning that Recall once marked, which without this package
// would not be in it, it is sent again without, and that answer is returned. What goes
// wrong with that leaves the first one.
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
