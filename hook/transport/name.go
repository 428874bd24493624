package transport

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/agentcompact/compact/message/wire"
)

// name is the session name in a request, with the field that holds it.
type name struct{ field, session, agent string }

// conversationKeys are the members of metadata that name a conversation, in
// order of preference.
var conversationKeys = []string{"session_id", "conversation_id", "thread_id", "chat_id", "sessionId", "conversationId", "threadId", "chatId"}

// agentKeys are the members of Codex's metadata that name the agent.
var agentKeys = []string{"agent_name", "agentName", "agent", "subagent_kind"}

// Headers in which agents name their sessions.
const (
	claudeHeader   = "X-Claude-Code-Session-Id"
	codexHeader    = "X-Codex-Turn-Metadata"
	affinityHeader = "X-Session-Affinity" // OpenCode, pi
	piHeader       = "Session_id"         // pi, and old versions of Codex
)

// Headers that distinguish the agents of a session. Claude Code names its
// sub-agents, OpenCode gives each a session with a parent, and Gemini CLI only
// names its installation.
const (
	claudeAgentHeader = "X-Claude-Code-Agent-Id"
	parentHeader      = "X-Parent-Session-Id"
	geminiHeader      = "X-Gemini-Api-Privileged-User-Id"
)

// namedBy returns the session name in the metadata of the body, or else in the
// headers of known agents.
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

// inHeaders returns the session name in the headers of an agent. A session with
// a parent is an agent of the parent.
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

// members returns the string members of a JSON object.
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

// maxMetadata is the size in bytes above which a JSON text in a header, or in the
// user id of the metadata, is not parsed.
const maxMetadata = 64 << 10

// sessionAtEnd matches the session in the user ids of Claude Code up to 2.1:
// user_…_account_…_session_….
var sessionAtEnd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^0-9A-Za-z])session(?:_id)?[_:=-]+([0-9A-Za-z][0-9A-Za-z-]{7,})$`)
})

// sessionIn returns the session in a user id, as Claude Code writes it: in a
// JSON object, or at its end.
func sessionIn(userID string) string {
	if n, ok := inMetadata("", members(userID)); ok {
		return n.session
	}
	if m := sessionAtEnd().FindStringSubmatch(userID); m != nil {
		return m[1]
	}
	return ""
}

// maxName is the length in bytes above which a name from a request is replaced
// by its hash.
const maxName = 128

// short returns a name, or, if the name is long, its hash with the archive's key. The
// hash is the same in every process with the key, and can't be checked against guesses
// without it.
func (t *Transport) short(ctx context.Context, name string) string {
	if len(name) <= maxName {
		return name
	}
	return "keyed-" + t.m.Keyed(ctx, name)
}
