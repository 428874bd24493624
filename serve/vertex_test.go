package serve_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/serve"
)

// Claude Code calls Vertex under the URL of the proxy.
func TestClaudeOnVertexIsCompacted(t *testing.T) {
	server := provider.NewServer()
	up := httptest.NewServer(server)
	t.Cleanup(up.Close)
	r := newRigTo(t, "", compact.Config{}, serve.Config{Upstreams: map[string]string{"vertex": up.URL}})
	f := form{provider.Anthropic, "/v1/projects/p/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict", `"anthropic_version":"vertex-2023-10-16","max_tokens":100,"stream":true`, true}
	body := f.body("Fix it.", 60, 300)
	resp, answer := r.do(r.request(http.MethodPost, "/vertex"+f.path, body, "Content-Type", "application/json", "X-Compact-Session", "s"))
	if got := server.Requests(); resp.StatusCode != http.StatusOK || len(got) != 1 || got[0].Path != f.path || len(got[0].Body) > len(body)/2 {
		t.Errorf("%s %s: %d requests, %d bytes of %d", resp.Status, answer, len(got), len(got[0].Body), len(body))
	}
}
