package serve

import (
	"net/http"
	"strings"
)

// fallsBack reports whether a request opens a WebSocket for model calls and is of
// a program that calls over HTTP where it gets none: what a WebSocket carries
// can't be compacted.
func fallsBack(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		strings.HasSuffix(r.URL.Path, "/responses") && strings.HasPrefix(r.UserAgent(), "codex")
}
