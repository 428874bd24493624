package strategy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// Values of an assistant's sentences in the work log, in addition to the names
// in them. An answer reports the results of the work; text beside calls mostly
// gives reasons.
const (
	answerValue    = 0.45
	noteValue      = 0.3
	thoughtValue   = 0.15
	firstBonus     = 0.3
	decidingBonus  = 0.3
	specificBonus  = 0.15
	setbackBonus   = 0.4 // nobody should try again what failed
	foundBonus     = 0.3
	remedyBonus    = 0.6 // the first sentence after a failure mostly explains it
	newestFactor   = 1.3 // factor for the last answer
	besideCarried  = 0.5 // factor if a previous summary competes for the room
	mostAnswered   = 60  // maximum sentences of one answer
	mostNoted      = 8
	mostThought    = 3
	leastNoted     = 30 // minimum bytes of a sentence beside calls
	leastSpecifics = 2
	leastSaid      = 0.02
	clearedShare   = 0.4  // factor for a doubt that was resolved later; another line has the resolution
	finalValue     = 1.0  // sentence of the last message before a user message or at the end
	pageValue      = 0.12 // sentence of a page that an agent quotes
	longestSpoken  = 1500 // maximum bytes of an agent's own text; a longer text is a page
)

// saidLines returns the assistant's sentences as lines: its answers, and those sentences
// beside its calls that still hold after the calls. The sentences of one message share a
// bullet.
func (h *History) saidLines(section int) []Line {
	var out []Line
	newest, fresh := h.newestAnswer(), 1.0
	if !h.Previous.empty() {
		fresh = besideCarried
	}
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.Role != message.RoleAssistant || s.recap() {
			continue
		}
		if line := s.failedPageLine(); line != "" {
			out = append(out, Line{Section: section, Text: line, Value: failedPageValue * h.recency(s.ID), Order: s.ID})
			continue
		}
		b := quoting{h: h, step: s, section: section, after: h.failedBefore(i), first: true, asked: h.asksQuestion(i), factor: h.recency(s.ID) * fresh}
		if s.onlySpeaks() || i == h.referred {
			if i == newest {
				b.factor *= newestFactor
			} else if h.ends(i) {
				b.factor = fresh // early answers count as much as late ones
			}
			b.value, b.most, b.group = h.answerValue(i), mostAnswered, stepID(s.ID)+" "+s.says()+h.beforeClaim(i)+h.objection(s.ID)
			passages(s.Text, b.correcting(b.answered))
		} else {
			b.value, b.most, b.group = noteValue, mostNoted, stepID(s.ID)+" noted"
			passages(s.Text, b.correcting(b.noted))
		}
		if len(b.out) == 0 {
			b.value, b.most, b.group = thoughtValue, mostThought, stepID(s.ID)+" thought"
			passages(s.Reasoning, b.correcting(b.thought))
		}
		out = append(out, b.out...)
	}
	return out
}

// answerValue returns the value of a sentence of an answer: highest if the user
// replied to the answer, lowest on a page that an agent quotes.
func (h *History) answerValue(i int) float64 {
	s := &h.Steps[i]
	switch {
	case s.Speaker != "" && len(s.Text) > longestSpoken:
		return pageValue
	case i == h.referred:
		return referredValue
	case h.ends(i):
		return finalValue
	}
	return answerValue
}

// ends reports whether a step is the last step before a message of the user, or the last
// of all steps.
func (h *History) ends(i int) bool {
	return h.Steps[i].Speaker == "" && (i+1 == len(h.Steps) || h.Steps[i+1].user())
}

// newestAnswer returns the index of the last answer to the user, -1 if there is
// none.
func (h *History) newestAnswer() int {
	for i := len(h.Steps) - 1; i >= 0; i-- {
		if s := &h.Steps[i]; s.Role == message.RoleAssistant && s.onlySpeaks() && s.Text != "" {
			return i
		}
	}
	return -1
}

// failedBefore reports whether a call failed in the last step with calls before
// step i. It looks no further back than the user's last message.
func (h *History) failedBefore(i int) bool {
	for i--; i >= 0; i-- {
		s := &h.Steps[i]
		if s.user() {
			return false
		}
		for k := range s.Calls {
			if s.Calls[k].Outcome == Failed {
				return true
			}
		}
		if len(s.Calls) > 0 {
			return false
		}
	}
	return false
}

// A quoting collects the sentences of one message as lines.
type quoting struct {
	h       *History
	step    *Step
	section int
	group   string
	value   float64
	factor  float64
	most    int
	after   bool // right after a call failed
	first   bool
	amends  bool   // right after an admission
	asked   bool   // no text since the user's question
	before  string // sentence that leads to the block of code before the next sentence
	lists   lister

	broken   string // line before, if it did not end
	brokenAt *listed
	out      []Line
}

