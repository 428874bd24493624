package serve_test

import (
	"net/http"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
)

// Codex falls back to HTTP if it gets no WebSocket; other clients may not, so their
// WebSockets pass. If nothing is compacted, all WebSockets pass.
func TestFallbackClientsGetNoWebSocket(t *testing.T) {
	for _, c := range []struct {
		agent, path, upgrade string
		observe              bool
		want                 int
	}{
		{"codex_exec/0.169.0 (x)", "/openai/v1/responses", "websocket", false, http.StatusUpgradeRequired},
		{"codex-tui/0.169.0", "/v1/responses", "WebSocket", false, http.StatusUpgradeRequired},
		{"codex_exec/0.169.0 (x)", "/openai/v1/responses", "websocket", true, http.StatusOK},
		{"openai-node/6", "/openai/v1/responses", "websocket", false, http.StatusOK},
		{"codex_exec/0.169.0 (x)", "/openai/v1/realtime", "websocket", false, http.StatusOK},
		{"codex_exec/0.169.0 (x)", "/openai/v1/responses", "", false, http.StatusOK},
	} {
		r := newRigTo(t, "", compact.Config{}, serve.Config{Observe: c.observe, Upstreams: map[string]string{"openai": echo(t)}})
		req := r.request(http.MethodGet, c.path, "")
		req.Header.Set("User-Agent", c.agent)
		if c.upgrade != "" {
			req.Header.Set("Upgrade", c.upgrade)
			req.Header.Set("Connection", "Upgrade")
		}
		if resp, body := r.do(req); resp.StatusCode != c.want {
			t.Errorf("%+v: %d %s", c, resp.StatusCode, body)
		}
	}
}
