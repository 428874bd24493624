package transport

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/agentcompact/compact/message/wire"
)

// name is what a request calls its session, and where it does.
type name struct{ field, session, agent string }

// conversationKeys are the members of metadata that name a conversation, in
// the order in which they are believed.
var conversationKeys = []string{"session_id", "conversation_id", "thread_id", "chat_id", "sessionId", "conversationId", "threadId", "chatId"}

// agentKeys are the members of Codex's metadata that say which of several
// agents it is.
var agentKeys = []string{"agent_name", "agentName", "agent", "subagent_kind"}

// The headers in which agents name their sessions.
const (
	claudeHeader   = "X-Claude-Code-Session-Id"
	codexHeader    = "X-Codex-Turn-Metadata"
	affinityHeader = "X-Session-Affinity" // OpenCode, pi
	piHeader       = "Session_id"         // pi, and Codex of old
)

// The headers in which they say who of several asks: Claude Code gives its
// sub-agents names, OpenCode sessions of their own; Gemini CLI names nothing but
// where it is installed.
const (
	claudeAgentHeader = "X-Claude-Code-Agent-Id"
	parentHeader      = "X-Parent-Session-Id"
	geminiHeader      = "X-Gemini-Api-Privileged-User-Id"
)

// namedBy returns the name of a session that is one: from the metadata of the
// body, then from the header of an agent that is known.
func namedBy(h http.Header, a wire.About) name {
	turn := members(h.Get(codexHeader))
	n, ok := inMetadata("metadata", a.Metadata)
	if id := sessionIn(a.Metadata["user_id"]); !ok && id != "" {
		n, ok = name{field: "metadata.user_id", session: id}, true
	}
	if !ok {
		n, ok = inMetadata("client_metadata", a.ClientMetadata)
	}
	if id := h.Get(claudeHeader); !ok && id != "" {
		n, ok = name{field: "x-claude-code-session-id", session: id}, true
	}
	if !ok {
		n, ok = inMetadata("x-codex-turn-metadata", turn)
	}
	if !ok {
		n = inHeaders(h)
	}
	if n.agent == "" {
		n.agent = h.Get(claudeAgentHeader)
	}
	for _, key := range agentKeys {
		if n.agent == "" {
			n.agent = turn[key]
		}
	}
	return n
}

func inMetadata(field string, metadata map[string]string) (name, bool) {
	for _, key := range conversationKeys {
		if v := metadata[key]; v != "" {
			return name{field: field + "." + key, session: v}, true
		}
	}
	return name{}, false
}

// inHeaders is the name in the header of an agent. A session that has a parent
// is an agent of that.
func inHeaders(h http.Header) name {
	for _, header := range []string{affinityHeader, piHeader} {
		id, parent := h.Get(header), h.Get(parentHeader)
		switch field := strings.ToLower(header); {
		case id != "" && parent != "":
			return name{field: field, session: parent, agent: id}
		case id != "":
			return name{field: field, session: id}
		}
	}
	return name{}
}

// members returns those of a JSON text that are strings.
func members(text string) map[string]string {
	if !strings.HasPrefix(text, "{") || len(text) > maxMetadata {
		return nil
	}
	var any map[string]any
	if json.Unmarshal([]byte(text), &any) != nil {
		return nil
	}
	out := map[string]string{}
	for k, v := range any {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

// maxMetadata is how much of a header or of a member is read, in bytes.
const maxMetadata = 64 << 10

// sessionAtEnd finds the session in the user ids that Claude Code wrote until
// 2.1: user_…_account_…_session_….
var sessionAtEnd = regexp.MustCompile(`(?:^|[^0-9A-Za-z])session(?:_id)?[_:=-]+([0-9A-Za-z][0-9A-Za-z-]{7,})$`)

// sessionIn returns the session that a user's id names besides the user, as
// Claude Code's does: in a JSON text, or at its end.
func sessionIn(userID string) string {
	if n, ok := inMetadata("", members(userID)); ok {
		return n.session
	}
	if m := sessionAtEnd.FindStringSubmatch(userID); m != nil {
		return m[1]
	}
	return ""
}

// maxName is how long a name from a request may be before its hash stands for
// it, in bytes.
const maxName = 128

// short is a name, or where that is long a hash of it with the archive's key: the same
// in every process that has the key, and nothing that a guess can be held against.
func (t *Transport) short(ctx context.Context, name string) string {
	if len(name) <= maxName {
		return name
	}
	return "keyed-" + t.m.Keyed(ctx, name)
}
