package serve

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// The providers with a default server.
const (
	forOpenAI    = "openai"
	forAnthropic = "anthropic"
	forGemini    = "gemini"
)

var providers = map[string]string{
	forOpenAI:    "https://api.openai.com",
	forAnthropic: "https://api.anthropic.com",
	forGemini:    "https://generativelanguage.googleapis.com",
}

// upstreams are base URLs by provider.
type upstreams map[string]*url.URL

// target is the destination of one request.
type target struct {
	name string
	url  *url.URL // the whole URL, with the query
	rest string   // the path without the path of the upstream's base URL
}

var (
	properName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	isVersion  = regexp.MustCompile(`^v[0-9]+[a-z0-9]*$`)
)

// ownNames holds first path segments that no upstream may have as its name.
var ownNames = []string{"healthz", "readyz", "metrics", "live", "upload", "chat", "responses", "v1", "v1beta", "v1alpha"}

// parseUpstreams parses the given base URLs, and adds the default URLs of the other
// providers.
func parseUpstreams(given map[string]string) (upstreams, error) {
	all := maps.Clone(providers)
	maps.Copy(all, given)
	out := upstreams{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(all)) {
		u, err := parseBase(all[name])
		if err == nil && (!properName.MatchString(name) || slices.Contains(ownNames, name)) {
			err = errors.New("the name can't be the first part of a path")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("serve: upstream %q: %w", name, err))
			continue
		}
		out[name] = u
	}
	return out, errors.Join(errs...)
}

func parseBase(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch lower := strings.ToLower(text); {
	case !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://"):
		return nil, errors.New("its URL has to begin with http://HOST or https://HOST")
	case err != nil:
		return nil, errors.New("its URL can't be parsed") // the parser's error would show the URL, which may hold a key
	case u.Host == "":
		return nil, errors.New("its URL has to begin with http://HOST or https://HOST")
	case u.Hostname() == "" || strings.HasSuffix(u.Host, ":"):
		return nil, errors.New("its URL has a host without a port after the colon, or a port without a host")
	case u.User != nil:
		return nil, errors.New("its URL has a user: remove it, requests carry their own keys")
	case u.Fragment != "":
		return nil, errors.New("its URL has a fragment")
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
	return u, nil
}

// find returns the destination of a request. If there is no such upstream, why is the
// reason.
func (u upstreams) find(r *http.Request) (t target, status int, why string) {
	if slices.ContainsFunc(strings.Split(r.URL.Path, "/"), func(part string) bool { return part == "." || part == ".." }) {
		return t, http.StatusBadRequest, "a path must not have . or .."
	}
	if r.Method == http.MethodConnect {
		return t, http.StatusMethodNotAllowed, "this is not a forward proxy"
	}
	path := r.URL.EscapedPath()
	name, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if base := u[name]; base != nil && strings.HasPrefix(path, "/") {
		return at(name, base, "/"+rest, r.URL.RawQuery), 0, ""
	}
	name = bare(path)
	switch {
	case name == "":
		return t, http.StatusNotFound, "no provider has this path; begin it with /openai, /anthropic or /gemini"
	case carriesForeignKey(name, r):
		return t, http.StatusNotFound, "this path names no provider: it is a path of " + name + ", but the key is for another provider; begin the path with /openai, /anthropic or /gemini"
	}
	return at(name, u[name], path, r.URL.RawQuery), 0, ""
}

// bare returns the provider of a path that begins with no provider's name.
func bare(path string) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	second, _, _ := strings.Cut(rest, "/")
	switch {
	case first == "v1" && (second == "messages" || second == "complete"):
		return forAnthropic
	case first == "v1beta", first == "v1alpha", first == "upload" && strings.HasPrefix(second, "v1beta"), isGeminiCall(path):
		return forGemini
	case first == "v1", first == "chat", first == "responses":
		return forOpenAI
	}
	return ""
}

// formOf returns the provider whose error format applies to a path: the provider that
// the path names, or otherwise the provider whose API has this path, with or without
// the name of an upstream in front.
func formOf(path string) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if _, known := providers[first]; known {
		return first
	}
	return cmp.Or(bare(path), bare(rest))
}

// isGeminiCall reports whether a path ends with one of Gemini's verbs.
func isGeminiCall(path string) bool {
	_, verb, ok := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	return ok && slices.Contains([]string{"generateContent", "streamGenerateContent", "countTokens", "embedContent", "batchEmbedContents"}, verb)
}

// carriesForeignKey reports whether a request carries the key of another provider.
// Gemini's key can be in the URL.
func carriesForeignKey(name string, r *http.Request) bool {
	if name != forGemini && r.URL.Query().Has("key") {
		return true
	}
	keys := map[string]string{"X-Api-Key": forAnthropic, "Anthropic-Version": forAnthropic, "X-Goog-Api-Key": forGemini}
	for header, of := range keys {
		if r.Header.Get(header) != "" && of != name {
			return true
		}
	}
	return false
}

// at returns the target below a base URL.
func at(name string, base *url.URL, rest, query string) target {
	below := rest
	version := base.Path[strings.LastIndexByte(base.Path, '/')+1:]
	if isVersion.MatchString(version) && (rest == "/"+version || strings.HasPrefix(rest, "/"+version+"/")) {
		below = rest[len(version)+1:]
	}
	out := *base
	out.RawPath = base.EscapedPath() + below
	if path, err := url.PathUnescape(out.RawPath); err == nil { // net/http decoded the path of the request in the same way
		out.Path = path
	}
	switch {
	case base.RawQuery == "":
		out.RawQuery = query
	case query != "":
		out.RawQuery = base.RawQuery + "&" + query
	}
	return target{name: name, url: &out, rest: rest}
}
