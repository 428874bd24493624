package strategy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// headingWords is the heading of the user's messages.
const headingWords = "What the user said"

// A Word is one message that a person typed.
type Word struct {
	Step int    `json:"step"` // number of the message
	Text string `json:"text"` // verbatim; pasted or cut text is cited
	Ref  string `json:"-"`    // reference of the original, if any
}

// cut reports whether a part of the text is missing.
func (w Word) cut() bool {
	return strings.Contains(w.Text, shortenedMark) || strings.Contains(w.Text, plainMark) || strings.Contains(w.Text, leftOutMark) || strings.HasSuffix(w.Text, " …")
}

// shortenedMark begins a note in a shortened message.
const shortenedMark = "[… "

// plainMark stands for the missing text of a message that is too short for a longer note:
// the note would take the room of a sentence.
const (
	plainMark    = "[…]"
	leastCounted = 400 // characters
)

// wordsOf returns the user's messages, oldest first. ref returns the reference
// of a message; it may be nil.
func wordsOf(msgs []message.Message, first int, ref func(i int) string) []Word {
	var out []Word
	acted, opening := false, first <= 1
	for i := range msgs {
		m := &msgs[i]
		opening = opening && opens(msgs[max(i-1, 0):i])
		switch m.Role {
		case message.RoleAssistant:
			acted = !m.Has(message.KindToolCall) && actsInText(m.Text())
		case message.RoleUser:
			s := classifyForms(m, acted, opening)
			if acted = false; s.speech != speechTyped && s.speech != speechPasted {
				continue
			}
			w := Word{Step: first + i, Text: s.words}
			if ref != nil {
				w.Ref = ref(i)
			}
			if s.pasted > 0 && w.Ref != "" {
				w.Text += wholeMark + w.Ref + "]"
			}
			out = append(out, w)
		}
	}
	return out
}

// actsInText reports whether an assistant's text contains an action: a fenced command, or
// an element that replaces a call.
func actsInText(text string) bool {
	for _, mark := range []string{"```bash", "```sh", "```mswea", "```\n", "<execute", "<function", "<tool_call", "<invoke", "\nAction:", "ACTION:", "DISCUSSION", "```python"} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// uncut is the number of newest messages that fitWords cuts only if its limit hard
// requires it.
const uncut = 10

// leastWord is the minimum length of a cut message, in characters.
const leastWord = 80

// fitWords cuts messages ([essence]) until all of them cost at most limit
// tokens. It begins with texts that were not typed as a whole, then drops old messages
// without content ("thanks"), then cuts the longest message (the oldest, if several have
// the same length). It cuts the newest messages only if the total exceeds hard tokens. If
// that is not enough, it drops messages, oldest first.
func fitWords(words []Word, limit, hard int, count func(string) int) []Word {
	words = slices.Clone(words)
	sayOnce(words)
	c := wordCutter{words: words, count: count, costs: make([]int, len(words)), full: make([]string, len(words)), runes: make([]int, len(words))}
	for i, w := range words {
		c.full[i] = w.Text
		c.runes[i] = utf8.RuneCountInString(w.Text)
		c.costs[i] = count(renderWord(w))
		c.total += c.costs[i]
	}
	c.brief(limit)
	c.dropPolite(limit)
	c.cut(max(0, len(c.words)-uncut), limit)
	if c.total > hard {
		c.cut(len(c.words), hard)
	}
	for len(c.words) > 1 && c.total > hard {
		c.total -= c.costs[0]
		c.words, c.costs = c.words[1:], c.costs[1:]
	}
	if len(c.words) == 1 && c.total > hard {
		return nil
	}
	return c.words
}

// leastRepeated is the minimum length of a repeated text that sayOnce replaces, in bytes.
const leastRepeated = 200

// sayOnce replaces a long text that a later message repeats, for example the text of a
// command that the user calls twice. The later message stays, because older messages are
// dropped first.
func sayOnce(words []Word) {
	last := map[string]int{}
	for i := len(words) - 1; i >= 0; i-- {
		w := &words[i]
		if len(w.Text) < leastRepeated {
			continue
		}
		if k, ok := last[w.Text]; ok {
			w.Text = shortenedMark + "the same text as " + stepID(words[k].Step) + "]"
		} else {
			last[w.Text] = i
		}
	}
}

// A wordCutter cuts messages until they fit.
type wordCutter struct {
	words []Word
	full  []string // uncut texts
	runes []int    // lengths of the texts as they are now
	costs []int
	total int
	count func(string) int
}

// brief cuts texts that were not typed as a whole to their briefest form, the longest
// first, until the total is at most limit.
func (c *wordCutter) brief(limit int) {
	for c.total > limit {
		longest, size, text := -1, 0, ""
		for i := range c.words {
			if t, ok := briefest(c.words[i].Text); ok && len(c.words[i].Text) > size {
				longest, size, text = i, len(c.words[i].Text), t
			}
		}
		if longest < 0 {
			return
		}
		c.set(longest, text)
	}
}

// dropPolite drops messages without content, oldest first, except the newest messages, until
// the total is at most limit.
func (c *wordCutter) dropPolite(limit int) {
	for i := 0; c.total > limit && i < len(c.words)-uncut; {
		if !onlyPolite(c.words[i].Text) {
			i++
			continue
		}
		c.total -= c.costs[i]
		c.words, c.full = slices.Delete(c.words, i, i+1), slices.Delete(c.full, i, i+1)
		c.runes, c.costs = slices.Delete(c.runes, i, i+1), slices.Delete(c.costs, i, i+1)
	}
}

// pleasantries lists messages and parts of messages without a statement or an answer.
var pleasantries = []string{"hi", "hello", "hey", "hallo", "thanks", "thank you", "thx", "danke", "vielen dank", "merci", "cool", "nice", "great", "perfect", "awesome", "super", "good morning", "good job", "well done", "nice work", "great work", "gut gemacht", "lol", "haha", "wow", "go on", "continue", "please continue", "weiter"}

// onlyPolite reports whether a message only consists of pleasantries.
func onlyPolite(text string) bool {
	found := false
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(".,!;\n", r) }) {
		if part = strings.TrimSpace(part); part != "" {
			if !slices.Contains(pleasantries, strings.ToLower(part)) {
				return false
			}
			found = true
		}
	}
	return found
}

