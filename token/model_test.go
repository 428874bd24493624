package token_test

import (
	"testing"

	"github.com/agentcompact/compact/token"
)

func TestEncodingForModelFollowsTiktoken(t *testing.T) {
	for encoding, models := range map[string][]string{
		token.O200K: {
			"gpt-5", "gpt-5-mini", "gpt-5.1-codex", "gpt-5-2025-08-07", "o1", "o1-mini", "o1-preview-2024-09-12", "o3", "o3-mini", "o4-mini",
			"o4-mini-2025-04-16", "gpt-4.5-preview", "gpt-4.1", "gpt-4.1-nano", "chatgpt-4o-latest", "gpt-4o", "gpt-4o-mini-2024-07-18",
			"gpt-oss-120b", "openai/gpt-4o", "openai/gpt-oss-20b:free", "ft:gpt-4o:org::id", "ft:gpt-4o-mini-2024-07-18:org:name:id",
			"ft:gpt-4.1-mini-2025-04-14:org::id", "GPT-4o", " gpt-4o ", "azure/o3-mini",
		},
		token.CL100K: {
			"gpt-4", "gpt-4-0314", "gpt-4-0613", "gpt-4-32k", "gpt-4-turbo", "gpt-4-1106-preview", "gpt-3.5-turbo", "gpt-3.5-turbo-0125", "gpt-3.5",
			"gpt-35-turbo", "gpt-35-turbo-16k", "ft:gpt-4:org::id", "ft:gpt-3.5-turbo:org::id", "ft:davinci-002:org::id", "ft:babbage-002:org::id",
			"davinci-002", "text-embedding-ada-002", "text-embedding-3-large",
		},
		"p50k_base": {"text-davinci-003", "text-davinci-002", "code-davinci-002", "code-cushman-001", "davinci-codex"},
		"p50k_edit": {"text-davinci-edit-001", "code-davinci-edit-001"},
		"r50k_base": {"text-davinci-001", "davinci", "ada", "text-similarity-ada-001", "code-search-babbage-code-001"},
		"gpt2":      {"gpt2", "gpt-2"},
	} {
		for _, model := range models {
			if got, exact := token.EncodingForModel(model); got != encoding || !exact {
				t.Errorf("%s: %s (exact: %v), want %s", model, got, exact, encoding)
			}
		}
	}
}

func TestEncodingForModelSaysWhenItIsAnApproximation(t *testing.T) {
	for model, near := range map[string]string{
		"claude-3-5-sonnet": token.CL100K, "anthropic/claude-opus-4": token.CL100K, "qwen3-coder": token.CL100K, "llama-3.3-70b": token.CL100K,
		"gemini-2.5-pro": token.O200K, "grok-4": token.O200K, "deepseek-chat": token.O200K, "mistral-large": token.O200K, "": token.O200K,
		"o1x": token.O200K, "o30": token.O200K, "gpt-6": token.O200K, "chatgpt-4omni": token.O200K,
	} {
		if got, exact := token.EncodingForModel(model); got != near || exact {
			t.Errorf("%s: %s (exact: %v), want %s as an approximation", model, got, exact, near)
		}
	}
}

func TestContextWindowGoesByTheFirstLineThatFits(t *testing.T) {
	for model, want := range map[string]int{
		"claude-3-opus": 200_000, "openai/gpt-5-mini": 400_000, "gpt-4.1-nano": 1_000_000, "GPT-4.1": 1_000_000, "gpt-4o": 128_000,
		"gpt-4-turbo": 128_000, "gpt-4": 128_000, "gpt-4-0613": 8_192, "gpt-4-0314": 8_192, "gpt-4-32k-0613": 32_768,
		"gpt-3.5-turbo": 16_385, "gpt-35-turbo": 16_385, "google/gemini-2.5-flash": 1_000_000, "x-ai/grok-4-fast": 2_000_000, "grok-3": 131_072,
		"deepseek/deepseek-v3.2": 163_840, "deepseek-chat-v3-0324": 163_840, "deepseek-r1": 128_000, "qwen/qwen3-coder": 131_072, "Qwen/QwQ-32B": 128_000,
		"llama-4-scout": 327_680, "llama-3.3-70b": 128_000, "mistral-large-2512": 262_144, "mistral-small": 128_000, "mixtral-8x7b": 128_000,
		"meta-llama/Llama-2-7b-chat-hf": 4_096, "meta.llama3-8b-instruct-v1:0": 8_192, "meta.llama3-1-8b-instruct-v1:0": 128_000, "llama3:8b": 8_192, "ollama/llama3.1:8b": 128_000,
		"meta-llama/Meta-Llama-3-70B-Instruct": 8_192, "llama-3.1-8b-instant": 128_000, "mistral-7b-instruct": 32_768, "claude-2.0": 100_000, "anthropic.claude-v2:1": 200_000,
		"gemini-1.0-pro": 32_768, "gpt-3.5-turbo-0613": 4_096, "gpt-3.5-turbo-16k-0613": 16_385,
		"deepseek-r1-distill-qwen3": 128_000, "gpt-5-vs-gpt-4o": 400_000, "": token.DefaultContextWindow, "unheard-of": token.DefaultContextWindow,
	} {
		if got := token.ContextWindow(model); got != want {
			t.Errorf("%q: %d, want %d", model, got, want)
		}
	}
}
