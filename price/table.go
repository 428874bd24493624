package price

import (
	"strings"
	"time"
)

// The rules of the providers' caches. If a provider gives a range for the
// lifetime, the table holds its lower end.
//
// Anthropic: platform.claude.com/docs, prompt caching. OpenAI:
// platform.openai.com/docs, prompt caching (from 1024 tokens, in steps of 128, 5 to 10
// minutes; writing costs the same as input). Gemini:
// ai.google.dev/gemini-api/docs/caching (implicit; no lifetime is promised). DeepSeek:
// api-docs.deepseek.com/guides/kv_cache (units of 64 tokens, hours). xAI: docs.x.ai,
// prompt caching. Mistral: docs.mistral.ai, prompt caching (a tenth of the input
// price).
var (
	anthropic     = rules{min: 1024, step: 1, lifetime: 5 * time.Minute, marks: 4}
	anthropicLong = rules{min: 4096, step: 1, lifetime: 5 * time.Minute, marks: 4}
	openAI        = rules{min: 1024, step: 128, lifetime: 5 * time.Minute}
	gemini        = rules{min: 4096, step: 1, lifetime: 5 * time.Minute}
	gemini25      = rules{min: 2048, step: 1, lifetime: 5 * time.Minute}
	deepSeek      = rules{min: 64, step: 64, lifetime: time.Hour}
	xAI           = rules{min: 1024, step: 64, lifetime: 5 * time.Minute}
	mistral       = rules{min: 1024, step: 64, lifetime: 5 * time.Minute}
	none          = rules{}
)

type rules struct {
	min, step int
	lifetime  time.Duration
	marks     int
}

// A source is the place where prices are published, and the day of the look-up.
type source struct{ where, date string }

var (
	listed   = source{"github.com/simonw/llm-prices, commit 723ef0bd", "2026-08-05"}
	legacy   = source{"OpenAI's list prices of 2024, as public programs cite them", "2026-11-22"}
	deepV3   = source{"api-docs.deepseek.com/quick_start/pricing-details-usd", "2026-11-22"}
	byFamily = source{"ratios of the provider's other models", "2026-08-05"}
)

// cards is searched from the top. The first line whose text occurs in the
// lower-case name of the model wins, so more specific lines come first. read is
// the price of a cached token; 0 = a tenth of the input price, for providers
// that publish the ratio and not the price.
var cards = []struct {
	part                string
	input, read, output float64
	rules               rules
	source              source
}{
	{"claude-opus-4-5", 5, 0, 25, anthropicLong, listed},
	{"claude-opus-4-6", 5, 0, 25, anthropicLong, listed},
	{"claude-opus-4-7", 5, 0, 25, anthropicLong, listed},
	{"claude-opus-4-8", 5, 0, 25, anthropic, listed},
	{"claude-opus-4", 15, 0, 75, anthropic, listed},
	{"claude-3-opus", 15, 0, 75, anthropic, listed},
	{"claude-haiku-4-5", 1, 0, 5, anthropicLong, listed},
	{"claude-3-5-haiku", 0.8, 0, 4, anthropic, listed},
	{"claude-3-haiku", 0.25, 0.03, 1.25, anthropic, listed},
	{"haiku", 1, 0, 5, anthropicLong, listed},
	{"opus", 5, 0, 25, anthropicLong, listed},
	{"claude", 3, 0, 15, anthropic, listed}, // Sonnet 3.5 to 5
	{"gpt-5-nano", 0.05, 0.005, 0.4, openAI, listed},
	{"gpt-5-mini", 0.25, 0.025, 2, openAI, listed},
	{"gpt-5.1-codex-mini", 0.25, 0.025, 2, openAI, listed},
	{"gpt-5.2", 1.75, 0.175, 14, openAI, listed},
	{"gpt-5.4-mini", 0.75, 0.075, 4.5, openAI, listed},
	{"gpt-5.4-nano", 0.2, 0.02, 1.25, openAI, listed},
	{"gpt-5.4", 2.5, 0.25, 15, openAI, listed},
	{"gpt-5.5", 5, 0.5, 30, openAI, listed},
	{"gpt-5", 1.25, 0.125, 10, openAI, listed},
	{"gpt-4.1-nano", 0.1, 0.025, 0.4, openAI, listed},
	{"gpt-4.1-mini", 0.4, 0.1, 1.6, openAI, listed},
	{"gpt-4.1", 2, 0.5, 8, openAI, listed},
	{"gpt-4o-mini", 0.15, 0.075, 0.6, openAI, listed},
	{"gpt-4o", 2.5, 1.25, 10, openAI, listed},
	{"gpt-4-turbo", 10, 10, 30, none, legacy},
	{"gpt-4", 30, 30, 60, none, legacy},
	{"gpt-3.5", 0.5, 0.5, 1.5, none, legacy},
	{"o4-mini", 1.1, 0.275, 4.4, openAI, listed},
	{"gemini-2.5-pro", 1.25, 0.125, 10, gemini25, listed},
	{"gemini-2.5-flash-lite", 0.1, 0.01, 0.4, gemini25, listed},
	{"gemini-2.5-flash", 0.3, 0.03, 2.5, gemini25, listed},
	{"gemini-3.5-flash", 1.5, 0.15, 9, gemini, listed},
	{"gemini-3.6-flash", 1.5, 0.15, 7.5, gemini, listed},
	{"gemini", 2, 0, 12, gemini, listed}, // 3 and 3.1 Pro
	{"grok-4-fast", 0.2, 0.05, 0.5, xAI, listed},
	{"grok-code", 0.2, 0.02, 1.5, xAI, listed},
	{"grok-4.5", 2, 0.3, 6, xAI, listed},
	{"grok", 3, 0.75, 15, xAI, listed}, // 3 and 4
	{"deepseek-v4-flash", 0.14, 0.028, 0.28, deepSeek, listed},
	{"deepseek-v4-pro", 1.74, 0.145, 3.48, deepSeek, listed},
	{"deepseek", 0.27, 0.07, 1.1, deepSeek, deepV3}, // V3
	{"mistral-large", 2, 0, 6, mistral, listed},
	{"mistral-medium", 0.4, 0, 2, mistral, listed},
	{"mistral-small", 0.1, 0, 0.3, mistral, listed},
	{"mixtral", 2, 2, 6, none, listed},
	{"qwen3", 0.5, 0.5, 3, none, listed},
}