// answered adds a sentence of an answer.
func (b *quoting) answered(one prose.Sentence) {
	if one.Columns { // each row needs the names of the columns
		one.Text, one.Item = one.Text+":", false
		b.lists.lead(one, b.lists.at(one))
		return
	}
	place, t := b.lists.at(one), one.Text
	if one.Heading || opensList(one) {
		b.broken = ""
	}
	if one.Heading || b.verdict(t) || b.step.Speaker != "" && (advertises(t) || inListing(t)) {
		return
	}
	if opensList(one) {
		b.lists.lead(one, place)
		return
	}
	b.lists.count(place)
	one = b.behindCode(one)
	one, place = b.goesOn(one, place)
	if quality(one.Text) < 0.2 || len(t) < 8 || claims(t) && namesCommand(t) {
		return
	}
	b.offerAt(one, place)
}

// behindCode joins a sentence that begins in lower case after a block of code with the
// sentence before that block, because the later sentence continues the earlier one.
func (b *quoting) behindCode(one prose.Sentence) prose.Sentence {
	before := b.before
	if b.before = ""; one.Code && strings.HasSuffix(one.Text, ":") {
		b.before = one.Text + codeOf(one)
	}
	if before == "" || one.Item || !unicode.IsLower(rune(one.Text[0])) || one.Text[0] >= utf8.RuneSelf {
		return one
	}
	if n := len(b.out); n > 0 && b.out[n-1].Text == before {
		b.out = b.out[:n-1]
	}
	one.Text = before + " " + one.Text
	return one
}

// longestBroken is the maximum length, in bytes, of a line that the next one continues.
const longestBroken = 80

// goesOn joins a line that begins in lower case with the line before it, which did not end:
// a command stands on a line of its own in the middle of a sentence.
func (b *quoting) goesOn(one prose.Sentence, place *listed) (prose.Sentence, *listed) {
	before, at := b.broken, b.brokenAt
	if b.broken, b.brokenAt = "", nil; one.Item {
		return one, place
	}
	if c := one.Text[0]; before != "" && c >= 'a' && c <= 'z' {
		if n := len(b.out); n > 0 && b.out[n-1].Text == before {
			b.out = b.out[:n-1]
		}
		one.Text, place = before+" "+one.Text, at
	}
	if len(one.Text) <= longestBroken && !closed(one.Text) {
		b.broken, b.brokenAt = one.Text, place
	}
	return one, place
}

// opensList reports whether a sentence only introduces the text that follows, unless that
// text is code.
func opensList(one prose.Sentence) bool {
	t := one.Text
	return (strings.HasSuffix(t, ":") || strings.HasSuffix(t, "：")) && !one.Code && (len(t) < longestLeadIn || alternates(t))
}

// alternating lists phrases of sentences that lead to a list of alternatives or
// negations: not all items of such a list hold.
var alternating = []string{"one of", "either", "likely", "possib", "might", "could be", "maybe", "perhaps", "option", "alternativ", "choose", "if you", "unless", "not ", "n't", "n’t", "never", "without", "avoid", "before"}

// alternates reports whether a sentence leads to such a list.
func alternates(lead string) bool {
	return lead != "" && prose.HasAny(strings.ToLower(lead), alternating)
}

// noted adds a sentence beside calls, unless it only states the purpose of the calls, or
// their outcome, which is in the results.
func (b *quoting) noted(one prose.Sentence) {
	place := b.lists.at(one)
	one.Text = beforeNarration(one.Text)
	if one.Heading || b.verdict(one.Text) {
		return
	}
	if opensList(one) {
		b.lists.lead(one, place)
		return
	}
	b.lists.count(place)
	if place.found() && len(one.Text) >= leastFinding && !leads(one.Text) && !narrates(one.Text) || lasting(unlabeled(one.Text)) && b.informs(one.Text) {
		b.offerAt(one, place)
	}
}

// beforeNarration removes a second sentence that only narrates, and returns any other text
// unchanged: "All tests pass. Let me run the linter."
func beforeNarration(t string) string {
	if first, rest, ok := strings.Cut(t, ". "); ok && narrates(rest) && !finds(rest) && !strings.Contains(first, "`") {
		return first + "."
	}
	return t
}

// foundLeads are parts of sentences that lead to a list of what the agent found.
var foundLeads = []string{"i found", "i've found", "i’ve found", "i have found", "found so far", "i identified", "i've identified", "i’ve identified", "i have identified", "i've learned", "i’ve learned", "what i know", "what we know", "findings", "i see:",
	"gefunden", "trouvé", "encontré", "我找到", "我发现", "发现了"}

