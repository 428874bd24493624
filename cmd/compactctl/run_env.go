package main

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// baseURLVariables holds the environment variables from which agents and SDKs read
// the URL of a provider, with the path after the proxy's own address.
var baseURLVariables = []struct{ name, provider, path string }{
	{"OPENAI_BASE_URL", "openai", "/openai/v1"},
	{"ANTHROPIC_BASE_URL", "anthropic", "/anthropic"},
	{"GOOGLE_GEMINI_BASE_URL", "gemini", "/gemini"},
}

// otherVariables holds variables that some programs read instead.
var otherVariables = []struct{ name, provider, path string }{
	{"OPENAI_API_BASE", "openai", "/openai/v1"}, // LiteLLM, aider
	{"ANTHROPIC_API_BASE", "anthropic", "/anthropic"},
}

// baseURLs returns the variables from which agents and SDKs read the URL of a
// provider.
func baseURLs(root string) (out []string) {
	for _, v := range baseURLVariables {
		out = append(out, v.name+"="+root+v.path)
	}
	return out
}

// fromEnvironment makes the current value of each base URL variable the upstream of its
// provider, unless a flag sets another upstream.
func (s *serving) fromEnvironment(lookup func(string) (string, bool)) {
	for _, v := range slices.Concat(baseURLVariables, otherVariables) {
		value, ok := lookup(v.name)
		if !ok || value == "" {
			continue
		}
		at := slices.IndexFunc(s.upstreams, func(u string) bool { return strings.HasPrefix(u, v.provider+"=") })
		if at < 0 {
			s.upstreams = append(s.upstreams, v.provider+"="+value)
		} else if to := s.upstreams[at][len(v.provider)+1:]; strings.TrimRight(to, "/") != strings.TrimRight(value, "/") {
			s.complain("compact", fmt.Sprintf("warning: %s is set, but the requests for %s go to the upstream that a flag or another variable names", v.name, v.provider))
		}
	}
}

// pathFor returns the path of a provider at the proxy for an agent that would use the
// URL old. Agents append the rest of the path to this URL. So the URL ends with a
// version only if old or the agent's default ends with one.
func pathFor(provider, path, old string, upstreams []string) string {
	if provider != "openai" || !slices.Contains(upstreams, provider+"="+old) {
		return path
	}
	u, err := url.Parse(old)
	if err != nil || versioned.MatchString(strings.TrimRight(u.Path, "/")) {
		return path
	}
	return strings.TrimSuffix(path, "/v1")
}

var versioned = regexp.MustCompile(`/v[0-9]+[a-z0-9]*$`)

// agentEnv returns the environment for an agent behind a proxy at root: the environment
// of this process, with the providers' URLs replaced.
func agentEnv(root string, upstreams, environ []string) []string {
	out := slices.Clone(environ)
	set := func(name, value string) {
		out = slices.DeleteFunc(out, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		out = append(out, name+"="+value)
	}
	for _, v := range slices.Concat(baseURLVariables, otherVariables) {
		old := ""
		for _, e := range environ {
			if value, ok := strings.CutPrefix(e, v.name+"="); ok {
				old = value
			}
		}
		set(v.name, root+pathFor(v.provider, v.path, old, upstreams))
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} { // requests to the proxy must bypass other proxies
		had := ""
		for _, v := range environ {
			if rest, ok := strings.CutPrefix(v, name+"="); ok && rest != "" {
				had = rest + ","
			}
		}
		set(name, had+"127.0.0.1")
	}
	return out
}

// deferredLog is a log that is printed at the end.
type deferredLog struct {
	to io.Writer

	mu   sync.Mutex
	held bytes.Buffer
	left int // omitted bytes
}

const maxLater = 64 << 10 // bytes

func (l *deferredLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held.Len()+len(p) > maxLater {
		l.left += len(p)
		return len(p), nil
	}
	return l.held.Write(p)
}

func (l *deferredLog) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left > 0 {
		l.held.WriteString("and more\n")
	}
	_, _ = l.to.Write(l.held.Bytes())
	l.held.Reset()
}
