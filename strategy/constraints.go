package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// constraints returns the sentences of the user and of system messages that set rules,
// verbatim and with their step. It leaves out rules that were taken back, and rules of a
// request that is done. A rule that was lifted has a note about that.
func (h *History) constraints() []fact {
	var out []fact
	gone := h.withdrawn()
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.Role == message.RoleAssistant || s.Role == message.RoleTool || gone[i] {
			continue
		}
		n, before := 0, len(out)
		var listed ruleList
		var head listHead
		ruled := false // the previous sentence set a rule
		last := ""     // the previous sentence
		prose.EachSentence(h.ruleText(s), func(one prose.Sentence) {
			t, lead := one.Text, last
			last = t
			if one.Heading {
				last = ""
			}
			if ruled = ruled && !one.Heading && (rules.Completes(t) || rules.Binds(t) > 0 && rules.Depends(t) || rules.TurnsBack(t) && rules.Binds(t) == 0 && !strings.HasSuffix(t, "?")); ruled {
				out[len(out)-1].Text += " " + prose.Squash(t)
				out[len(out)-1].Value = max(out[len(out)-1].Value, rules.Binds(t)*h.standing(s))
				return
			}
			heads := head.hear(one) // below, "… " marks a text that was cut, so that its heading is missing
			t = strings.TrimPrefix(t, "… ")
			if one.Item && !one.Heading && rules.Binds(t) > 0 {
				listed.add(t)
			}
			if value := rules.Binds(t); !one.Heading && !(heads || one.Item && head.observed() || head.proposed() && !strings.Contains(one.Text, "… ")) && value > 0 && n < 12 {
				if n++; s.user() && h.wentBy(i) {
					if rules.OneOff(t) || value < rules.PlainValue && prose.BeginsAny(strings.ToLower(t), rules.NowOnly) {
						return
					}
					t = rules.LastingPart(t)
				}
				if rules.Depends(t) && rules.Explains(lead) {
					t = lead + " " + t
				}
				if one.Item {
					listed.at = append(listed.at, len(out))
				}
				out = append(out, fact{s.ID, prose.Clip(prose.Squash(t), maxRuleQuoted), value * max(quality(t), leastRule) * h.standing(s)})
				ruled = true
			}
		})
		if s.user() && s.Shown == "" {
			out = listed.fold(out, before, s.ID)
		}
		for k := before; k < len(out); k++ {
			out[k].Text += " " + stepID(s.ID) + h.liftedBy(out[k])
		}
	}
	return out
}

// maxRuleQuoted is the maximum length of a quoted rule, in characters. The section of the
// user's words quotes the whole message.
const maxRuleQuoted = 210

// leastRule is the least quality with which a rule is weighed. Unlike other short
// sentences, a short rule can be understood by itself.
const leastRule = 0.8

// standing returns the factor of a rule for its age. A rule of the user binds until the user
// takes it back, so its value falls less with age than the value of other facts.
func (h *History) standing(s *Step) float64 {
	if s.user() {
		return (1 + h.recency(s.ID)) / 2
	}
	return h.recency(s.ID)
}
