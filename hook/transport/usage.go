package transport

import (
	"strings"

	"github.com/agentcompact/compact/compact"
)

// usage is what one answer, or one event of a stream, says that its prompt
// cost.
type usage struct {
	prompt int      // all of it, what was cached included
	input  int      // Anthropic: what was neither read from a cache nor written into one
	cached int      // the rest of it
	held   int      // Google: what a cache that the request names holds of the prompt
	known  bool     // it says what was cached
	read   int      // from the cache, wherever that is counted
	short  int      // written into it
	hour   int      // the same, for an hour
	output int      // of the answer
	clear  int      // Anthropic: what it left out of the prompt before the model read it
	inner  usageSum // and of all its turns, a summary of its own among them; more than the rest where it made one
	tools  int      // requests that the provider made on its own: more than one prompt is in the figures
}

// usageSum adds up what the provider did for one request in several turns.
type usageSum struct{ input, output int }

// summary is what was written beside the answer.
func (s usageSum) summary(answer int) int {
	if s.output == 0 {
		return 0
	}
	return max(s.output-answer, 0)
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
	case "usage.prompt_tokens":
		u.prompt = n
	case "usageMetadata.promptTokenCount":
		u.prompt, u.known = n, true // what was cached is left out where it is nothing
	case "usageMetadata.cachedContentTokenCount":
		u.held, u.read, u.known = n, n, true
	case "usage.input_tokens":
		u.input = n
	case "usage.cache_creation_input_tokens":
		u.cached += n
		u.short, u.known = n, true
	case "usage.cache_read_input_tokens":
		u.cached += n
		u.read, u.known = n, true
	case "usage.cache_creation.ephemeral_1h_input_tokens":
		u.hour = n
	case "usage.prompt_tokens_details.cached_tokens", "usage.input_tokens_details.cached_tokens", "usage.prompt_cache_hit_tokens":
		u.read, u.known = n, true
	case "context_management.applied_edits.cleared_input_tokens":
		u.clear += n
	case "usage.iterations.input_tokens", "usage.iterations.cache_creation_input_tokens", "usage.iterations.cache_read_input_tokens":
		u.inner.input += n
	case "usage.iterations.output_tokens":
		u.inner.output += n
	case "usage.completion_tokens", "usage.output_tokens":
		u.output = n
	case "usageMetadata.candidatesTokenCount", "usageMetadata.thoughtsTokenCount":
		u.output += n
	default:
		if strings.HasPrefix(path, "usage.server_tool_use.") {
			u.tools += n
		}
	}
}

// of returns the usage as the manager takes it, of a prompt of so many tokens.
func (u *usage) of(prompt int) compact.Usage {
	return compact.Usage{
		PromptTokens: prompt, OutputTokens: u.output, ClearedTokens: u.clear,
		CompactedTokens: max(u.inner.input-prompt, 0), SummaryTokens: u.inner.summary(u.output),
		CacheKnown: u.known, CachedTokens: u.read, WrittenTokens: max(u.short-u.hour, 0), WrittenHourTokens: u.hour,
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
