package transport

import (
	"net/http"
	"slices"
	"strings"
)

// bedrockCalls are the ends of the paths of model calls of Amazon Bedrock:
// /model/{id}/invoke, and so on.
var bedrockCalls = []string{"/invoke", "/invoke-with-response-stream", "/converse", "/converse-stream"}

// foreign returns the reason why a model call is not compacted although its path is known: its body
// has a format that is not read here. For any other request it returns nil.
func foreign(req *http.Request) *passed {
	if req.URL == nil || req.Method != http.MethodPost {
		return nil
	}
	path := strings.TrimSuffix(req.URL.Path, "/")
	ends := func(suffix string) bool { return strings.HasSuffix(path, suffix) }
	switch {
	case strings.Contains(path, "/model/") && slices.ContainsFunc(bedrockCalls, ends):
		return &passed{"Bedrock", "bodies of Bedrock's own API are not read; use anthropic-sdk-go with Middleware before the option of Bedrock, or Bedrock's path for OpenAI's SDKs (…/openai/v1)"}
	case (ends(":rawPredict") || ends(":streamRawPredict")) && !ends(vertexCount):
		return &passed{"rawPredict", "of Vertex, only bodies for models of Anthropic and Google are read; if this model takes chat completions, add Route(\":rawPredict\", openai.Wire)"}
	}
	return nil
}
