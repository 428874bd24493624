package transport

import (
	"net/http"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// The headers of this package. What begins so does not leave it.
const (
	ourHeaders    = "X-Compact-"
	sessionHeader = "X-Compact-Session"
	agentHeader   = "X-Compact-Agent"
)

// identity is whose history a request holds.
type identity struct{ session, agent, branch string }

// identify finds out whose history a request holds: what the program says,
// then what the request says, then what it looks like.
func (t *Transport) identify(req *http.Request, parsed wire.Request) identity {
	id := t.told(req)
	if id.session != "" {
		return id
	}
	msgs := parsed.Messages()
	if id.branch == "" {
		id.branch = conversation(msgs)
	}
	about := parsed.About()
	if n := namedBy(req.Header, about); n.session != "" {
		id.session = "request:" + n.field + ":" + t.short(req.Context(), n.session)
		if id.agent == "" {
			id.agent = t.short(req.Context(), n.agent)
		}
		return id
	}
	id.session = t.likely(req, about, msgs)
	return id
}

// told returns what the program says: in the context, or in headers.
func (t *Transport) told(req *http.Request) identity {
	h := hintsOf(req.Context())
	id := identity{session: h.session, agent: h.agent, branch: h.branch}
	if id.agent == "" {
		id.agent = req.Header.Get(agentHeader)
	}
	for i := 0; id.session == "" && i < len(t.headers); i++ {
		id.session = req.Header.Get(t.headers[i])
	}
	return id
}

// likely makes the id of a session that nothing names, of where the request
// goes, whose it is and what the user says first. What a conversation shares
// with others (prompt_cache_key, user) makes it one that other processes arrive
// at; else only this process does.
func (t *Transport) likely(req *http.Request, about wire.About, msgs []message.Message) string {
	var first *message.Message
	if i := firstUser(msgs); i >= 0 {
		first = &msgs[i]
	}
	field, value := "prompt_cache_key", about.CacheKey
	if value == "" {
		field, value = "user", about.User
	}
	if value == "" {
		value = req.Header.Get(geminiHeader)
	}
	if value == "" {
		return compact.UnnamedSession + origin(t.key, req, about.User, first)
	}
	return compact.RequestSession + field + ":" + t.short(req.Context(), value) + ":" + origin(nil, req, about.User, first)
}

// conversation tells the conversations of one session apart by how they
// begin: by the user's first message and the first answer. Without it, those
// that are under way at once would wait for each other.
func conversation(msgs []message.Message) (branch string) {
	first := firstUser(msgs)
	if first >= 0 {
		branch = msgs[first].Fingerprint().String()
	}
	for i := first + 1; i < len(msgs); i++ {
		if msgs[i].Role == message.RoleAssistant {
			return branch + "." + msgs[i].Fingerprint().Ref()
		}
	}
	return branch
}

// firstUser returns the index of the first message in which the user speaks, -1
// where there is none. An agent that was at work before is its own master: who
// speaks to it later changes nothing of who it is.
func firstUser(msgs []message.Message) int {
	for i := range msgs {
		switch {
		case msgs[i].IsUser():
			return i
		case msgs[i].Role == message.RoleAssistant && msgs[i].Has(message.KindToolCall):
			return -1
		}
	}
	return -1
}
