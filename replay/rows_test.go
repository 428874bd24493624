package replay

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/price"
)

// Each figure of a row is the sum of the row's points, for every kind of policy. The
// changes on the page are those of the views.
func TestARowIsTheSumOfItsPoints(t *testing.T) {
	s := session("a", 60)
	asking := preset(t, "summarize").(managed)
	asking.name, asking.config.Summarizer.Backend = "asking", "agent"
	rep := run(t, Options{Policies: []Policy{Raw(), DropOldest(3), Summarize(0.85), preset(t, "graduated"), asking}, Windows: []int{8000}}, s)
	for i := range rep.Rows {
		r := &rep.Rows[i]
		var cost float64
		var sent, largest, over, compacted, refused int
		for k, p := range r.Points {
			cost, sent, largest = cost+p.Cost, sent+p.Tokens, max(largest, p.Tokens)
			over, compacted, refused = over+one(p.Tokens > r.Window), compacted+one(p.Compacted), refused+one(p.Refused)
			if p.Message != s.Calls()[k] {
				t.Errorf("%s: call %d is message %d, want %d", r.Policy, k+1, p.Message, s.Calls()[k])
			}
		}
		if math.Abs(cost-r.Cost) > 1e-9 || math.Abs(r.Money.Total()-r.Cost) > 1e-9 || r.Money.Summaries != r.SummaryCost {
			t.Errorf("%s: the points cost %v, the kinds %v, the row %v", r.Policy, cost, r.Money.Total(), r.Cost)
		}
		if sent != r.Sent || sent != r.Usage.Prompt() || largest != r.Largest || over != r.Over || compacted != r.Compactions || refused != r.Refused || len(r.Points) != r.Calls {
			t.Errorf("%s: %d tokens, at most %d, %d over, %d compactions, %d refused; the row has %+v", r.Policy, sent, largest, over, compacted, refused, r)
		}
		if dear := strings.HasPrefix(r.Policy, "summarize") || r.Policy == "asking"; (r.SummaryCost > 0) != dear {
			t.Errorf("%s: summaries cost %v", r.Policy, r.SummaryCost)
		}
	}
}

