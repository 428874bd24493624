package strategy

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Another program may have compacted the conversation before. It then leaves a handoff in
// the user's role: a summary of the part that it removed. No person typed a handoff, and
// often no other text describes that part.

// recapSpeaker names the speaker of a handoff, to distinguish it from the assistant's own
// text.
const recapSpeaker = "a summary by the harness"

// recap reports whether a step is a handoff. It repeats earlier statements and decisions.
func (s *Step) recap() bool { return s.Speaker == recapSpeaker }

// handoffHeads begin handoffs of known programs.
var handoffHeads = []string{"this session is being continued from", "here is a summary of the conversation", "here's a summary of the conversation", "the following is a summary of the conversation",
	"another language model started to solve this problem and produced a summary", "the conversation history before this point was compacted", "<conversation_summary>", "<conversation-summary>", "<state_snapshot>"}

// handoffTitles are words in the first heading of a handoff. The heading has a word of
// each list.
var handoffTitles = [2][]string{
	{"summary", "handoff", "hand-off", "checkpoint", "compaction"},
	{"conversation", "session", "context", "handoff", "hand-off", "compact", "checkpoint"},
}

// leastTopics is the minimum number of topics in a handoff without a known beginning.
const leastTopics = 2

// handsOver reports whether a message in the user's role is a handoff.
func handsOver(text string) bool {
	text = strings.TrimSpace(text)
	line, rest, _ := strings.Cut(text, "\n")
	if low := strings.ToLower(line); prose.BeginsAny(low, handoffHeads) {
		return true
	} else if title, ok := prose.Heading(strings.TrimSpace(line)); !ok || !prose.HasAny(low, handoffTitles[0]) || !prose.HasAny(strings.ToLower(title), handoffTitles[1]) {
		return false
	}
	n := 0
	for _, t := range topicsOf(rest) {
		if kind, _ := aboutOf(t.title); kind != topicOther {
			n++
		}
	}
	return n >= leastTopics
}

// A topic is one part of a handoff, under its heading.
type topic struct{ title, text string }

// topicsOf splits a handoff at its headings. The title of a topic below another heading
// contains both headings, unless its own heading states the kind of the topic.
func topicsOf(text string) []topic {
	var out []topic
	var fence prose.Fence
	above, body := "", strings.Builder{}
	title := ""
	flush := func() {
		if strings.TrimSpace(body.String()) != "" {
			out = append(out, topic{title, body.String()})
		}
		body.Reset()
	}
	for raw := range strings.Lines(text) {
		line := strings.TrimRight(raw, " \r\n")
		head, deep := topicHead(line)
		if fence.Takes(line) || head == "" {
			body.WriteString(raw)
			continue
		}
		flush()
		if title = head; !deep {
			above = head
		} else if kind, _ := aboutOf(head); above != "" && kind == topicOther {
			title = above + ", " + head
		}
	}
	flush()
	return out
}

// topicHead returns the heading in a line of a handoff, "" for none: a heading, or a
// numbered line that ends with a colon. deep is true if it is within another heading.
func topicHead(line string) (head string, deep bool) {
	bare := prose.Unnumbered(line)
	if bare != line {
		if bare = strings.Trim(bare, "*"); strings.HasSuffix(bare, ":") && len(bare) <= prose.MaxHeading {
			return strings.Trim(bare, "*: "), false
		}
		return "", false
	}
	head, ok := prose.Heading(line)
	if !ok || len(head) > prose.MaxHeading {
		return "", false
	}
	return strings.Trim(prose.Unnumbered(head), "*: "), strings.HasPrefix(line, "###") || line[0] != '#'
}

// A topicKind is the subject of a topic of a handoff.
type topicKind uint8

const (
	topicOther   topicKind = iota
	topicPending           // work that was open when the handoff was written; it counts as open until the work continues
	topicRules             // how the user wants things done: holds throughout
	topicWanted            // requests of the user
	topicLearned           // decisions, actions and findings
	topicPlaces            // files and background
)

// topicKinds lists words in the headings of each kind. The first match wins.
var topicKinds = []struct {
	kind  topicKind
	words []string
	value float64
}{
	{topicRules, []string{"preference", "constraint", "instruction", "rule", "requirement", "guideline"}, 1},
	{topicPending, []string{"pending", "next step", "remaining", "to do", "todo", "outstanding", "open ", "blocke", "current", "in progress", "state", "status"}, 1},
	{topicPlaces, []string{"user message"}, 0.4},
	{topicWanted, []string{"goal", "request", "intent", "objective", "task"}, 0.9},
	{topicLearned, []string{"decision", "error", "fix", "finding", "learned", "problem", "issue", "completed", "done", "progress", "accomplished"}, 0.7},
	{topicPlaces, []string{"overview", "background", "context", "file", "concept", "code", "release"}, 0.4},
}

