package transport

import (
	"mime"
	"net/http"
	"strings"

	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
)

// route says which wire the paths with a suffix speak.
type route struct {
	suffix string
	format wire.Format
}

// routes are the model calls of the four providers.
func routes() []route {
	return []route{
		{"/chat/completions", openai.Wire},
		{"/responses", responses.Wire},
		{"/messages", anthropic.Wire},
		{":generateContent", gemini.Wire},
		{":streamGenerateContent", gemini.Wire},
	}
}

// target returns the wire of a request, if it is a model call whose body can
// be replaced.
func (t *Transport) target(req *http.Request) (wire.Format, bool) {
	if req.Method != http.MethodPost || req.URL == nil || req.Body == nil || req.Body == http.NoBody || len(req.Trailer) > 0 {
		return nil, false
	}
	f := t.format(req.URL.Path)
	return f, f != nil && isJSON(req.Header) && !isEncoded(req.Header) && !isSigned(req.Header)
}

func (t *Transport) format(path string) wire.Format {
	path = strings.TrimSuffix(path, "/")
	for i := len(t.routes) - 1; i >= 0; i-- {
		if strings.HasSuffix(path, t.routes[i].suffix) {
			if isThread(path) {
				return nil
			}
			return t.routes[i].format
		}
	}
	return nil
}

// isThread reports whether a path is …/threads/{id}/messages, where OpenAI
// takes one message of a history that it holds.
func isThread(path string) bool {
	parts := strings.Split(path, "/")
	n := len(parts)
	return n > 2 && parts[n-1] == "messages" && parts[n-3] == "threads"
}

// pathModel returns the model that a path names, as Gemini's do:
// …/models/gemini-2.5-pro:generateContent.
func pathModel(path string) string {
	model, _, ok := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	if !ok {
		return ""
	}
	return model
}

// deployment returns the name that Azure's paths have in place of a model. It
// is anybody's choice: only who chose it can say which model that is.
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

func isEncoded(h http.Header) bool {
	e := h.Get("Content-Encoding")
	return e != "" && !strings.EqualFold(e, "identity")
}

// isSigned reports whether a header vouches for the body: another one would be
// refused.
func isSigned(h http.Header) bool {
	for _, name := range []string{"Content-Digest", "Digest", "Content-Md5", "Signature", "X-Amz-Content-Sha256"} {
		if h.Get(name) != "" {
			return true
		}
	}
	return strings.HasPrefix(h.Get("Authorization"), "AWS4-")
}
