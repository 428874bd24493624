package transport

import (
	"net/http"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
)

// lent is a request that holds a conversation and is no model call. The provider gets the whole
// history, without the data that only this package understands: the marks of reasoning that led to
// a recall call, and ids of answers that differ from the stored ones.
type lent struct {
	suffix string // of the path
	format wire.Format
	list   string // the field with the conversation
}

var lents = []lent{
	{"/responses/compact", responses.Wire, "input"},
	{"/responses/input_tokens", responses.Wire, "input"},
	{"/messages/count_tokens", anthropic.Wire, "messages"},
	{vertexCount, anthropic.Wire, "messages"},
	{"/conversations", responses.Wire, "items"},
	{"/items", responses.Wire, "items"}, // …/conversations/{id}/items
}

// lent returns the form of such a request; nil = it is sent unread.
func (t *Transport) lent(req *http.Request) *lent {
	if t.watch != nil || req.URL == nil || req.Method != http.MethodPost || req.Body == nil || req.Body == http.NoBody || t.untouchable(req) != nil {
		return nil
	}
	path := strings.TrimSuffix(req.URL.Path, "/")
	i := slices.IndexFunc(lents, func(l lent) bool { return strings.HasSuffix(path, l.suffix) })
	if i < 0 || lents[i].suffix == "/items" && !isOf(path, "conversations") {
		return nil
	}
	return &lents[i]
}

// lender returns the function that sends a request which is no model call. Without marks
// and ids of this package, the request is sent unchanged.
func (t *Transport) lender(req *http.Request, next roundTrip) roundTrip {
	if s := t.storedAnswer(req, next); s != nil {
		return func(*http.Request) (*http.Response, error) { return s.send() }
	}
	as := t.lent(req)
	if as == nil {
		return next
	}
	return func(req *http.Request) (*http.Response, error) { return t.lend(req, next, as) }
}

func (t *Transport) lend(req *http.Request, next roundTrip, as *lent) (*http.Response, error) {
	x := &exchange{t: t, req: req, next: next, format: as.format}
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
	if bad := x.guard(func() error { x.unbindIn(as.list); out = x.linked(x.body); return nil }); bad != nil {
		x.warn(x.fault(opRecall, bad))
	}
	return x.send(out, first)
}