// leastFinding is the minimum length of an item of such a list, in bytes.
const leastFinding = 12

// found reports whether a sentence is in a list of what the agent found.
func (l *listed) found() bool {
	return l.inList() && l.finds
}

// informs reports whether a sentence beside a call does more than announce the call. In any
// language, an announcement is short and names nothing.
func (b *quoting) informs(t string) bool {
	return len(t) >= leastTelling || decides(t) > 0 || finds(t) || setback(t) || b.h.weigh(t)+shortMalus > 0 || strings.ContainsAny(t, "0123456789`") || quotesName(t)
}

// quotesName reports whether a sentence has an identifier.
func quotesName(t string) bool {
	named := false
	identifiers(t, func(ident.Kind, string) { named = true })
	return named
}

// verdict adds the first sentence of a reply to the user's question, even a short one, if
// the sentence answers the question by itself. It reports whether it added the sentence.
func (b *quoting) verdict(t string) bool {
	asked := b.asked
	if b.asked = false; !asked || !decidesQuestion(t) {
		return false
	}
	b.out = append(b.out, Line{Section: b.section, Group: b.group, Text: prose.Clip(prose.Squash(t), maxPassage), Value: verdictValue * b.factor, Order: b.step.ID})
	return true
}

// verdictValue is the value of the sentence that answers a question.
const verdictValue = 1.8

// longestLeadIn is a length in bytes: a shorter sentence that leads to a list is quoted
// only together with the first item.
const longestLeadIn = 90

// answerStarts begin sentences that answer a question by themselves.
var answerStarts = []string{"yes", "no", "yep", "yeah", "nope", "correct", "exactly", "already", "not yet", "not quite", "not exactly", "partly", "mostly", "both", "neither", "done", "fixed", "you're right", "you are right", "you’re right", "是的", "对", "不是"}

// decidesQuestion reports whether a sentence begins with a word of answerStarts.
func decidesQuestion(t string) bool {
	low := strings.ToLower(t)
	for _, v := range answerStarts {
		if prose.BeginsWord(low, v) || v[0] >= 0x80 && strings.HasPrefix(low, v) {
			return true
		}
	}
	return false
}

// asksQuestion reports whether the step before step i is a question of the user.
func (h *History) asksQuestion(i int) bool {
	if i == 0 || !h.Steps[i-1].user() {
		return false
	}
	asked := false
	prose.Sentences(h.Steps[i-1].Text, func(t string, _ bool) {
		asked = asked || rules.Inquires(strings.ToLower(t)) || strings.HasSuffix(strings.ToLower(t), ", right")
	})
	return asked
}

// lasting reports whether a sentence beside a call still holds after the call.
func lasting(t string) bool {
	return len(t) > leastNoted && quality(t) >= 0.6 && (!narrates(t) || finds(t) || setback(t)) && !leads(t) && !(claims(t) && namesCommand(t))
}

// thought adds a sentence of the reasoning if it states a conclusion, if it is in a list of
// what the agent found, or if a call failed just before.
func (b *quoting) thought(one prose.Sentence) {
	lists := b.lists
	if place := lists.at(one); decides(one.Text) > 0 || b.after || opensList(one) || place.found() || b.ponders(one.Text) {
		if place.found() {
			b.most = mostNoted
		}
		b.noted(one)
	}
}

// ponders reports whether the agent recorded a thought with a tool, and the sentence has
// names or numbers from which it concludes something.
func (b *quoting) ponders(t string) bool {
	return slices.ContainsFunc(b.step.Calls, func(c Call) bool { return thinks(c.Tool) }) && quotesName(t) && strings.ContainsAny(t, "0123456789") && !transient(strings.ToLower(t))
}

// leads reports whether a sentence is a question or only introduces the next sentence.
func leads(t string) bool {
	return strings.HasSuffix(t, ":") || strings.HasSuffix(t, "：") || strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？")
}

// findings lists beginnings of sentences that look like narration but state a
// finding.
var findings = []string{"i found", "i've found", "i’ve found", "i see that", "i realize", "i'm realizing", "i’m realizing", "i'm noticing", "i noticed", "i notice", "i confirmed", "i've confirmed", "i’ve confirmed", "i am realizing"}

// finds reports whether a sentence states a finding of the assistant.
func finds(t string) bool { return prose.BeginsAny(strings.ToLower(t), findings) }

