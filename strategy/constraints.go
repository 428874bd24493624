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
		r := ruleReader{h: h, i: i, s: s, out: out}
		prose.EachSentence(h.ruleText(s), r.read)
		before := len(out)
		if out = r.out; s.user() && s.Shown == "" {
			weighListed(out, r.listed)
		}
		for k := before; k < len(out); k++ {
			out[k].Text += " " + stepID(s.ID) + h.liftedBy(out[k])
		}
	}
	return out
}

// ruleReader collects the rules in the sentences of one step.
type ruleReader struct {
	h      *History
	i      int // index of the step
	s      *Step
	out    []fact
	n      int   // number of rules in this step
	listed []int // indexes of the rules that are items of a list
	head   listHead
	ruled  bool   // the previous sentence set a rule
	last   string // the previous sentence; "" = a heading
	under  string // the heading of a list of rules, whose items may set no rule by themselves
	joined int    // 1 + the index of the rule that joins these items; 0 = none
}

func (r *ruleReader) read(one prose.Sentence) {
	t, lead := one.Text, r.last
	r.last = t
	if one.Heading {
		r.last = ""
	}
	if r.ruled = r.ruled && continuesRule(one); r.ruled {
		rule := &r.out[len(r.out)-1]
		rule.Text += " " + prose.Squash(t)
		rule.Value = max(rule.Value, rules.Binds(t)*r.h.standing(r.s))
		return
	}
	heads := r.head.hear(one) // below, "… " marks a text that was cut, so that its heading is missing
	t = strings.TrimPrefix(t, "… ")
	value := rules.Binds(t)
	if r.joins(one, t, heads, value) || one.Heading || value <= 0 {
		return
	}
	if !(heads || one.Item && r.head.observed() || r.head.proposed() && !strings.Contains(one.Text, "… ")) && r.n < mostRules {
		r.add(one, t, lead, value)
	}
}

// continuesRule reports whether a sentence after a rule belongs to the rule.
func continuesRule(one prose.Sentence) bool {
	t := one.Text
	return !one.Heading && (!one.Item || one.Later) && (rules.Completes(t) || rules.Binds(t) > 0 && rules.Depends(t) || rules.TurnsBack(t) && rules.Binds(t) == 0 && !strings.HasSuffix(t, "?"))
}

// add adds the rule t. lead is the sentence before it.
func (r *ruleReader) add(one prose.Sentence, t, lead string, value float64) {
	if r.n++; r.s.user() && r.h.wentBy(r.i) {
		if rules.OneOff(t) || value < rules.PlainValue && prose.BeginsAny(strings.ToLower(t), rules.NowOnly) {
			return
		}
		t = rules.LastingPart(t)
	}
	if rules.Depends(t) && rules.Explains(lead) {
		t = lead + " " + t
	}
	if one.Item {
		r.listed = append(r.listed, len(r.out))
	}
	r.out = append(r.out, fact{r.s.ID, prose.Clip(prose.Squash(t), maxRuleQuoted), value * max(quality(t), leastRule) * r.h.standing(r.s)})
	r.ruled = true
}

// mostRules is the maximum number of rules of one message.
const mostRules = 12

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
