package transport

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
)

// route maps the paths with a suffix to a wire.
type route struct {
	suffix string
	format wire.Format
	counts bool   // requests for a number of tokens
	within string // a part of the path; "" = any path
}

// ofAnthropic is the part of Vertex's paths to the models of Anthropic. The bodies of requests to
// them are those of Anthropic's API, without the model. vertexCount is the end of the path of a
// request for a number of tokens.
const (
	ofAnthropic = "/publishers/anthropic/models/"
	vertexCount = ofAnthropic + "count-tokens:rawPredict"
)

// routes returns the paths of model calls of the four providers.
func routes() []route {
	return []route{
		{suffix: "/chat/completions", format: openai.Wire},
		{suffix: "/responses", format: responses.Wire},
		{suffix: "/messages", format: anthropic.Wire},
		{suffix: ":generateContent", format: gemini.Wire},
		{suffix: ":streamGenerateContent", format: gemini.Wire},
		{suffix: ":rawPredict", within: ofAnthropic, format: anthropic.Wire},
		{suffix: ":streamRawPredict", within: ofAnthropic, format: anthropic.Wire},
	}
}

// target returns the route of a model call (nil for any other request), and the
// reason why the body can't be replaced, if there is one.
func (t *Transport) target(req *http.Request) (*route, *passed) {
	if req.URL == nil {
		return nil, nil
	}
	r := t.route(req.URL.Path)
	switch {
	case r == nil:
		return nil, nil
	case req.Method == http.MethodGet && strings.EqualFold(req.Header.Get("Upgrade"), "websocket"):
		return r, &passed{"websocket", "compact does not see the messages on it"}
	case req.Method != http.MethodPost || req.Body == nil || req.Body == http.NoBody:
		return nil, nil
	}
	return r, t.untouchable(req)
}

// untouchable returns the reason why a body can't be replaced; nil = it can.
func (t *Transport) untouchable(req *http.Request) *passed {
	switch {
	case isSigned(req.Header):
		return &passed{signed, "the signature covers the body; compact it before it is signed (see Middleware)"}
	case len(req.Trailer) > 0:
		return &passed{"trailers", "they may contain a checksum of the body"}
	case t.opener(req.Header) == nil:
		return &passed{"Content-Encoding", "the body is encoded as " + strconv.Quote(req.Header.Get("Content-Encoding"))}
	case !isJSON(req.Header):
		return &passed{"Content-Type", "the body is not JSON but " + strconv.Quote(req.Header.Get("Content-Type"))}
	}
	return nil
}

// signed is the reason why a request with a signed body is left unchanged.
const signed = "signature"

func (t *Transport) route(path string) *route {
	path = strings.TrimSuffix(path, "/")
	for i := len(t.routes) - 1; i >= 0; i-- {
		r := &t.routes[i]
		if !strings.HasSuffix(path, r.suffix) || !strings.Contains(path, r.within) {
			continue
		}
		if isOf(path, "threads") || !r.counts && strings.HasSuffix(path, vertexCount) { // the first adds a message to a history that OpenAI stores
			return nil
		}
		return r
	}
	return nil
}

// isOf reports whether a path is …/{what}/{id}/{list}: a list of a stored object.
func isOf(path, what string) bool {
	parts := strings.Split(path, "/")
	return len(parts) > 2 && parts[len(parts)-3] == what
}

// pathModel returns the model in a path, as in Gemini's:
// …/models/gemini-2.5-pro:generateContent.
func pathModel(path string) string {
	model, _, ok := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	if !ok {
		return ""
	}
	return model
}

// deployment returns the deployment in a path of Azure. Its name is chosen by
// the user and need not name the model.
func deployment(path string) string {
	_, rest, ok := strings.Cut(path, "/deployments/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func isJSON(h http.Header) bool {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"))
}

// isSigned reports whether a header signs or hashes the body, so that a changed
// body would be refused.
func isSigned(h http.Header) bool {
	for _, name := range []string{"Content-Digest", "Digest", "Content-Md5", "Signature", "X-Amz-Content-Sha256"} {
		if h.Get(name) != "" {
			return true
		}
	}
	return strings.HasPrefix(h.Get("Authorization"), "AWS4-")
}
