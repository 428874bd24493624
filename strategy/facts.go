package strategy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// A fact is a statement of a history that a summary may repeat.
type fact struct {
	Step  int // number of the message
	Text  string
	Value float64
}

// user reports whether a step is a message from a person.
func (s *Step) user() bool { return s.Role == message.RoleUser }

// quality returns how well a sentence can be understood by itself, from 0 to 1. Fragments,
// announcements and pleasantries have a low quality.
func quality(t string) float64 {
	if debris(t) {
		return 0.1
	}
	q := 1.0
	switch n := len(t); {
	case n < 20:
		q = 0.25
	case n < 40:
		q = 0.6
	}
	if strings.HasSuffix(t, ":") {
		q *= 0.4
	}
	low := strings.ToLower(t)
	for _, p := range emptyStarts {
		if prose.BeginsWord(low, p) {
			if len(t) > 60 {
				return q * 0.6 // the sentence continues
			}
			return q * 0.2
		}
	}
	return q
}

// debris reports whether a line is a piece of code, JSON, a log or a page's navigation,
// and not a sentence.
func debris(t string) bool {
	if strings.HasPrefix(t, `"`) && (strings.Contains(t, `": `) || strings.Contains(t, `":"`)) || prose.HasAny(t, []string{" = await ", " › ", "{\"", `\":`, "Warning: "}) || placed(t) || strings.HasSuffix(t, `",`) {
		return true
	}
	switch last := t[max(0, len(t)-1):]; last {
	case "(", "{", "[", ";", "=", "\\":
		return true
	}
	return prose.BeginsAny(t, []string{"[?]", "// ", "/* "}) || strings.Count(t, "/") > 6 && !strings.Contains(t, " ")
}

// placed reports whether a line begins with a place in a file of Python and a colon, as lines of logs
// do. A sentence that names such a place does not: "users.py:112 builds the query".
func placed(t string) bool {
	place, _, _ := strings.Cut(t, " ")
	return strings.Contains(place, ".py:") && strings.HasSuffix(place, ":")
}

// narrations lists beginnings of sentences that only state the assistant's next or current
// action.
var narrations = []string{"let me ", "now let me ", "now i'll ", "now i’ll ", "now i ", "now let's ", "i'll ", "i’ll ", "i will ", "i'm ", "i’m ", "i am ", "i need to ", "i should ", "i can ", "i see that ", "let's ", "let’s ",
	"maybe i ", "perhaps i ", "we need to ", "looking at ", "looking back ", "first, i", "first i", "next, i", "next i", "it seems ", "it looks like ", "wait", "hmm", "ah", "actually, let", "good. now", "so i ",
	"now we ", "now that ", "then i", "i want to ", "i have to ", "i would ", "i'd ", "if i ", "since i ", "also, i", "but i ", "i have all ", "i have a complete ", "i have everything", "i have enough", "i now have ", "okay", "让我", "现在", "我需要", "我将", "我会", "首先我", "首先,我", "首先，我", "接下来"}

// narrates reports whether a sentence begins with a phrase of narrations.
func narrates(t string) bool { return prose.BeginsAny(strings.ToLower(t), narrations) }

var emptyStarts = []string{"let me ", "now let me", "now i'll", "now i need", "i'll check", "i'll look", "let's look", "let's check", "let's see",
	"i see", "good", "great", "perfect", "excellent", "you're right", "thanks", "thank you", "yes", "ok", "sure", "hi", "hello", "okay", "done",
	"this session is being continued", "the conversation is summarized", "no response", "found it", "here's", "here is", "now the", "looking at"}

// Labels of requests if there is more than one.
const (
	newestRequest = "newest request in this part"
	firstRequest  = "older, the first request: "
)

// goals returns the newest request of the user, with the step that replied to it, and
// then the first request. The section of the user's words quotes all requests.
func (h *History) goals() []fact {
	var asked []fact
	whole, said := map[int]string{}, 0
	for _, w := range h.Previous.Words {
		whole[w.Step], said = w.Text, w.Step
		asked = append(asked, wanted(w.Step, withoutNotes(w.Text))...)
	}
	for i := range h.Steps {
		s := &h.Steps[i]
		if !s.user() || s.Text == "" {
			continue
		}
		text := s.Text
		if rest, ok := rules.Withdraws(text); ok {
			asked, text = slices.DeleteFunc(asked, func(f fact) bool { return f.Step == said }), rest
		}
		whole[s.ID], said = text, s.ID
		asked = append(asked, wanted(s.ID, text)...)
	}
	switch n := len(asked); n {
	case 0:
		return nil
	case 1:
		if quality(asked[0].Text) < leastAlone {
			return nil
		}
		asked[0].Text += h.liftedBy(asked[0])
		asked[0].Value = taskValue
		return asked
	default:
		newest, first := asked[n-1], asked[0]
		newest.Text = newestRequest + h.repliedTo(newest.Step) + ": " + briefly(newest.Text, whole[newest.Step], newestChars) + " " + stepID(newest.Step)
		first.Text = firstRequest + briefly(first.Text, whole[first.Step], firstChars) + " " + stepID(first.Step)
		newest.Value, first.Value = taskValue+1, taskValue
		newest.Step, first.Step = goalOrder-1, goalOrder
		return []fact{newest, first}
	}
}

// leastAlone is the lowest quality at which a single request gets a line. For "Make it
// compile.", the section of the user's words is enough.
const leastAlone = 0.3

// Maximum lengths of the quoted requests, in characters. The lines can be short,
// because the section of the user's words quotes both requests.
const (
	newestChars = 200
	firstChars  = 140
)

