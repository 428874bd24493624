package price

import (
	"regexp"
	"slices"
	"strings"
)

// covered lists full names of models for the lines of the table that hold only a part
// of a name. A name that is neither here nor in the table gets the card of the first
// line whose text occurs in the name.
var covered = map[string][]string{
	"claude-opus-4": {"claude-opus-4-1", "claude-4-opus"},
	"opus":          {"claude-opus"},
	"haiku":         {"claude-haiku"},
	"claude": {
		"claude-sonnet", "claude-3-5-sonnet", "claude-3-7-sonnet", "claude-4-sonnet", "claude-sonnet-4", "claude-sonnet-4-5", "claude-sonnet-4-6", "claude-sonnet-5",
	},
	"gpt-5":       {"gpt-5.1", "gpt-5-codex", "gpt-5.1-codex", "gpt-5-chat"},
	"gpt-5.2":     {"gpt-5.2-codex", "gpt-5.2-chat"},
	"gpt-4o":      {"chatgpt-4o"},
	"gpt-3.5":     {"gpt-3.5-turbo"},
	"gemini":      {"gemini-3-pro", "gemini-3.1-pro"},
	"grok-4-fast": {"grok-4-fast-reasoning", "grok-4-fast-non-reasoning"},
	"grok-code":   {"grok-code-fast"},
	"grok":        {"grok-3", "grok-4"},
	"deepseek":    {"deepseek-chat", "deepseek-v3"},
	"mixtral":     {"mixtral-8x7b", "mixtral-8x22b"},
}

// ends matches suffixes of model names that do not change the price: dates,
// versions of an endpoint, kinds of hosting.
var ends = regexp.MustCompile(`([-@](latest|preview|exp|instruct|\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}|\d{3,4}|v\d+)|:[a-z0-9]+)$`)

// named returns the name of a model as the table spells it, for Claude without
// the text in front of "claude" and with hyphens for dots.
func named(model string) string {
	name := strings.ToLower(strings.TrimSpace(model))
	if at := strings.Index(name, "claude"); at >= 0 {
		return strings.ReplaceAll(name[at:], ".", "-")
	}
	return name
}

// Listed reports whether the table lists this name. It ignores a host in front and
// endings that do not change the price: dates, versions of an endpoint, kinds of
// hosting. For other names, [For] may still return the card of a line whose text is
// a part of the name.
func Listed(model string) bool {
	known := Names()
	name := named(model)
	name = name[strings.LastIndexByte(name, '/')+1:] // without the name of a host
	for {
		if slices.Contains(known, name) {
			return true
		}
		cut := ends.ReplaceAllString(name, "")
		if cut == name {
			return false
		}
		name = cut
	}
}

// Names returns the names of the models for which the table has prices.
func Names() (all []string) {
	for _, l := range cards {
		all = append(all, l.part)
		all = append(all, covered[l.part]...)
	}
	return all
}
