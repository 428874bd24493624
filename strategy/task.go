package strategy

import (
	"strings"
	"sync"

	"github.com/agentcompact/compact/internal/material"
	"github.com/agentcompact/compact/message"
)

// A Task is the text of one summary: its source, the user's words and its limit. The writer
// of this module (internal/summarize) asks for the drafts; a Task judges and completes
// them. Other modules can't make one, see [Strategy.Task].
type Task struct {
	in       material.Input
	terms    material.Terms
	strategy Strategy
	history  *History
	limit    int    // of the text after the head
	words    []Word // the user's words, clipped to their limit
	intro    string // introduction of the summary
	material func() *source
	visible  func() *source // the messages that stay in view
	judging  sync.Mutex     // guards the two sources while pieces are written concurrently
}

// Task returns the task to summarize an input. Only packages of this module can name the
// parameters.
func (s Strategy) Task(in material.Input, terms material.Terms) *Task {
	return &Task{in: in, terms: terms, strategy: s}
}

// Prepare reads the user's words, and returns the maximum tokens of the text after them and
// the number of the first message. The methods below, other than WordTokens and Typed, need
// it.
func (t *Task) Prepare() (limit, first int) {
	previous := t.in.Previous
	t.in.Previous = fullPaths(previous)
	t.in.First = max(t.in.First, t.terms.First, ParseDocument(t.strategy, previous).lastStep()+1)
	if redact := t.terms.Redact; redact != nil && !t.terms.Raw {
		t.in.Messages, t.in.Visible = redacted(t.in.Messages, redact), redacted(t.in.Visible, redact)
		t.in.Previous = redact(t.in.Previous)
	}
	t.material = sync.OnceValue(t.source)
	t.visible = sync.OnceValue(func() *source { return newSource(t.in.Visible) })
	t.measure()
	return t.limit, t.in.First
}

// wordsShare is the maximum share of in.MaxTokens for the user's words.
const wordsShare = 0.5

// leastIntroduced is the smallest limit of a summary with an introduction, in
// tokens.
const leastIntroduced = 250

// measure sets the user's words and the limit of the remaining text.
func (t *Task) measure() {
	limit := t.terms.UserTokens
	if t.in.UserTokens > 0 {
		limit = min(limit, t.in.UserTokens)
	}
	hard := 4 * limit
	if t.in.MaxTokens > 0 {
		hard = int(float64(t.in.MaxTokens) * wordsShare)
	}
	ref := t.in.Ref
	if !t.terms.Recall {
		ref = nil
	}
	words := append(ParseDocument(t.strategy, t.in.Previous).Words, wordsOf(t.in.Messages, t.in.First, ref)...)
	if t.terms.Redact != nil {
		for i := range words {
			words[i].Text = t.terms.Redact(words[i].Text)
		}
	}
	t.words = fitWords(words, min(limit, hard), hard, t.in.Count)
	if t.in.MaxTokens == 0 || t.in.MaxTokens >= leastIntroduced {
		r := t.Request(t.strategy)
		t.intro = introduction(t.words, t.terms.Recall && ref != nil, t.first()) + r.order().sentences()
	}
	t.limit = t.terms.MaxTokens
	if t.in.MaxTokens > 0 {
		head := t.head(t.strategy)
		if head != "" {
			t.limit = min(t.limit, t.in.MaxTokens-t.in.Count(head))
		} else {
			t.limit = min(t.limit, t.in.MaxTokens)
		}
	}
}

// first returns the number of the first message that the summary covers, with those of the
// previous summary.
func (t *Task) first() int {
	if t.in.Previous != "" {
		return firstNumber(t.in.Previous)
	}
	return t.in.First
}

// head returns the text before the sections: the introduction and the words of
// the user.
func (t *Task) head(s Strategy) string {
	text := ""
	if t.intro != "" {
		text = t.intro + "\n\n"
	}
	if words := renderWords(t.words, s.title); words != "" {
		text += words + "\n\n"
	}
	return text
}

// Request returns the whole input as one request with the strategy s.
func (t *Task) Request(s Strategy) Request {
	return Request{Strategy: s, Previous: t.in.Previous, Messages: t.in.Messages, Visible: t.in.Visible, First: t.in.First,
		After: t.in.After, MaxTokens: t.limit, Instructions: t.terms.Instructions, Count: t.in.Count, Upto: t.in.Upto}
}

// Read reads the history of the request.
func (t *Task) Read(r Request) { t.history = NewHistory(r) }

// Known returns the request for [Extractive], which need not read the history again.
func (t *Task) Known(r Request) Request {
	r.history = t.history
	return r
}

// Notes returns the notes for the request to a model.
func (t *Task) Notes(r Request) string {
	d := t.history.compose(r)
	if d.empty() {
		return ""
	}
	return d.full().Render(r.Strategy)
}

// minRoom is the minimum room for history in a piece, in tokens.
const minRoom = 400

// Room returns the number of tokens for the history in a request to a model with this
// window, with reserve tokens free.
func (t *Task) Room(r Request, window, reserve int) int {
	fixed := r.Count(r.system()) + r.Count(r.Previous) + r.Count(r.Notes) + r.MaxTokens + reserve + 200
	return max(int(float64(window)*(1-margin))-fixed, minRoom)
}

// Pieces cuts a request into requests that fit room tokens of history each.
func (t *Task) Pieces(r Request, room int) []Request { return r.split(room) }

// Bare returns a draft without the usual additions of chat models, and without the parts
// that this package puts before it: the introduction and the words of the user.
func (t *Task) Bare(s Strategy, draft string) string {
	_, rest := cutWords(withoutIntroduction(strings.TrimSpace(draft)), s.title)
	return unwrapped(s, strings.TrimSpace(rest))
}

// Judge returns the reason why a bare draft is not a summary, or nil.
func (t *Task) Judge(s Strategy, text string, model bool) error {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return &Failure{Reason: ErrEmpty}
	case shapeless(s, text):
		return notSummary(text, errShapeless)
	case model && t.saysNothing(s, text):
		return notSummary(text, errSaysNothing)
	}
	return nil
}

// WordTokens returns the tokens of the user's words after they were cut to limit tokens.
// The newest messages may exceed this limit. They are cut only if the total exceeds hard
// tokens.
func (t *Task) WordTokens(limit, hard int) (n int) {
	words := append(ParseDocument(t.strategy, t.in.Previous).Words, wordsOf(t.in.Messages, max(t.in.First, 1), nil)...)
	for _, w := range fitWords(words, limit, hard, t.in.Count) {
		n += t.in.Count(renderWord(w))
	}
	return n
}

// Typed reports whether a person typed msgs[i], a message of the user's role.
func (t *Task) Typed(msgs []message.Message, i int) bool {
	acted := i > 0 && msgs[i-1].Role == message.RoleAssistant && actsInText(msgs[i-1].Text())
	return classifyForms(&msgs[i], acted, opens(msgs[:i])).speech == speechTyped
}