// setbacks lists words of sentences about attempts that failed or were taken back. Such a
// sentence is only quoted, at its place. The words do not show whether the sentence
// describes an attempt, a bug or a plan, or whether it still holds.
var setbacks = []string{"didn't work", "doesn't work", "did not work", "does not work", "didn’t work", "doesn’t work", "didn't help", "did not help", "no effect", "reverting", "reverted",
	"not the cause", "wrong approach", "that's not it", "still fails", "still failing", "won't work", "can't be used", "not possible", "backfired", "made it worse", "没有用", "无效", "失败了"}

// setback reports whether a sentence has words of setbacks and is not a supposition.
func setback(t string) bool {
	low := strings.ToLower(t)
	return prose.HasAnyWord(low, setbacks) && !supposes(low)
}

// supposes reports whether a lower-case sentence is about a possibility.
func supposes(low string) bool {
	return prose.BeginsAny(low, []string{"if ", "what if", "wait", "maybe", "perhaps", "but if", "let me", "i wonder"}) || prose.HasAny(low, []string{" if ", "might", " when it "})
}

func (b *quoting) offer(t string) { b.offerAt(prose.Sentence{Text: t}, nil) }

// codeFollows replaces a block of code after a quoted sentence.
const codeFollows = " [code]"

// codeOf returns the text for the block of code after a sentence: a short one in quotation
// marks.
func codeOf(one prose.Sentence) string {
	if one.Block == "" || claims(one.Block) || statesExit(one.Block) {
		return codeFollows
	}
	return " “" + strings.ReplaceAll(one.Block, "`", "'") + "”"
}

// offerAt adds a sentence with its place in a list, nil if it is not in a list.
func (b *quoting) offerAt(one prose.Sentence, place *listed) {
	t := one.Text
	if len(b.out) >= b.most {
		return
	}
	v := b.value * quality(t)
	if narrates(t) && !finds(t) && !setback(t) {
		v *= 0.4
	} else if b.first {
		v, b.first = v+firstBonus, false
		if b.after {
			v += remedyBonus
		}
	}
	if decides(t) > 0 {
		v += decidingBonus
	}
	if b.amends {
		v += remedyBonus
	}
	if setback(t) {
		v += setbackBonus
	}
	if place.found() {
		v += foundBonus
	}
	if b.h.index.specific(t) {
		v += specificBonus
	}
	v += b.h.weigh(t)
	if b.h.cleared(b.step.ID, t) {
		v *= clearedShare
	}
	if b.value == referredValue && len(b.out) < mostReferred && (place.inList() || leads(t)) {
		v = max(v, failedValue)
	}
	t = prose.Clip(prose.Squash(unlabeled(t)), maxPassage)
	if one.Code && strings.HasSuffix(t, ":") {
		t += codeOf(one)
	}
	b.out = append(b.out, Line{Section: b.section, Group: b.group, Text: t, Value: max(v, leastSaid) * b.factor, Order: b.step.ID, place: place})
}

// maxPassage is the maximum length of a quoted sentence or table row, in
// characters.
const maxPassage = 360

// specific reports whether a sentence has several names or numbers.
func (x *nameIndex) specific(t string) bool {
	n := 0
	identifiers(t, func(_ ident.Kind, _ string) { n++ })
	return n >= leastSpecifics
}

// passages calls f for each sentence of a text, and for each row of a table.
func passages(text string, f func(s prose.Sentence)) {
	if !strings.Contains(text, "\n|") && !strings.HasPrefix(text, "|") {
		prose.EachSentence(text, f)
		return
	}
	start := 0
	for at := 0; at < len(text); {
		line, rest := text[at:], ""
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line, rest = line[:i+1], line[i+1:]
		}
		if row := strings.TrimSpace(line); strings.HasPrefix(row, "|") {
			prose.EachSentence(text[start:at], f)
			start = at + len(line)
			if cells := tableRow(row); cells != "" {
				f(prose.Sentence{Text: cells, Item: true, Columns: tableRule(rest)})
			}
		}
		at = len(text) - len(rest)
	}
	prose.EachSentence(text[start:], f)
}

// tableRule reports whether a text begins with the row that separates the names of the
// columns from the rows of a table.
func tableRule(text string) bool {
	row, _, _ := strings.Cut(text, "\n")
	return strings.Trim(row, "|-: \t\r") == "" && strings.Contains(row, "|") && strings.Contains(row, "-")
}

// tableRow returns a table row on one line, "" for the separator row.
func tableRow(row string) string {
	if strings.Trim(row, "|-: \t") == "" {
		return ""
	}
	var cells []string
	for _, c := range strings.Split(strings.Trim(row, "|"), "|") {
		if c = strings.TrimSpace(strings.ReplaceAll(c, "**", "")); c != "" {
			cells = append(cells, c)
		}
	}
	return strings.Join(cells, " | ")
}
