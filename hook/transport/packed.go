package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
)

// packed is a body that the client compressed.
type packed struct {
	raw   []byte // as received
	plain []byte // the decompressed body
}

var errPacked = errors.New("the body does not match its Content-Encoding")

// requestCoding returns how the body of a request is compressed.
func requestCoding(h http.Header) coding {
	return codingOf(&http.Response{Header: http.Header{"Content-Encoding": h["Content-Encoding"]}})
}

// Coding adds a decoder for request bodies, and for answers to requests with the recall
// tool: name is the value of Content-Encoding, and open returns a reader of the decoded
// body. open may be called concurrently; its result is closed if it is an [io.Closer].
func Coding(name string, open func(packed io.Reader) (plain io.Reader, err error)) Option {
	return func(t *Transport) {
		if t.codings == nil {
			t.codings = map[string]func(io.Reader) (io.Reader, error){}
		}
		t.codings[strings.ToLower(name)] = open
	}
}

// opener returns the decoder for the body of a request; nil = there is none.
func (t *Transport) opener(h http.Header) func(packed io.Reader) (io.Reader, error) {
	if c := requestCoding(h); c != unknown {
		return c.reader
	}
	return t.codings[strings.ToLower(strings.TrimSpace(strings.Join(h["Content-Encoding"], ",")))]
}

// unpack decodes the body. It keeps the original bytes, which are sent if the
// body does not change.
func (x *exchange) unpack() error {
	if requestCoding(x.req.Header) == "" {
		return nil
	}
	r, err := x.t.opener(x.req.Header)(bytes.NewReader(x.body))
	if err != nil {
		return x.fault(opRead, errors.Join(errPacked, err))
	}
	if c, ok := r.(io.Closer); ok {
		defer func() { _ = c.Close() }()
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

// again returns the caller's original bytes if they decode to body.
func (p *packed) again(body []byte) (raw []byte, same bool) {
	if p == nil || !bytes.Equal(body, p.plain) {
		return nil, false
	}
	return p.raw, true
}

// rawly sends a body that can't be decoded unchanged; a [Strict] transport refuses the
// call instead.
func (x *exchange) rawly(cause error) (*http.Response, error) {
	x.who = x.t.told(x.req)
	err := x.fault(opRead, cause)
	if x.t.strict {
		return x.refuse(err), nil
	}
	x.warn(err)
	return x.send(x.body, first)
}
