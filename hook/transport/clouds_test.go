package transport_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/message/openai"
)

const vertexPath = "/v1/projects/p/locations/us-east5/publishers/anthropic/models/"

// cloudForms are the forms of other clouds whose bodies are those of a provider. The path
// names the model, or the deployment.
func cloudForms() []form {
	return []form{
		{provider.Anthropic, vertexPath + "claude-sonnet-4-5@20250929:rawPredict", `"anthropic_version":"vertex-2023-10-16","max_tokens":100`, false},
		{provider.Anthropic, vertexPath + "claude-sonnet-4-5@20250929:streamRawPredict", `"anthropic_version":"vertex-2023-10-16","max_tokens":100,"stream":true`, true},
		{provider.Anthropic, "/anthropic/v1/messages", `"model":"my-claude","max_tokens":100`, false},
		{provider.Chat, "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21", `"model":"my-gpt"`, false},
		{provider.Chat, "/openai/v1/chat/completions", `"model":"my-gpt","stream":true,"stream_options":{"include_usage":true}`, true},
		{provider.Responses, "/openai/v1/responses?api-version=preview", `"model":"my-gpt","store":false,"include":["reasoning.encrypted_content"]`, false},
		{provider.Chat, "/v1/projects/p/locations/global/endpoints/openapi/chat/completions", `"model":"google/gemini-2.5-pro"`, false},
	}
}

// Requests of Azure and Vertex are compacted, and their recall calls are answered, in the
// form that these clouds accept.
func TestOtherCloudsAreCompacted(t *testing.T) {
	for _, f := range cloudForms() {
		f = f.withTools()
		r, body, ref := recalling(t, f)
		r.server.Answer(provider.Answer{Text: "Hm.", Calls: []provider.Call{recallOf(ref)}}, provider.Answer{Text: "word"})
		status, answer := r.post(f, body)
		if got := r.got(); status != http.StatusOK || !strings.Contains(answer, "word") || strings.Contains(answer, `"recall"`) || len(got) != 3 || len(got[0]) > len(body)/2 {
			t.Errorf("%s: %d after %d requests: %s, want %d, 3, text with %q and text without %q", f.path, status, len(got), answer, http.StatusOK, "word", `"recall"`)
		}
		if strings.Contains(f.path, "@") && r.last().Model != "claude-sonnet-4-5@20250929" {
			t.Errorf("%s: the model is %q", f.path, r.last().Model)
		}
		if !r.last().Triggered && r.last().Replayed == 0 {
			t.Errorf("%s: nothing was compacted", f.path)
		}
		r.allOK(f)
	}
}

// Vertex counts tokens under a path that looks like one of a model.
func TestVertexCountsTheView(t *testing.T) {
	f := cloudForms()[0]
	for _, counts := range []bool{false, true} {
		var opts []transport.Option
		if counts {
			opts = append(opts, transport.Counts())
		}
		r := newRig(t, compact.Config{}, opts...)
		body := strings.Replace(f.body("Fix it.", 60, 300), "{", `{"model":"claude-sonnet-4-5@20250929",`, 1)
		status, answer := r.do(r.request(t.Context(), vertexPath+"count-tokens:rawPredict", body))
		if sent := r.got()[0]; status != http.StatusOK || (sent == body) == counts {
			t.Errorf("counts %v: %d %s, %d bytes of %d, want %d", counts, status, answer, len(sent), len(body), http.StatusOK)
		}
		r.quiet()
	}
}

// A model call in a format that is not read is sent unchanged. The program gets one report, even
// if each request has another signature.
func TestModelCallsInOtherFormatsAreReportedOnce(t *testing.T) {
	for path, what := range map[string]string{
		"/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke":                                   "Bedrock",
		"/model/arn:aws:bedrock:us-east-1:1:inference-profile%2Fx/invoke-with-response-stream":         "Bedrock",
		"/model/amazon.nova-pro-v1:0/converse":                                                         "Bedrock",
		"/model/amazon.nova-pro-v1:0/converse-stream":                                                  "Bedrock",
		"/v1/projects/p/locations/us-east5/publishers/mistralai/models/mistral-large:rawPredict":       "rawPredict",
		"/v1/projects/p/locations/us-east5/publishers/mistralai/models/mistral-large:streamRawPredict": "rawPredict",
		"/v1/projects/p/locations/us-east5/publishers/google/models/text-embedding-005:predict":        "",
		"/model-customization-jobs/x/invoke":                                                           "",
	} {
		r := newRig(t, compact.Config{})
		r.server.Lenient = true
		body := forms()[4].body("Fix it.", 60, 300)
		for _, signature := range []string{"a", "b"} {
			req := r.request(t.Context(), path, body)
			req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=x, Signature="+signature)
			r.do(req)
		}
		want := 0
		if what != "" {
			want = 1
		}
		if len(r.errs) != want || want > 0 && !strings.Contains(r.errs[0].Error(), what) {
			t.Errorf("%s: reported %v", path, r.errs)
		}
		for _, sent := range r.got() {
			if sent != body {
				t.Errorf("%s: the body was changed", path)
			}
		}
	}
}

// With a route, as the advice says, requests of other Vertex models are compacted.
func TestRouteCompactsRawPredict(t *testing.T) {
	r := newRig(t, compact.Config{}, transport.Route(":rawPredict", openai.Wire))
	f := forms()[0]
	body := f.body("Fix it.", 60, 300)
	r.do(r.request(t.Context(), "/v1/projects/p/locations/l/publishers/mistralai/models/mistral-large:rawPredict", body))
	if sent := r.got()[0]; len(sent) > len(body)/2 {
		t.Errorf("%d bytes of %d were sent", len(sent), len(body))
	}
	r.quiet()
}