// aboutOf returns the kind and the value of a topic by its heading. The heading "Completed
// tasks" is for finished work.
func aboutOf(title string) (topicKind, float64) {
	low := strings.ToLower(title)
	if prose.HasAny(low, []string{"completed", "accomplished"}) {
		return topicLearned, 0.7
	}
	for _, v := range topicKinds {
		if prose.HasAny(low, v.words) {
			return v.kind, v.value
		}
	}
	return topicOther, otherTopic
}

const (
	otherTopic   = 0.5  // value of a topic whose heading is unknown
	besideSteps  = 0.3  // factor for a handoff whose part of the conversation is in the history, too
	overtakenBy  = 0.3  // factor for a handoff that a later one replaces, and for pending work when work went on
	stepsAtStart = 2    // maximum number of steps before a handoff that begins the history
	goneOn       = 10   // minimum number of calls after a handoff that make its pending work old
	mostOfTopic  = 40   // maximum sentences of a topic
	mostAssured  = 1600 // characters of a handoff that are quoted before long answers
	assuredMore  = 0.2  // by how much the value of such a sentence exceeds the value of a failure, for the best topic
	ofOneTopic   = 3    // inverse of the maximum share of one topic in these characters

	handedOver = " the handoff of an earlier compaction"
)

// handoffLines returns the sentences of handoffs, in a bullet for each topic.
func (h *History) handoffLines(section int) []Line {
	var out []Line
	last := len(h.Steps) - 1
	for last >= 0 && !h.Steps[last].recap() {
		last--
	}
	for i := 0; i <= last; i++ {
		if h.Steps[i].recap() {
			out = append(out, h.topicLines(section, i, i < last)...)
		}
	}
	return out
}

// topicLines returns the sentences of the handoff in step i. replaced states that a later
// handoff follows.
func (h *History) topicLines(section, i int, replaced bool) []Line {
	var out []topicLine
	s := &h.Steps[i]
	base := i < stepsAtStart && h.Previous.empty() // a summary of this program describes the part, too
	old := h.callsFrom(i) >= goneOn
	for _, t := range topicsOf(handedText(s.Text)) {
		kind, value := aboutOf(t.title)
		b := quoting{h: h, step: s, section: section, first: true, factor: 1, value: value, most: mostOfTopic, group: stepID(s.ID) + handedOver}
		if !base {
			b.factor *= besideSteps
		}
		if replaced || kind == topicPending && old {
			b.factor *= overtakenBy
		}
		if t.title != "" {
			b.group += ", " + t.title
		}
		passages(t.text, b.answered)
		sure := !replaced && (kind == topicRules || kind == topicPending && !old || kind != topicPending && base)
		for _, l := range b.out {
			out = append(out, topicLine{l, value, sure && !prose.BeginsAny(strings.ToLower(l.Text), []string{"none", "no "})})
		}
	}
	if !base {
		return assured(out, mostAssured/2)
	}
	return assured(out, mostAssured)
}

// callsFrom counts the calls from step i on.
func (h *History) callsFrom(i int) (n int) {
	for ; i < len(h.Steps); i++ {
		n += len(h.Steps[i].Calls)
	}
	return n
}

// A topicLine is a sentence of a handoff, with the value of its topic. If sure is set, long
// answers can't displace it.
type topicLine struct {
	Line
	topic float64
	sure  bool
}

// assured raises the first sentences of each topic to the value of a failure, beginning
// with the best topic. most limits the length of these sentences together, in characters.
func assured(lines []topicLine, most int) []Line {
	order := make([]int, len(lines))
	out := make([]Line, len(lines))
	for i, l := range lines {
		order[i], out[i] = i, l.Line
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lines[b].topic, lines[a].topic) })
	of, left := map[string]int{}, most
	for _, i := range order {
		n := utf8.RuneCountInString(lines[i].Text)
		if lines[i].sure && of[lines[i].Group]+n <= most/ofOneTopic && n <= left {
			of[lines[i].Group] += n
			left -= n
			out[i].Value = failedValue + lines[i].topic*assuredMore
		}
	}
	return out
}

// aroundHandoff lists beginnings of lines that a program writes around its summary.
var aroundHandoff = []string{"this session is being continued", "please continue the conversation", "continue the conversation from where", "if you need specific details from before compaction"}

// handedText returns a handoff without the text around the summary, and without the notes
// that the model wrote to itself before it.
func handedText(text string) string {
	for _, mark := range []string{"\nSummary:\n", "<summary>"} {
		if _, rest, ok := strings.Cut(text, mark); ok {
			text = rest
		}
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		low := strings.ToLower(strings.TrimSpace(line))
		if !prose.BeginsAny(low, aroundHandoff) && !(prose.BeginsAny(low, handoffHeads) && strings.HasSuffix(low, ":")) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// handoff makes the step a handoff of another program.
func (s *Step) handoff(text string) {
	s.Role, s.Text, s.Speaker = message.RoleAssistant, text, recapSpeaker
}
