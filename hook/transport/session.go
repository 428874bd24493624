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

// identity is whose history a request holds. A conversation without an answer
// is its trunk; those that begin so are branches of it.
type identity struct{ session, agent, branch, trunk string }

// identify finds out whose history a request holds: what the program says,
// then what the request says, then what it looks like.
func (t *Transport) identify(req *http.Request, parsed wire.Request) identity {
	id := t.told(req)
	if id.session != "" {
		return id
	}
	msgs := parsed.Messages()
	if id.branch == "" {
		id.branch, id.trunk = conversation(msgs)
	}
	about := parsed.About()
	if n := namedBy(req.Header, about); n.session != "" {
		id.session = "request:" + n.field + ":" + short(n.session)
		if id.agent == "" {
			id.agent = short(n.agent)
		}
		return id
	}
	id.session = t.likely(req, about, firstUser(msgs))
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
func (t *Transport) likely(req *http.Request, about wire.About, first *message.Message) string {
	field, value := "prompt_cache_key", about.CacheKey
	if value == "" {
		field, value = "user", about.User
	}
	if value == "" {
		return compact.UnnamedSession + origin(t.key, req, about.User, first)
	}
	return "request:" + field + ":" + short(value) + ":" + origin(nil, req, about.User, first)
}

// conversation tells the conversations of one session apart by how they
// begin: by the user's first message and the first answer. Without it, those
// that are under way at once would wait for each other.
func conversation(msgs []message.Message) (branch, trunk string) {
	for i := range msgs {
		switch {
		case trunk == "" && msgs[i].IsUser():
			trunk = msgs[i].Fingerprint().String()
		case trunk != "" && msgs[i].Role == message.RoleAssistant:
			return trunk + "." + msgs[i].Fingerprint().Ref(), trunk
		}
	}
	return trunk, trunk
}

// firstUser returns the first message in which the user speaks.
func firstUser(msgs []message.Message) *message.Message {
	for i := range msgs {
		if msgs[i].IsUser() {
			return &msgs[i]
		}
	}
	return nil
}
