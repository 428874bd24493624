package invariant

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestCheckAcceptsSoundCompactions(t *testing.T) {
	for name, c := range map[string]Case{"masked": maskedCase(t), "summarized": summaryCase(t)} {
		if found := Check(c); found != nil {
			t.Errorf("%s: Check reports %v, want nothing", name, found)
		}
	}
}

// broken holds compactions that break one promise each, with the rule that
// reports it.
var broken = []struct {
	name string
	base func(testing.TB) Case
	harm func(t testing.TB, c *Case)
	rule string
}{
	{"a system message is reworded", maskedCase, func(t testing.TB, c *Case) { c.Out[0] = message.System("You are careless.") }, RulePinned},
	{"a system message is left out", summaryCase, func(_ testing.TB, c *Case) { c.Out = remove(c.Out, 0) }, RulePinned},
	{"a protected message is summarized", summaryCase, func(_ testing.TB, c *Case) {
		c.Out, c.Decisions[8] = remove(c.Out, 2), summarized
	}, RulePinned},
	{"a protected message loses its mark", maskedCase, func(_ testing.TB, c *Case) { c.Out[8].Protected = false }, RulePinned},
	{"a pinned message is called truncated", maskedCase, func(_ testing.TB, c *Case) { c.Decisions[1] = truncated }, RulePinned},
	{"the sibling of a pinned result is removed", summaryCase, func(_ testing.TB, c *Case) {
		c.In[6].Protected = true
		c.Out = insert(c.Out, 2, c.In[6])
		c.Decisions[6] = kept
	}, RulePinnedRound},
	{"a result stays without its call", summaryCase, func(_ testing.TB, c *Case) {
		c.Out, c.Decisions[11] = remove(c.Out, 5), summarized
	}, RuleOrphan},
	{"a call stays without its result", summaryCase, func(_ testing.TB, c *Case) {
		c.Out, c.Decisions[12] = remove(c.Out, 6), summarized
	}, RuleOrphan},
	{"a round is split", summaryCase, func(_ testing.TB, c *Case) {
		c.Out, c.Decisions[12] = remove(c.Out, 6), summarized
	}, RuleRound},
	{"a round is torn apart", maskedCase, func(_ testing.TB, c *Case) { c.Out[7], c.Out[8] = c.Out[8], c.Out[7] }, RuleRound},
	{"a message vanishes", summaryCase, func(_ testing.TB, c *Case) { c.Out = remove(c.Out, 7) }, RuleAccount},
	{"a summarized message stays", summaryCase, func(_ testing.TB, c *Case) { c.Out = insert(c.Out, 4, c.In[9]) }, RuleAccount},
	{"a message comes twice", maskedCase, func(_ testing.TB, c *Case) { c.Out = insert(c.Out, 9, c.In[9]) }, RuleAccount},
	{"a message is invented", maskedCase, func(_ testing.TB, c *Case) { c.Out = insert(c.Out, 13, message.Assistant("Hm.")) }, RuleAccount},
	{"a decision is missing", maskedCase, func(_ testing.TB, c *Case) { c.Decisions = c.Decisions[1:] }, RuleAccount},
	{"a decision is unknown", maskedCase, func(_ testing.TB, c *Case) { c.Decisions[3] = "pruned" }, RuleAccount},
	{"an assistant message is reworded", maskedCase, func(_ testing.TB, c *Case) { c.Out[13] = message.Assistant("Gone.") }, RuleDecision},
	{"a message with the decision kept is masked", maskedCase, func(_ testing.TB, c *Case) { c.Decisions[4] = kept }, RuleDecision},
	{"a message with the decision masked is truncated", maskedCase, func(_ testing.TB, c *Case) { c.Decisions[12] = masked }, RuleDecision},
	{"a message with the decision masked is unchanged", maskedCase, func(_ testing.TB, c *Case) { c.Decisions[6] = masked }, RuleDecision},
	{"a message is removed without a summary", summaryCase, func(_ testing.TB, c *Case) { c.Out = remove(c.Out, 3) }, RuleDecision},
	{"a notice states a wrong number", summaryCase, func(_ testing.TB, c *Case) {
		c.Out[3] = message.System("[conversation truncated — 8 older messages omitted]")
		for i, d := range c.Decisions {
			if d == summarized {
				c.Decisions[i] = dropped
			}
		}
	}, RuleDecision},
	{"a call that compacts nothing changes something", maskedCase, func(_ testing.TB, c *Case) { c.Triggered = false }, RuleDecision},
	{"the view is over the budget", maskedCase, func(_ testing.TB, c *Case) { c.Budget = 800 }, RuleBudget},
	{"a placeholder is longer than the result", maskedCase, func(t testing.TB, c *Case) {
		c.In[4] = edit(t, c.In[4], "ok")
		c.Out[4] = edit(t, c.In[4], "[observation masked — 2 chars]")
	}, RuleGrowth},
	{"the summary is longer than the messages that it replaces", summaryCase, func(_ testing.TB, c *Case) {
		c.Out[3] = message.Assistant("<COMPACT-SUMMARY v1>\n" + words(4000) + "\n</COMPACT-SUMMARY>")
	}, RuleGrowth},
	{"a placeholder is masked again", maskedCase, func(t testing.TB, c *Case) {
		c.In[4] = edit(t, c.In[4], "[observation masked — 42000 chars · recall 0123456789ab]")
	}, RuleMasked},
	{"a placeholder states another size", maskedCase, func(t testing.TB, c *Case) {
		c.Out[4] = edit(t, c.Out[4], "[observation masked — 7 chars]")
	}, RuleText},
	{"a placeholder refers to something else", maskedCase, func(t testing.TB, c *Case) {
		c.Out[4] = edit(t, c.Out[4], "[observation masked — 1999 chars · recall 0123456789ab]")
	}, RuleText},
	{"a marker states other tokens", maskedCase, func(t testing.TB, c *Case) {
		c.Out[12] = edit(t, c.Out[12], words(2)+"\n\n[truncated: kept first ~120 of ~999 tokens (head)]")
	}, RuleText},
	{"a truncation is longer than its limit", maskedCase, func(t testing.TB, c *Case) {
		text := c.In[12].Parts[0].Text
		c.Out[12] = edit(t, c.Out[12], text[:4000]+"\n\n[truncated: kept first ~120 of ~"+strconv.Itoa(textCost(text))+" tokens (head)]")
	}, RuleText},
	{"a truncation keeps something else", maskedCase, func(t testing.TB, c *Case) {
		c.Out[12] = edit(t, c.Out[12], "other"+c.Out[12].Parts[0].Text)
	}, RuleText},
	{"a result is cut inside a character", maskedCase, func(t testing.TB, c *Case) {
		c.In[12] = edit(t, c.In[12], strings.Repeat("漢", 2000))
		c.Out[12] = edit(t, c.Out[12], strings.Repeat("漢", 20)[:59]+"\n\n[truncated: kept first ~120 of ~500 tokens (head)]")
	}, RuleText},
	{"an assistant message is masked", maskedCase, func(t testing.TB, c *Case) {
		c.Out[9] = edit(t, c.Out[9], "[observation masked — 1011 chars]")
		c.Decisions[9] = masked
	}, RuleText},
	{"a dispatch block is lost", maskedCase, func(t testing.TB, c *Case) {
		c.Out[7] = edit(t, c.Out[7], "[observation masked — 1047 chars]")
	}, RuleDispatch},
	{"a dispatch block is counted as masked", maskedCase, func(t testing.TB, c *Case) {
		c.Out[7] = edit(t, c.Out[7], "[dispatch output masked — 1047 chars]\n"+dispatch)
	}, RuleText},
	{"a dispatch block of another tool is kept", maskedCase, func(_ testing.TB, c *Case) {
		c.Dispatch = func(tool string) bool { return tool != "dispatch" }
	}, RuleDecision},
	{"a forged dispatch placeholder is said to be masked", maskedCase, func(t testing.TB, c *Case) {
		c.Dispatch = func(string) bool { return false }
		c.In[7] = edit(t, c.In[7], "[dispatch output masked — 9 chars]\n"+dispatch)
		c.Out[7] = c.In[7]
	}, RuleDecision},
	{"bytes beside an edit change", maskedCase, func(t testing.TB, c *Case) {
		c.Out[4] = wire(t, strings.Replace(string(c.Out[4].Raw()), `1e999`, `1e998`, 1))
	}, RuleBytes},
	{"a string beside an edit changes", maskedCase, func(t testing.TB, c *Case) {
		c.Out[4] = wire(t, strings.Replace(string(c.Out[4].Raw()), `"z"`, `"q"`, 1))
	}, RuleBytes},
	{"a message is written anew", maskedCase, func(t testing.TB, c *Case) {
		c.Out[4] = message.ToolResult("a1", c.Out[4].Parts[0].Text)
	}, RuleBytes},
	{"the raw form does not follow the parts", maskedCase, func(_ testing.TB, c *Case) {
		m := c.In[4]
		m.Parts = slices.Clone(c.Out[4].Parts)
		c.Out[4] = m
	}, RuleBytes},
	{"there are two summaries", summaryCase, func(_ testing.TB, c *Case) { c.Out = insert(c.Out, 4, c.Out[3]) }, RuleSummary},
	{"an old summary stays beside the new one", summaryCase, func(_ testing.TB, c *Case) {
		old := message.Assistant("<COMPACT-SUMMARY v1>\nOld.\n</COMPACT-SUMMARY>")
		c.In, c.Out = insert(c.In, 11, old), insert(c.Out, 5, old)
		c.Out[3] = message.Assistant("<COMPACT-SUMMARY v2>\nNew.\n</COMPACT-SUMMARY>")
		c.Decisions = slices.Insert(c.Decisions, 11, kept)
	}, RuleSummary},
	{"a summary has the wrong number", summaryCase, func(_ testing.TB, c *Case) {
		c.In[9] = message.Assistant("<COMPACT-SUMMARY v3>\nOld.\n</COMPACT-SUMMARY>")
	}, RuleSummary},
	{"a summary is over its limit", summaryCase, func(_ testing.TB, c *Case) {
		c.Out[3] = message.Assistant("<COMPACT-SUMMARY v1>\n" + words(300) + "\n</COMPACT-SUMMARY>")
	}, RuleSummary},
	{"the anchor is summarized", summaryCase, func(_ testing.TB, c *Case) {
		c.Out, c.Decisions[14] = remove(c.Out, 8), summarized
	}, RuleAnchor},
	{"the anchor is reworded", maskedCase, func(_ testing.TB, c *Case) { c.Out[14] = message.User("And then?") }, RuleAnchor},
	{"the anchor stands before the summary", summaryCase, func(_ testing.TB, c *Case) {
		c.Out = insert(remove(c.Out, 8), 3, c.In[14])
	}, RuleAnchor},
	{"something stands between call and result", maskedCase, func(_ testing.TB, c *Case) {
		c.Out[7], c.Out[8] = c.Out[8], c.Out[7]
	}, RulePairing},
	{"two messages change places", maskedCase, func(_ testing.TB, c *Case) { c.Out[9], c.Out[10] = c.Out[10], c.Out[9] }, RuleOrder},
	{"pinned messages change places", summaryCase, func(_ testing.TB, c *Case) { c.Out[0], c.Out[2] = c.Out[2], c.Out[0] }, RuleOrder},
	{"an old pinned message stays behind the summary", summaryCase, func(_ testing.TB, c *Case) {
		c.Out[1], c.Out[2], c.Out[3] = c.Out[2], c.Out[3], c.Out[1]
	}, RuleOrder},
	{"a recent message comes before the summary", summaryCase, func(_ testing.TB, c *Case) { c.Out[3], c.Out[4] = c.Out[4], c.Out[3] }, RuleOrder},
	{"a recent pinned message is moved to the front", summaryCase, func(_ testing.TB, c *Case) {
		c.In[13].Protected = true
		c.Out = insert(remove(c.Out, 7), 3, c.In[13])
	}, RuleOrder},
	{"a result of the open round is masked", maskedCase, func(t testing.TB, c *Case) {
		c.In = append(c.In, message.Assistant("", message.Call("c1", "read", `{}`), message.Call("c2", "read", `{}`)), message.ToolResult("c1", words(200)))
		c.Out = append(c.Out, c.In[15], edit(t, c.In[16], "[observation masked — 999 chars]"))
		c.Decisions = append(c.Decisions, kept, masked)
	}, RuleOpen},
	{"an open round is summarized", summaryCase, func(_ testing.TB, c *Case) {
		c.In = append(c.In, message.Assistant("", message.Call("c1", "read", `{}`)))
		c.Decisions = append(c.Decisions, summarized)
	}, RuleOpen},
	{"a recent turn is summarized although it fits", summaryCase, func(_ testing.TB, c *Case) {
		c.Out, c.Decisions[10], c.Decisions[11], c.Decisions[12] = slices.Delete(slices.Clone(c.Out), 4, 7), summarized, summarized, summarized
	}, RuleKeep},
	{"a recent result is masked", maskedCase, func(t testing.TB, c *Case) {
		c.Out[12] = edit(t, c.In[12], "[observation masked — 9999 chars]")
		c.Decisions[12] = masked
	}, RuleWindow},
	{"one of the first results is masked", maskedCase, func(_ testing.TB, c *Case) { c.MaskFirst = 1 }, RuleWindow},
	{"a compaction stops above the target", summaryCase, func(_ testing.TB, c *Case) {
		c.Out = insert(c.Out, 4, c.In[3], c.In[4])
		c.Decisions[3], c.Decisions[4] = kept, kept
	}, RuleTarget},
	{"a manual compaction leaves something", summaryCase, func(_ testing.TB, c *Case) {
		c.Manual, c.Target = true, 0
		c.Out = insert(c.Out, 4, c.In[3], c.In[4])
		c.Decisions[3], c.Decisions[4] = kept, kept
	}, RuleTarget},
	{"the history is said to cost less", maskedCase, func(_ testing.TB, c *Case) { c.Reported.In-- }, RuleReported},
	{"the view is said to cost less", maskedCase, func(_ testing.TB, c *Case) { c.Reported.Out-- }, RuleReported},
	{"a message is said to cost less", summaryCase, func(_ testing.TB, c *Case) { c.Reported.Messages[14][1]-- }, RuleReported},
	{"numbers of a message are missing", maskedCase, func(_ testing.TB, c *Case) { c.Reported.Messages = c.Reported.Messages[1:] }, RuleReported},
}

func TestCheckCatchesEachBrokenPromise(t *testing.T) {
	for _, b := range broken {
		t.Run(b.name, func(t *testing.T) {
			c := b.base(t)
			b.harm(t, &c)
			if found := Check(c); !slices.Contains(rules(found), b.rule) {
				t.Errorf("want %q, got %v", b.rule, found)
			}
		})
	}
}

// A rule without a failing example is not known to work.
func TestEveryRuleHasAFailingExample(t *testing.T) {
	shown := map[string]bool{}
	for _, b := range broken {
		shown[b.rule] = true
	}
	for _, b := range brokenChains {
		shown[b.rule] = true
	}
	shown[RuleInsufficient], shown[RuleHistory] = true, true // tested in separate tests
	file, err := parser.ParseFile(token.NewFileSet(), "case.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Rule") {
			return true
		}
		count++
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil || !shown[text] {
			t.Errorf("no case shows that %s fires", spec.Names[0].Name)
		}
		return true
	})
	if count < 20 {
		t.Errorf("only %d rules were found in case.go, want at least 20", count)
	}
}
