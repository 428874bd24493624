package transport

import (
	"net/http"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// Headers of this package. Headers with this prefix are never sent on.
const (
	ourHeaders    = "X-Compact-"
	sessionHeader = "X-Compact-Session"
	agentHeader   = "X-Compact-Agent"
)

// identity is the owner of the history in a request.
type identity struct{ session, agent, branch string }

// identify returns the owner of the history in a request: from the program,
// otherwise from names in the request, otherwise derived from its content.
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

// told returns the names that the program gave in the context or in headers.
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

// likely derives the id of an unnamed session from the destination, the owner
// and the first user message of a request. With a prompt_cache_key, a user or an
// installation id of Gemini CLI, other processes derive the same id; otherwise
// only this process does.
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

// conversation names a branch by the first user message and the first answer.
// Without branches, concurrent conversations of one session would wait for each
// other.
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

// firstUser returns the index of the first user message, -1 if there is none or
// if the assistant called a tool before it. An agent that works before a user
// speaks is not identified by that user's words.
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
