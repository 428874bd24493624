package token

import "strings"

// DefaultContextWindow is the window, in tokens, of a model that is not in the
// table.
const DefaultContextWindow = 128_000

// windows is searched from the top. The first line whose text occurs in the
// lower-case name of the model wins, so more specific lines come first.
var windows = []struct {
	part   string
	tokens int
}{
	{"claude-instant", 100_000},
	{"claude-2.0", 100_000},
	{"claude", 200_000},
	{"gpt-5", 400_000},
	{"gpt-4.1", 1_000_000},
	{"gpt-4o", 128_000},
	{"gpt-4-turbo", 128_000},
	{"gpt-4-32k", 32_768},
	{"gpt-4-0314", 8_192}, // the original gpt-4
	{"gpt-4-0613", 8_192},
	{"gpt-4", 128_000},
	{"gpt-3.5-turbo-instruct", 4_096},
	{"gpt-3.5-turbo-0301", 4_096},
	{"gpt-3.5-turbo-0613", 4_096},
	{"gpt-3.5-turbo", 16_385},
	{"gpt-35-turbo", 16_385},
	{"gemini-1.0", 32_768},
	{"gemini", 1_000_000},
	{"grok-4", 2_000_000},
	{"grok", 131_072},
	{"deepseek-v3", 163_840},
	{"deepseek-chat-v3", 163_840},
	{"deepseek", 128_000},
	{"qwen3", 131_072},
	{"qwen", 128_000},
	{"llama-4", 327_680},
	{"llama-2-", 4_096}, // 2 and 3 came before the long window of 3.1
	{"llama2", 4_096},
	{"llama-3-8b", 8_192},
	{"llama-3-70b", 8_192},
	{"llama3-8b", 8_192},
	{"llama3-70b", 8_192},
	{"llama3:", 8_192},
	{"llama", 128_000},
	{"mistral-large", 262_144},
	{"mistral-7b", 32_768},
	{"mistral", 128_000},
	{"mixtral", 128_000},
}

// ContextWindow returns the size of a model's window in tokens, input and output
// together. It looks only at the name, and returns [DefaultContextWindow] for an
// unknown one. Configuration overrides it, because a deployment may allow less
// than the model.
func ContextWindow(model string) int {
	if n := listed(model); n > 0 {
		return n
	}
	return DefaultContextWindow
}

// KnowsContextWindow reports whether the model is in the table. If it is not,
// [ContextWindow] returns a guess.
func KnowsContextWindow(model string) bool { return listed(model) > 0 }

func listed(model string) int {
	name := strings.ToLower(model)
	for _, w := range windows {
		if strings.Contains(name, w.part) {
			return w.tokens
		}
	}
	return 0
}
