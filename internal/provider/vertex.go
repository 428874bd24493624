package provider

import (
	"net/http"
	"strings"
)

// vertexModels is the part of Vertex's paths to the models of Anthropic. A body there is one
// of Anthropic's, but its path names the model, and it has a version.
const vertexModels = "/publishers/anthropic/models/"

// vertexCall returns the model in a path of Vertex to a model of Anthropic; "" = it is no
// model call of that form.
func vertexCall(path string) string {
	_, last, ok := strings.Cut(path, vertexModels)
	model, method, _ := strings.Cut(last, ":")
	if !ok || model == "count-tokens" || method != "rawPredict" && method != "streamRawPredict" {
		return ""
	}
	return model
}

// vertexBody returns the body of a request as Anthropic's own API has it. Other paths keep
// their bodies.
func vertexBody(path string, body object) (object, *errorAnswer) {
	model := vertexCall(path)
	if model == "" || body == nil {
		return body, nil
	}
	refuse := func(text string) (object, *errorAnswer) {
		return nil, &errorAnswer{status: http.StatusBadRequest, kind: "invalid_request_error", text: text}
	}
	switch {
	case body["model"] != nil:
		return refuse("model: Extra inputs are not permitted")
	case str(body, "anthropic_version") != "vertex-2023-10-16":
		return refuse("anthropic_version: Field required")
	case strings.HasSuffix(path, ":streamRawPredict") != (body["stream"] == true):
		return refuse("stream: does not match the method of the path")
	}
	out := without(body, "anthropic_version")
	out["model"] = model
	return out, nil
}