// set replaces the text of a message.
func (c *wordCutter) set(i int, text string) {
	c.words[i].Text = text
	c.runes[i] = utf8.RuneCountInString(text)
	c.total -= c.costs[i]
	c.costs[i] = c.count(renderWord(c.words[i]))
	c.total += c.costs[i]
}

// cut shortens the longest of the first n words until the total is at most
// limit, or nothing is left to cut.
func (c *wordCutter) cut(n, limit int) {
	for c.total > limit {
		longest, size := -1, leastWord
		for i := range n {
			if k := c.runes[i]; k > size+40 {
				longest, size = i, k-40
			}
		}
		if longest < 0 {
			return
		}
		c.shorten(longest, c.total-limit)
	}
}

// shorten cuts one message: by half, or by as much as necessary.
func (c *wordCutter) shorten(i, tokens int) {
	all := utf8.RuneCountInString(c.full[i])
	have := c.runes[i]
	keep := max(have/2, have-4*tokens-60, leastWord)
	note := fmt.Sprintf(shortenedMark+"%d of %d characters]", max(all-keep, 0), all)
	switch {
	case c.words[i].Ref == "" && all < leastCounted:
		note = plainMark
	case c.words[i].Ref != "":
		note = fmt.Sprintf(shortenedMark+"%d of %d characters · recall %s]", max(all-keep, 0), all, c.words[i].Ref)
	}
	text := essence(c.full[i], keep, note)
	if utf8.RuneCountInString(text) >= have {
		text = prose.Clip(c.full[i], max(leastWord-10, 1)) // no gain: the note is as long as the text that it replaces
	}
	c.set(i, text)
}

func renderWord(w Word) string { return stepID(w.Step) + " " + w.Text + "\n" }

// renderWords returns the section of the user's messages. It indents a line by a space if
// the line reads like a heading of this package or like the beginning of another message.
func renderWords(words []Word, titles func(line string) bool) string {
	if len(words) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("## " + headingWords + "\n")
	for _, w := range words {
		for k, line := range strings.Split(strings.TrimSpace(neutralText(w.Text)), "\n") {
			switch {
			case k == 0:
				b.WriteString(stepID(w.Step) + " ")
			case titles(line) || wordStart(line) > 0:
				b.WriteByte(' ')
			}
			b.WriteString(strings.TrimRight(line, " \t\r") + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cutWords splits the section of the user's messages off a summary. titles reports
// whether a line is a heading that ends the section.
func cutWords(text string, titles func(line string) bool) (words []Word, rest string) {
	mark := "## " + headingWords + "\n"
	at := 0
	if !strings.HasPrefix(text, mark) {
		if at = strings.Index(text, "\n"+mark); at < 0 {
			return nil, text
		}
		at++
	}
	end := at + len(mark)
	for line := range strings.Lines(text[end:]) {
		bare := strings.TrimRight(line, "\r\n")
		if titles(bare) {
			break
		}
		end += len(line)
		if n := wordStart(bare); n > 0 {
			words = append(words, Word{Step: n, Text: strings.TrimPrefix(bare, stepID(n)+" ")})
		} else if k := len(words); k > 0 {
			words[k-1].Text += "\n" + bare
		}
	}
	for i := range words {
		words[i].Text = strings.TrimSpace(words[i].Text)
	}
	return words, text[:at] + text[end:]
}

// wordStart returns the step number at the beginning of a line of the section,
// 0 if there is none.
func wordStart(line string) int {
	rest, ok := strings.CutPrefix(line, "[s")
	if !ok {
		return 0
	}
	number, _, ok := strings.Cut(rest, "] ")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n >= maxStep {
		return 0
	}
	return n
}
