package transport

import (
	"net/http"
	"strings"

	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
)

// lentPaths are the paths of requests that hold a conversation and are no model calls. The
// history goes to the provider whole, but without what only this package understands: the
// marks of reasoning that led to a recall call, and ids of answers that differ from the
// stored ones.
var lentPaths = map[string]wire.Format{
	"/responses/compact": responses.Wire, "/responses/input_tokens": responses.Wire, "/messages/count_tokens": anthropic.Wire,
}

// lentFormat returns the wire of such a request; nil = it is sent unread.
func (t *Transport) lentFormat(req *http.Request) wire.Format {
	if t.rounds == nil || req.URL == nil || req.Method != http.MethodPost || req.Body == nil || req.Body == http.NoBody || t.untouchable(req) != nil {
		return nil
	}
	path := strings.TrimSuffix(req.URL.Path, "/")
	for suffix, format := range lentPaths {
		if strings.HasSuffix(path, suffix) {
			return format
		}
	}
	return nil
}

// lender returns the function that sends a request which is no model call. Without marks
// and ids of this package, the request is sent unchanged.
func (t *Transport) lender(req *http.Request, next roundTrip) roundTrip {
	format := t.lentFormat(req)
	if format == nil {
		return next
	}
	return func(req *http.Request) (*http.Response, error) { return t.lend(req, next, format) }
}

func (t *Transport) lend(req *http.Request, next roundTrip, format wire.Format) (*http.Response, error) {
	x := &exchange{t: t, req: req, next: next, format: format}
	body, rest, err := t.readBody(req)
	switch {
	case err != nil:
		return nil, x.fault(opRead, err)
	case rest != nil:
		return next(withRest(req, rest))
	}
	x.body = body
	if err := x.unpack(); err != nil {
		return x.send(body, first)
	}
	out := x.body
	if bad := x.guard(func() error { x.unbind(); out = x.linked(x.body); return nil }); bad != nil {
		x.warn(x.fault(opRecall, bad))
	}
	return x.send(out, first)
}
