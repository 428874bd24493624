package serve

import (
	"net/http"
	"strings"
)

// fallsBack reports whether a request opens a WebSocket for model calls and comes
// from a program that falls back to HTTP. Calls over a WebSocket can't be
// compacted.
func fallsBack(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		strings.HasSuffix(r.URL.Path, "/responses") && strings.HasPrefix(r.UserAgent(), "codex")
}
