package strategy

import (
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// ruleHeads are words of headings above lists of rules.
var ruleHeads = []string{"requirement", "requirements", "constraint", "constraints", "rules"}

// ruleStarts are beginnings of headings above lists of rules.
var ruleStarts = []string{"never", "always", "do not", "don't", "don’t", "only use", "use only", "must", "avoid", "forbidden", "allowed"}

// headsRules reports whether a heading, in lower case, stands above rules.
func headsRules(low string) bool {
	return prose.HasAnyWord(low, ruleHeads) || prose.BeginsAny(low, ruleStarts)
}

// joins reports whether a sentence is an item that only its heading makes a rule, and adds such
// items to one rule: "Only use these libraries: cobra; viper". heads says that the sentence is a
// heading or leads to a list, and value is its value as a rule.
func (r *ruleReader) joins(one prose.Sentence, t string, heads bool, value float64) bool {
	switch {
	case heads:
		r.under, r.joined = "", 0
		if colon := strings.TrimRight(t, ":： "); colon != t && (value > 0 || headsRules(strings.ToLower(t))) {
			r.under = colon
		}
		return false
	case !one.Item:
		r.under = ""
	}
	if r.under == "" || one.Later || value > 0 || r.head.observed() || r.head.proposed() {
		return false
	}
	item := strings.TrimRight(prose.Squash(t), ".;,")
	if r.joined > 0 {
		rule := &r.out[r.joined-1]
		switch {
		case strings.HasSuffix(rule.Text, "…"):
		case utf8.RuneCountInString(rule.Text+item) < maxRuleQuoted:
			rule.Text += "; " + item
		default:
			rule.Text += "; …"
		}
		return true
	}
	before := len(r.out)
	if r.n < mostRules {
		r.add(prose.Sentence{}, r.under+": "+item, "", max(rules.Binds(r.under), rules.PlainValue))
		r.ruled = false
	}
	if len(r.out) > before {
		r.joined = len(r.out)
	}
	return true
}
