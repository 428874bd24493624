package provider

import (
	"net/http"
	"strings"
)

// vertexModels is the part of Vertex's paths to the models of Anthropic. Such a body is like one of
// Anthropic's own API, but it has no model, which the path names, and it has a version.
const vertexModels = "/publishers/anthropic/models/"

// vertexCall returns the model that a path of Vertex names, if the path is a call of one of
// Anthropic's models; otherwise "".
func vertexCall(path string) string {
	_, last, ok := strings.Cut(path, vertexModels)
	model, method, _ := strings.Cut(last, ":")
	if !ok || model == "count-tokens" || method != "rawPredict" && method != "streamRawPredict" {
		return ""
	}
	return model
}

// vertexBody converts the body of a call of an Anthropic model on Vertex to the form of Anthropic's
// own API. It returns the bodies of other paths unchanged.
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
