package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"

	"github.com/agentcompact/compact/hook/transport"
)

// rewrite directs a request to its upstream, and changes nothing else.
func rewrite(p *httputil.ProxyRequest) {
	p.Out.URL, p.Out.Host = callOf(p.In.Context()).upstream.url, ""
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := p.In.Header[name]; ok {
			p.Out.Header[name] = v
		}
	}
	p.Out.Trailer = p.In.Trailer // is filled when the body has been read
}

// countingTransport is the last round tripper before the network.
type countingTransport struct {
	base http.RoundTripper
	h    *Handler
}

func (c *countingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if of := callOf(req.Context()); of != nil {
		of.sent.Do(func() { c.h.counters.left(c.h.now().Sub(of.began)) })
	}
	resp, err := c.base.RoundTrip(req)
	if err != nil {
		err = &upstreamError{err}
	}
	return resp, err
}

func (c *countingTransport) CloseIdleConnections() {
	if i, ok := c.base.(interface{ CloseIdleConnections() }); ok {
		i.CloseIdleConnections()
	}
}

// upstreamError is an upstream that did not answer.
type upstreamError struct{ err error }

func (e *upstreamError) Error() string {
	if errors.Is(e.err, io.EOF) {
		return "the provider closed the connection before it answered (" + e.err.Error() + ")"
	}
	return e.err.Error()
}

func (e *upstreamError) Unwrap() error { return e.err }

// failed answers a request that the upstream did not answer, or that broke off.
func (h *Handler) failed(w http.ResponseWriter, r *http.Request, err error) {
	up, status, op := (*upstreamError)(nil), http.StatusBadRequest, "read"
	own := (*transport.Error)(nil)
	timeout := interface{ Timeout() bool }(nil)
	switch {
	case r.Context().Err() != nil && errors.Is(err, context.Canceled):
		panic(http.ErrAbortHandler) // the client has disconnected
	case errors.As(err, &up):
		status, op = http.StatusBadGateway, "upstream"
		if errors.As(err, &timeout) && timeout.Timeout() {
			status = http.StatusGatewayTimeout
		}
	case errors.As(err, &own):
		op = own.Op
	}
	c := callOf(r.Context())
	h.counters.ended(op)
	text := h.m.Redact(strings.ReplaceAll(err.Error(), c.upstream.url.String(), c.upstream.rest))
	h.log.Warn("compact: a request was not answered", "provider", c.upstream.name, "path", h.m.Redact(c.upstream.rest), "op", op, "error", text)
	if own == nil { // otherwise the transport has reported it
		h.live.fail(h.now(), op, text)
	}
	w.Header().Set(errorHeader, op)
	refuse(w, "/"+c.upstream.name+c.upstream.rest, status, "compact: "+op+": "+text)
}

// dropOurs removes this module's own headers.
func dropOurs(h http.Header) {
	for name := range h {
		if strings.HasPrefix(name, "X-Compact-") {
			delete(h, name)
		}
	}
}

// buffers is a pool of buffers for copying answers.
type buffers struct{ sync.Pool }

const bufferSize = 32 << 10

func newBuffers() *buffers {
	return &buffers{sync.Pool{New: func() any { b := make([]byte, bufferSize); return &b }}}
}

func (b *buffers) Get() []byte {
	if p, ok := b.Pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, bufferSize)
}

func (b *buffers) Put(p []byte) { b.Pool.Put(&p) }