// A line of a change has the tokens of its message before and after, by the archive's own
// policy, too.
func TestLinesOfAChangeHaveTheTokensOfTheView(t *testing.T) {
	s := session("s", 120)
	for i := range s.Messages {
		if i%2 == 1 && i > 2 { // so small that many turns fit, and masks alone reach the target at first
			s.Messages[i] = message.ToolResult(s.Messages[i-1].Parts[1].CallID, strings.Repeat("some line of code here\n", 20))
		}
	}
	a, stored := lived(t, "graduated", s)
	was, err := FromArchive(t.Context(), a, stored, "s")
	if err != nil {
		t.Fatal(err)
	}
	count := estimator(t)
	card, _ := price.For("gpt-4o")
	for _, p := range []Policy{was.Current(), preset(t, "graduated")} {
		r, err := p.Begin(t.Context(), was.Session, Env{Model: "gpt-4o", Window: 8000, Count: count, Card: card})
		if err != nil {
			t.Fatal(err)
		}
		edited, gone := 0, 0
		for _, at := range was.Session.Calls() {
			history := was.Session.Messages[:at:at]
			v, err := r.View(t.Context(), history)
			if err != nil {
				t.Fatal(err)
			}
			if v.Change == nil {
				continue
			}
			for _, l := range v.Change.Lines {
				after := 0
				if k := slices.Index(v.Sources, l.Index); k >= 0 {
					after = count.Message(v.Messages[k])
				}
				if l.Before != count.Message(history[l.Index]) || l.After != after || (l.Now != "") != (after > 0) {
					t.Errorf("%s: %+v; message %d has %d tokens in the view", p.Name(), l, l.Index, after)
				}
				edited, gone = edited+one(after > 0), gone+one(after == 0)
			}
			if size := count.Messages(v.Messages); v.Change.After != size && v.Change.After != size+count.Reply() {
				t.Errorf("%s: %d tokens after the compaction, the view has %d", p.Name(), v.Change.After, size)
			}
		}
		if edited == 0 || gone == 0 {
			t.Errorf("%s: %d messages were edited and %d removed", p.Name(), edited, gone)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// The head of a report counts each call once, whatever the numbers of policies and windows.
func TestHeadOfAReportCountsEachCallOnce(t *testing.T) {
	r := &Report{Sessions: 2, Short: 3, options: Options{Least: AtLeast{Calls: 4}}}
	for _, session := range []struct {
		name  string
		calls int
	}{{"a", 5}, {"b", 7}} {
		for _, window := range []int{8000, 16_000} {
			for _, policy := range []string{"raw", "graduated"} {
				r.Rows = append(r.Rows, Row{Session: session.name, Policy: policy, Window: window, Calls: session.calls})
			}
		}
	}
	if got := r.replayed(); got != "2 sessions, 12 calls (3 of less than 4 calls skipped)" {
		t.Errorf("%q", got)
	}
}

// The tables have each number of a total under its name. All numbers differ.
func TestTablesOfATotalHaveEachNumberInItsPlace(t *testing.T) {
	third := &Interval{Value: 0.33}
	total := Total{
		Policy: "p", Window: 8000, Cost: 1.25, OfRaw: Interval{0.4, 0.3, 0.5}, Held: Interval{0.9, 0.8, 0.95}, Recall: &Interval{Value: 0.21}, User: &Interval{Value: 0.32}, Failed: third,
		Worst: 1.5, WorstByWill: 0.7, Kept: Kept{Needed: 50, Told: Told{False: 2, Stated: 9}},
		Sent: 11_100, Usage: price.Usage{Cached: 12_200, Written: 13_000, WrittenHour: 300, Fresh: 14_400, Output: 15_500}, Largest: 16_600, Over: 17, Refused: 18, Compactions: 19, Changed: 20.5,
		Tidied: []Tidied{{"a", 21, 22_000, 2775, 23}, {"b", 24, 25_000, 8325, 26}},
	}
	for name, c := range map[string]struct {
		write func(b *strings.Builder)
		want  []string // cells of the lines with numbers
	}{
		"kept":   {func(b *strings.Builder) { writeKept(b, 8000, []Total{total}) }, []string{"p 1.25 40.0% (30.0–50.0) 90.0% (80.0–95.0) 21% 32% 33%", "p 2/9 150%", "p: among the sessions where the window forced no compaction, the worst costs 70% of its raw cost"}},
		"sent":   {func(b *strings.Builder) { writeSent(b, []Total{total}) }, []string{"p 11.1 12.2 13.3 14.4 15.5 16.6 17 18 19", "p 20.5"}},
		"tidied": {func(b *strings.Builder) { writeTidied(b, []Total{total}) }, []string{"b 24 25.0 37.50% 26", "a 21 22.0 12.50% 23"}},
	} {
		var b strings.Builder
		c.write(&b)
		var lines []string
		for line := range strings.Lines(b.String()) {
			if line = strings.Join(strings.Fields(line), " "); strings.ContainsAny(line, "123456789") && !strings.HasPrefix(line, "window") {
				lines = append(lines, line)
			}
		}
		if !slices.Equal(lines, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, b.String(), strings.Join(c.want, "\n"))
		}
	}
}

// A compaction is described by all its decisions, and as a diff of all its lines.
func TestAChangeIsDescribedInFull(t *testing.T) {
	c := &Change{Stage: "mask", Counts: map[string]int{}}
	if got := c.counts(); got != "mask" {
		t.Errorf("%q", got)
	}
	for i, d := range []policy.Decision{policy.Truncated, policy.Masked, policy.Dropped, policy.Summarized} {
		c.Counts[d.String()] = i + 1
	}
	if got := c.counts(); got != "4 messages summarized, 3 messages dropped, 2 messages masked, 1 message truncated" {
		t.Errorf("%q", got)
	}
	c.Lines = []ChangedLine{{Index: 0, Role: "user", Before: 1200, Words: "w"}, {Index: 3, Role: "tool", Decision: "masked", Before: 90, After: 9, Words: "v", Now: "n"}}
	c.More, c.Summary = 1, "a\nb\n"
	want := []diffLine{
		{"-", "1 user, 1,200 tokens: w"}, {" ", "2 messages as before"}, {"-", "4 tool, 90 tokens: v"}, {"+", "4 tool, 9 tokens, masked: n"}, {" ", "and 1 message more that changed"}, {"+", "a"}, {"+", "b"},
	}
	if got := c.diff(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// The tools of a request are a part of each of its prompts.
func TestToolsOfARequestAreInEachPrompt(t *testing.T) {
	const messages = `"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"},{"role":"user","content":"go on"},{"role":"assistant","content":"yes"}]}`
	const tools = `[{"type":"function","function":{"name":"read","description":"reads a file of the project","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}]`
	var sent [2]int
	for i, text := range []string{`{"model":"gpt-4o",` + messages, `{"model":"gpt-4o","tools":` + tools + `,` + messages} {
		s, err := Parse("s.json", []byte(text), "auto")
		if err != nil {
			t.Fatal(err)
		}
		sent[i] = run(t, Options{Policies: []Policy{Raw()}}, s).Rows[0].Sent
	}
	if schemas := estimator(t).Tools([]byte(tools)); schemas < 20 || sent[1]-sent[0] != 2*schemas {
		t.Errorf("%d tokens without tools, %d with them; they have %d", sent[0], sent[1], schemas)
	}
}

// A reference keeps the instructions of both roles.
func TestReferencesKeepInstructions(t *testing.T) {
	h := []message.Message{message.System("s"), {Role: message.RoleDeveloper, Parts: []message.Part{{Kind: message.KindText, Text: "d"}}}, message.User("u")}
	for i := range 9 {
		h = append(h, message.Assistant(fmt.Sprint("a", i)), message.User(fmt.Sprint("u", i)))
	}
	instead := message.Assistant("instead")
	for name, c := range map[string]struct {
		v    View
		want []int
	}{
		"drop":      {without(h, recentFrom(h, 2), nil), []int{0, 1, 17, 18, 19, 20}},
		"summarize": {without(h, 19, &instead), []int{0, 1, -1, 19, 20}},
		"fewer":     {without(h, recentFrom(h, 10), nil), identity(len(h))},
		"all":       {without(h, recentFrom(h, 9), nil), append([]int{0, 1}, identity(len(h))[3:]...)},
	} {
		if !slices.Equal(c.v.Sources, c.want) || len(c.v.Messages) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, c.v.Sources, c.want)
		}
		for k, src := range c.v.Sources {
			if src >= 0 && !message.Identical(c.v.Messages[k], h[src]) || src < 0 && c.v.Messages[k].Text() != "instead" {
				t.Errorf("%s: message %d is %q", name, k, c.v.Messages[k].Text())
			}
		}
	}
}

// A line of each form is distinguished from the lines of all other forms, as far as
// possible.
func TestALineHasTheFormsThatFitIt(t *testing.T) {
	const any3 = "openai or anthropic or responses"
	for line, want := range map[string]string{
		`{"role":"user","content":"x"}`:                                      any3,
		`{"role":"user","content":[{"type":"text","text":"x"}]}`:             any3,
		`{"role":"assistant","tool_calls":[{}]}`:                             "openai",
		`{"role":"tool","tool_call_id":"c","content":"x"}`:                   "openai",
		`{"role":"tool","content":"x"}`:                                      "openai",
		`{"role":"assistant","content":[{"type":"tool_use"}]}`:               "anthropic",
		`{"role":"user","content":[{"type":"text"},{"type":"tool_result"}]}`: "anthropic",
		`{"role":"assistant","content":[{"type":"thinking"}]}`:               "anthropic",
		`{"role":"model","parts":[{"text":"x"}]}`:                            "gemini",
		`{"type":"message","role":"user","content":"x"}`:                     "responses",
		`{"type":"function_call","call_id":"c"}`:                             "responses",
		`{"type":"user","message":{"role":"user","content":"x"}}`:            "claude-code",
		`{"type":"assistant","message":{"role":"assistant"}}`:                "claude-code",
		`{"type":"message","message":{"role":"user"}}`:                       "pi",
		`{"type":"summary"}`:                                                 "openai or anthropic or responses or gemini or claude-code or pi",
		`{"role":"user"}`:                                                    "openai or anthropic or responses or gemini or claude-code or pi",
		`{"note":"x"}`:                                                       "openai or anthropic or responses or gemini or claude-code or pi",
	} {
		var l formProbe
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if got := formOf(&l).String(); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// Doubts begin below their limits.
func TestDoubtsBeginBelowTheirLimits(t *testing.T) {
	for _, c := range []struct {
		sessions, projects, folds int
		preset                    Interval
		want                      string
	}{
		{8, 3, 4, Interval{0.9, 0.8, 0.99}, ""},
		{7, 3, 4, Interval{0.9, 0.8, 0.99}, "7 sessions"},
		{8, 2, 4, Interval{0.9, 0.8, 0.99}, "sessions of 2 projects"},
		{8, 3, 4, Interval{0.9, 0.8, 1.01}, "on these sessions the setting cost 90.0 %"},
		{8, 3, 4, Interval{0.9, 0.8, 1}, ""},
		{8, 3, 4, Interval{1.2, 1, 1.4}, ""},
		{8, 3, 0, Interval{0.9, 0.8, 1.01}, ""},
	} {
		x := &Tuning{Options: TuneOptions{Keep: 0.9}, Sessions: c.sessions, Projects: c.projects, Folds: c.folds, Expected: Figures{Held: Interval{0.95, 0.9, 1}, OfPreset: c.preset}}
		if x.doubt(); (len(x.TooFew) > 0) != (c.want != "") || !strings.HasPrefix(strings.Join(x.TooFew, ". "), c.want) {
			t.Errorf("%+v: %q", c, x.TooFew)
		}
	}
}

// A summary by the agent's own model is billed once, with the previous prompt from the
// cache, the instruction, and its own text. A summary that is not used is billed, too.
func TestASummaryOfTheAgentIsBilledInFull(t *testing.T) {
	a := &agentModel{}
	if ask := a.last(); ask.Ask != nil || ask.View != nil {
		t.Error("there is no previous request to append to")
	}
	first := &compact.Result{Messages: []message.Message{message.User("a"), message.User("b")}}
	first.After.Total = 5000
	if u := a.billed(first); u != (price.Usage{}) {
		t.Errorf("no summary is billed as %+v", u)
	}
	ask := a.last()
	if !ask.StandIn || len(ask.View) != 2 || ask.View[1] != first.Messages[1].Fingerprint() {
		t.Fatalf("%+v", ask)
	}
	answer, err := ask.Ask(t.Context(), "")
	if want := (compact.Usage{PromptTokens: 5900, CachedTokens: 5000, CacheKnown: true}); err != nil || answer.Usage != want {
		t.Errorf("the model is asked for %+v, want %+v; %v", answer.Usage, want, err)
	}
	second := &compact.Result{Messages: first.Messages[:1], Summary: &policy.SummaryInfo{Tokens: 300}}
	second.After.Total = 700
	if u := a.billed(second); u != (price.Usage{Cached: 5000, Fresh: 900, Output: 300}) {
		t.Errorf("billed as %+v", u)
	}
	if u := a.billed(second); u != (price.Usage{}) {
		t.Errorf("billed again as %+v", u)
	}
	_, _ = a.last().Ask(t.Context(), "")
	if u := a.billed(first); u != (price.Usage{Cached: 700, Fresh: 900}) {
		t.Errorf("an unused summary is billed as %+v", u)
	}
}