// For returns the card of a model. If no line of the table matches, it returns
// the card of the provider's family, relative to its input price, and ok is
// false: then only the ratios of the prices are meaningful.
func For(model string) (c Card, ok bool) {
	name := named(model)
	for _, l := range cards {
		if strings.Contains(name, l.part) {
			return l.rules.card(l.part, l.input, l.read, l.output, l.source), true
		}
	}
	for _, l := range families {
		if strings.Contains(name, l.part) {
			c = l.rules.card(l.part, 1, l.read, l.output, byFamily)
			break
		}
	}
	if c.Input == 0 {
		c = openAI.card("", 1, 0.1, 4, byFamily)
	}
	c.Relative = true
	return c, false
}

// families hold price ratios for providers whose models the table may lack.
var families = []struct {
	part         string
	read, output float64
	rules        rules
}{
	{"o1", 0.5, 4, openAI},
	{"o3", 0.25, 4, openAI},
	{"mistral", 0.1, 3, mistral},
	{"magistral", 0.1, 3, mistral},
	{"codestral", 0.1, 3, mistral},
	{"qwen", 1, 4, none},
	{"llama", 1, 3, none}, // sold by many hosts at different prices
}

// Prices of writing into Anthropic's cache, in units of the input price
// (platform.claude.com/docs, prompt caching): 5 minutes, an hour.
const (
	writeShort = 1.25
	writeHour  = 2
)

// readShare is the price of a cached token, in units of the input price, for
// providers that publish only the ratio (Anthropic, Gemini, Mistral).
const readShare = 0.1

func (r rules) card(model string, input, read, output float64, from source) Card {
	c := Card{
		Model: model, Input: input, CacheRead: read, CacheWrite: input, CacheWriteHour: input, Output: output,
		MinPrefix: r.min, Granularity: r.step, Lifetime: r.lifetime, Marks: r.marks,
		Source: from.where, Date: from.date,
	}
	if read == 0 {
		c.CacheRead = readShare * input
	}
	if r.marks > 0 {
		c.CacheWrite, c.CacheWriteHour = writeShort*input, writeHour*input
	}
	return c
}

// Models returns the names, or parts of names, in the table of prices, in the
// order of the search.
func Models() []string {
	out := make([]string, len(cards))
	for i, l := range cards {
		out[i] = l.part
	}
	return out
}