// briefly returns a request of at most n characters: the whole message if it is short, so
// that the second half of a short message is not lost.
func briefly(request, whole string, n int) string {
	if whole = prose.Unnumbered(strings.TrimLeft(strings.TrimSpace(whole), "#>*-+• ")); utf8.RuneCountInString(whole) <= n && !strings.ContainsAny(whole, "\n[<") {
		return prose.Squash(whole)
	}
	return prose.Clip(request, n)
}

// goalOrder puts the goals before carried lines.
const goalOrder = -2 * carriedBefore

// replied is the text before the step in which the assistant replied.
const replied = ", replied to in "

// repliedTo returns, as a suffix, the step in which the assistant ended its turn after a
// request, or else its last text before the user's next message. It returns "" if there is
// neither.
func (h *History) repliedTo(step int) string {
	before := ""
	h.Previous.all(func(lines []string) []string {
		for _, l := range lines {
			if rest, ok := strings.CutPrefix(l, newestRequest+replied); ok && strings.HasSuffix(l, " "+stepID(step)) {
				before, _, _ = strings.Cut(rest, ": ")
			}
		}
		return lines
	})
	if before != "" {
		return replied + before
	}
	spoke := 0
	for i := range h.Steps {
		switch s := &h.Steps[i]; {
		case s.ID <= step:
		case h.order.since > 0 && s.ID >= h.order.since: // an answer to the message after the summary
			return repliedIn(spoke)
		case h.endsTurn(i):
			return replied + stepID(s.ID)
		case spoke > 0 && s.user() && s.Text != "":
			return repliedIn(spoke)
		case s.Role == message.RoleAssistant && s.Text != "" && s.onlySpeaks():
			spoke = s.ID
		}
	}
	return ""
}

func repliedIn(step int) string {
	if step == 0 {
		return ""
	}
	return replied + stepID(step)
}

// endsTurn reports whether a step is an answer with which the assistant ends
// its turn.
func (h *History) endsTurn(i int) bool {
	s := &h.Steps[i]
	return s.Role == message.RoleAssistant && s.Text != "" && s.onlySpeaks() && h.ends(i)
}

// wanted returns the first request of a message, joined with the second request if both
// are short. It returns nil if the message asks for nothing.
func wanted(step int, text string) []fact {
	text = requestIn(text)
	all := requests(step, text)
	if len(all) == 0 {
		return nil
	}
	f := all[0]
	if told := instructed(text, f.Text); told != f.Text {
		f.Text = told
	} else if len(all) > 1 && len(f.Text)+len(all[1].Text) < prose.MaxSentence {
		f.Text += " " + all[1].Text
	}
	return []fact{f}
}

// requests returns the sentences of a message that ask for something. It joins a sentence
// that leads to the next one with that sentence, and a sentence that takes something back
// with the one before it.
func requests(step int, text string) []fact {
	var out []fact
	lead, gap := "", false
	prose.Sentences(text, func(t string, heading bool) {
		t = strings.TrimSpace(strings.TrimSuffix(t, `"""`)) // the quoted text follows
		if lead != "" {
			t, heading, lead = lead+" "+t, false, ""
		} else if len(out) == 0 && !heading && strings.HasSuffix(t, ":") && len(t) < longestLead {
			lead = t
			return
		}
		if len(out) > 0 && !heading && rules.TurnsBack(t) {
			if gap {
				t = "… " + t
			}
			out[len(out)-1].Text, gap = prose.Clip(out[len(out)-1].Text+" "+prose.Squash(t), prose.MaxSentence), false
			return
		}
		if len(out) >= 3 || heading || rules.OnlyForbids(t) || !(len(out) == 0 && rules.ShortTask(t)) && quality(strings.TrimSuffix(t, ":")) < 0.3 && (len(t) < leastAsked || !asks(t)) || len(out) > 0 && (!asks(t) || rules.Binds(t) >= rules.ShapeValue) {
			gap = true
			return
		}
		f := fact{step, prose.Clip(prose.Squash(t), prose.MaxSentence), 0.7 - 0.1*float64(len(out))}
		if gap && len(out) > 0 && !strings.HasPrefix(f.Text, "…") {
			f.Text = "… " + f.Text
		}
		out, gap = append(out, f), false
	})
	return out
}

// leastAsked is the minimum length of a request that begins with a courtesy, in
// bytes.
const leastAsked = 24

// longestLead is the maximum length, in bytes, of a sentence that only leads to the
// next sentence.
const longestLead = 60

// taskValue is the value of the first request. The newest request, the next steps, changed
// files and the user's choices have higher values.
const taskValue = 4

// recency returns 1 for the newest step and 0.6 for the oldest.
func (h *History) recency(id int) float64 {
	if len(h.Steps) < 2 {
		return 1
	}
	first, last := h.Steps[0].ID, h.Steps[len(h.Steps)-1].ID
	return 0.6 + 0.4*float64(max(id, first)-first)/float64(max(last-first, 1))
}

var askWords = []string{"please", "can you", "could you", "i want", "i need", "we need", "should", "make ", "add ", "fix ", "implement", "let's",
	"create", "update", "remove", "write ", "find ", "why ", "how ", "what ", "check ", "review", "so that", "until ", "?", "请", "帮"}

func asks(s string) bool { return prose.HasAny(strings.ToLower(s), askWords) }

// lastAnswer returns the index of the step with which the assistant last ended
// its turn: text without a call, followed by a message of the user. It returns
// 0 if there is none.
func (h *History) lastAnswer() int {
	spoke := false
	for i := len(h.Steps) - 1; i >= 0; i-- {
		s := &h.Steps[i]
		switch {
		case s.user():
			spoke = spoke || s.Text != ""
		case spoke && s.Role == message.RoleAssistant && s.Text != "" && s.onlySpeaks():
			return i
		case s.Role == message.RoleAssistant:
			spoke = false
		}
	}
	return 0
}
