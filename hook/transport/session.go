package transport

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	h := hintsOf(req.Context())
	id := identity{session: h.session, agent: h.agent, branch: h.branch}
	if id.agent == "" {
		id.agent = req.Header.Get(agentHeader)
	}
	for i := 0; id.session == "" && i < len(t.headers); i++ {
		id.session = req.Header.Get(t.headers[i])
	}
	if id.session != "" {
		return id
	}
	msgs := parsed.Messages()
	if id.branch == "" {
		id.branch = conversation(msgs)
	}
	if field, value := named(parsed.About()); value != "" {
		id.session = "request:" + field + ":" + short(value)
	} else {
		id.session = t.unnamed(req, msgs)
	}
	return id
}

// conversation tells the conversations of one session apart by how they
// begin: by the user's first message and the first answer. Without it, those
// that are under way at once would wait for each other.
func conversation(msgs []message.Message) (branch string) {
	for i := range msgs {
		switch {
		case branch == "" && msgs[i].IsUser():
			branch = msgs[i].Fingerprint().String()
		case branch != "" && msgs[i].Role == message.RoleAssistant:
			return branch + "." + msgs[i].Fingerprint().Ref()
		}
	}
	return branch
}

// conversationKeys are the members of metadata that name a conversation, in
// the order in which they are believed.
var conversationKeys = []string{"session_id", "conversation_id", "thread_id", "chat_id", "sessionId", "conversationId", "threadId", "chatId"}

// named returns what a request calls its session, and the field that does.
func named(a wire.About) (field, value string) {
	if a.CacheKey != "" {
		return "prompt_cache_key", a.CacheKey
	}
	for _, key := range conversationKeys {
		if v := a.Metadata[key]; v != "" {
			return "metadata." + key, v
		}
	}
	return "user", a.User
}

// maxName is how long a name from a request may be before its hash stands for
// it, in bytes.
const maxName = 128

func short(name string) string {
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "sha256-" + hex.EncodeToString(sum[:])
}

// processKey is the secret that the names of unnamed sessions are made with.
var processKey = sync.OnceValue(func() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return key
})

// telling are pieces of the names of headers that tell tenants apart: their
// keys, and what gateways and proxies call them.
var telling = []string{"authorization", "api-key", "apikey", "subscription-key", "auth-token", "access-token", "organization", "project", "tenant"}

// credentials returns the names of the headers that tell tenants apart, in order.
func credentials(h http.Header) (names []string) {
	for name := range h {
		lower := strings.ToLower(name)
		if slices.ContainsFunc(telling, func(piece string) bool { return strings.Contains(lower, piece) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// unnamed makes the id of a session that nobody named. Without the key, which
// ends with the process, nobody can make it.
func (t *Transport) unnamed(req *http.Request, msgs []message.Message) string {
	mac := hmac.New(sha256.New, t.key)
	field := func(s string) {
		mac.Write(strconv.AppendInt(nil, int64(len(s)), 10))
		mac.Write([]byte{':'})
		mac.Write([]byte(s))
	}
	field(req.URL.Host)
	field(req.Host)
	for _, name := range credentials(req.Header) {
		field(name)
		field(strings.Join(req.Header[name], "\n"))
	}
	query := req.URL.Query()
	for _, name := range []string{"key", "api_key", "api-key"} {
		field(query.Get(name))
	}
	for i := range msgs {
		if r := msgs[i].Role; r != message.RoleSystem && r != message.RoleDeveloper {
			break
		}
		fp := msgs[i].Fingerprint()
		mac.Write(fp[:])
	}
	if first := firstUser(msgs); first != nil {
		fp := first.Fingerprint()
		mac.Write([]byte{1})
		mac.Write(fp[:])
	}
	return compact.UnnamedSession + hex.EncodeToString(mac.Sum(nil)[:16])
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
