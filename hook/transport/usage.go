package transport

import "strings"

// usage is what one answer, or one event of a stream, says that its prompt
// cost.
type usage struct {
	prompt int // all of it, what was cached included
	input  int // Anthropic: what was neither read from a cache nor written into one
	cached int // the rest of it
	held   int // Google: what a cache that the request names holds of the prompt
	tools  int // requests that the provider made on its own: more than one prompt is in the figures
}

// wrappers are the members that a usage may be in.
var wrappers = []string{"response.", "message."}

// add takes one number of an answer.
func (u *usage) add(path string, n int) {
	for _, w := range wrappers {
		if rest, ok := strings.CutPrefix(path, w); ok {
			path = rest
			break
		}
	}
	switch path {
	case "usage.prompt_tokens", "usageMetadata.promptTokenCount":
		u.prompt = n
	case "usageMetadata.cachedContentTokenCount":
		u.held = n
	case "usage.input_tokens":
		u.input = n
	case "usage.cache_creation_input_tokens", "usage.cache_read_input_tokens":
		u.cached += n
	default:
		if strings.HasPrefix(path, "usage.server_tool_use.") {
			u.tools += n
		}
	}
}

// tokens returns the size of the prompt; 0 = it does not say. OpenAI's and
// Google's figures hold what was cached, Anthropic's leave it out.
func (u *usage) tokens() int {
	switch {
	case u.tools > 0:
		return 0
	case u.prompt > 0:
		return u.prompt
	}
	return u.input + u.cached
}
