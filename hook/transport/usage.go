package transport

import (
	"strings"

	"github.com/agentcompact/compact/compact"
)

// usage holds the token counts that a provider reports in one answer, or in one
// event of a stream.
type usage struct {
	prompt int      // whole prompt, cached tokens included
	input  int      // input_tokens; they exclude cached tokens on Anthropic and include them on Responses
	cached int      // Anthropic: tokens read from the cache or written to it
	held   int      // Google: tokens of the prompt in a cached content
	known  bool     // the number of cached tokens is known
	read   int      // tokens read from the cache, on any wire
	short  int      // tokens written to the cache
	hour   int      // the part with a lifetime of an hour
	output int      // tokens of the answer
	said   int      // Google: tokens of the answer without thoughts
	mused  int      // Google: tokens of thoughts
	fed    int      // Google: tokens of further prompts with the results of its own tools; the prompt does not include them
	clear  int      // Anthropic: tokens that it removed from the prompt before the model read it
	inner  usageSum // Anthropic: sums over its internal turns, including the turn of its own summary, if any
	tools  int      // Anthropic: server tool requests; if there are any, the counts cover several prompts
}

// usageSum holds sums over the provider's internal turns for one request.
type usageSum struct{ input, output int }

// summary returns the output tokens of the provider's own summary: all output tokens
// without the tokens of the answer.
func (s usageSum) summary(answer int) int {
	if s.output == 0 {
		return 0
	}
	return max(s.output-answer, 0)
}

// wrappers are the members that can hold a usage.
var wrappers = []string{"response.", "message."}

// add records one number of an answer by its path.
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
		u.prompt, u.known = n, true // without a cached count, it is 0
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
	case "usageMetadata.candidatesTokenCount":
		u.said = n // each element of a streamed answer has the sum so far
	case "usageMetadata.thoughtsTokenCount":
		u.mused = n
	case "usageMetadata.toolUsePromptTokenCount":
		u.fed = n
	default:
		if strings.HasPrefix(path, "usage.server_tool_use.") {
			u.tools += n
		}
	}
}

// of converts the counts to a compact.Usage; prompt is the size of the prompt
// in tokens.
func (u *usage) of(prompt int) compact.Usage {
	return compact.Usage{
		PromptTokens: prompt, ToolRounds: u.tools > 0 || u.fed > 0, OutputTokens: u.answer(), ClearedTokens: u.clear,
		CompactedTokens: max(u.inner.input-prompt, 0), SummaryTokens: u.inner.summary(u.output),
		CacheKnown: u.known, CachedTokens: u.read, WrittenTokens: max(u.short-u.hour, 0), WrittenHourTokens: u.hour,
	}
}

// tokens returns the size of the prompt, or of all prompts of the provider's own tool
// rounds; 0 = unknown. The counts of OpenAI and Google include cached tokens, Anthropic's
// input count does not.
func (u *usage) tokens() int {
	if u.prompt > 0 {
		return u.prompt + u.fed
	}
	return u.input + u.cached
}

// answer returns the tokens of the answer.
func (u *usage) answer() int { return max(u.output, u.said+u.mused) }

// then updates the usage of a stream by the usage in a later event. The counts of an event are sums
// so far, and an event can lack some of them.
func (u *usage) then(later usage) {
	had := *u
	switch {
	case later.tokens() == 0:
	case later.known || !had.known:
		*u = later
	default: // the later event does not know the cached tokens
		u.prompt, u.input = max(had.prompt, later.prompt), max(had.input, later.input)
	}
	u.output, u.said, u.mused = max(had.output, later.output), max(had.said, later.said), max(had.mused, later.mused)
	u.fed, u.tools, u.clear = max(had.fed, later.fed), max(had.tools, later.tools), max(had.clear, later.clear)
	if u.inner = had.inner; later.inner.input > 0 {
		u.inner = later.inner
	}
}
