package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// packed is a body that the client compressed.
type packed struct {
	raw   []byte // as it came in
	plain []byte // what it stands for
}

var errPacked = errors.New("the body is not what its Content-Encoding says")

// requestCoding returns how the body of a request is compressed.
func requestCoding(h http.Header) coding {
	return codingOf(&http.Response{Header: http.Header{"Content-Encoding": h["Content-Encoding"]}})
}

// unpack takes a body for what it stands for. The one that came in is kept:
// what is not changed goes out as those very bytes.
func (x *exchange) unpack() error {
	c := requestCoding(x.req.Header)
	if c == "" {
		return nil
	}
	r, err := c.reader(bytes.NewReader(x.body))
	if err != nil {
		return x.fault(opRead, errors.Join(errPacked, err))
	}
	plain, err := io.ReadAll(io.LimitReader(r, x.t.maxBody+1))
	switch {
	case err != nil:
		return x.fault(opRead, errors.Join(errPacked, err))
	case int64(len(plain)) > x.t.maxBody:
		return x.fault(opRead, ErrTooLarge)
	}
	x.packed = &packed{raw: x.body, plain: plain}
	x.body = plain
	return nil
}

// again returns the body as it came in, where it stands for this one.
func (p *packed) again(body []byte) (raw []byte, same bool) {
	if p == nil || !bytes.Equal(body, p.plain) {
		return nil, false
	}
	return p.raw, true
}

// rawly sends a body that can't be unpacked.
func (x *exchange) rawly(cause error) (*http.Response, error) {
	x.who = x.t.told(x.req)
	err := x.fault(opRead, cause)
	if x.t.strict {
		return x.refuse(err), nil
	}
	x.warn(err)
	return x.send(x.body, first)
}

// isEncoded reports whether a body can't be read for how it is compressed.
func isEncoded(h http.Header) bool { return requestCoding(h) == unknown }
