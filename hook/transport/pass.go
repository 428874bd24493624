package transport

import (
	"net/http"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message/wire"
)

// pass sends a model call as it came in, and says so once a conversation.
func (t *Transport) pass(req *http.Request, next roundTrip, p *passed) (*http.Response, error) {
	id := t.told(req)
	err := &Error{Op: opPass, Path: req.URL.Path, Session: id.session, Err: p}
	t.voice.once(req.Context(), t.unread(req, id, p), err)
	return next(stripped(req))
}

// unread names the conversation of a request that is not read, as well as may
// be: a signature is another one every time, so that there the host has to do.
func (t *Transport) unread(req *http.Request, id identity, p *passed) string {
	if id.session != "" {
		return id.session
	}
	if n := namedBy(req.Header, wire.About{}); n.session != "" {
		return n.field + ":" + n.session
	}
	if p.what == signed {
		return req.URL.Host
	}
	return origin(t.key, req, "", nil)
}

// before reports whether a request is compacted although its provider would do
// that, too, from some size on: where that is more than goes out of here, the provider never
// comes to it. Of two thresholds the lower one works, and never both in one call.
func (x *exchange) before(about wire.About) bool {
	if about.ServerTrigger == 0 {
		return false
	}
	most, err := x.t.m.CallBudget(x.req.Context(), x.options(x.t.windows.of(x.lane()))...)
	return err == nil && about.ServerTrigger > most
}

// compactions are paths that have a provider compact a history, in the form in
// which it takes model calls.
var compactions = []string{"/responses/compact"}

// compacting reports whether a request has the provider compact a history: it
// goes out whole, because a view of it would become a summary of what was left.
// The history that begins with what comes back is another one.
func compacting(req *http.Request) bool {
	if req.URL == nil || req.Method != http.MethodPost {
		return false
	}
	path := strings.TrimSuffix(req.URL.Path, "/")
	return slices.ContainsFunc(compactions, func(s string) bool { return strings.HasSuffix(path, s) })
}

// theirs says that the provider holds the history of a request, or compacts it
// itself.
func (x *exchange) theirs(about wire.About) {
	x.passed = true
	p := &passed{about.ServerSide, "the provider holds the history, or compacts it itself"}
	conversation := x.who.session
	if about.Delta { // how it begins is another one every time
		conversation = x.t.unread(x.req, x.t.told(x.req), p) + about.ServerID
	}
	x.t.voice.once(x.req.Context(), conversation, x.fault(opPass, p))
}
