package transport

import (
	"net/http"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message/wire"
)

// pass sends a model call unchanged, and reports that once for each
// conversation.
func (t *Transport) pass(req *http.Request, next roundTrip, p *passed) (*http.Response, error) {
	id := t.told(req)
	err := &Error{Op: opPass, Path: req.URL.Path, Session: id.session, Err: p}
	t.voice.once(req.Context(), t.unread(req, id, p), err)
	return next(stripped(req))
}

// unread returns the most specific name for the conversation of a request that is
// not parsed. A signed request is named by its host, because each signature differs.
func (t *Transport) unread(req *http.Request, id identity, p *passed) string {
	if id.session != "" {
		return id.session
	}
	if n := namedBy(req.Header, wire.About{}); n.session != "" {
		return n.field + ":" + n.session
	}
	if p.what == signed || isSigned(req.Header) {
		return req.URL.Host
	}
	return origin(t.key, req, "", nil)
}

// before reports whether the provider compacts only above a size that exceeds our budget. Such a
// request is compacted here, so the provider's compaction never starts.
func (x *exchange) before(about wire.About) bool {
	if about.ServerTrigger == 0 {
		return false
	}
	most, err := x.t.m.CallBudget(x.req.Context(), x.options(x.t.windows.of(x.lane()))...)
	return err == nil && about.ServerTrigger > most
}

// compactions are the paths of requests by which a provider compacts a history.
var compactions = []string{"/responses/compact"}

// compacting reports whether a request asks the provider to compact a history. Such a request is
// sent whole, because the provider should summarize everything. The conversation that begins with
// the result is a new one.
func compacting(req *http.Request) bool {
	if req.URL == nil || req.Method != http.MethodPost {
		return false
	}
	path := strings.TrimSuffix(req.URL.Path, "/")
	return slices.ContainsFunc(compactions, func(s string) bool { return strings.HasSuffix(path, s) })
}

// theirs sends the request unchanged, except for [exchange.linked], and reports that: the provider stores or
// compacts the history.
func (x *exchange) theirs(about wire.About) {
	x.passed = true
	x.sent = x.linked(x.raw())
	p := &passed{about.ServerSide, "the provider holds the history, or compacts it itself"}
	conversation := x.who.session
	if about.Delta { // the beginning of the request differs each time
		conversation = x.t.unread(x.req, x.t.told(x.req), p) + about.ServerID
	}
	x.t.voice.once(x.req.Context(), conversation, x.fault(opPass, p))
}
