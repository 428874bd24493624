package strategy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A History is a conversation parsed for a summary: its steps and its
// identifiers. It is read-only.
// It must not be used concurrently, because some of its fields are computed on first use.
type History struct {
	Steps    []Step
	Previous Document // the previous summary, in the sections of the strategy
	index    *nameIndex

	files      []fileState       // computed on first use
	commits    commits           // changes since the last commit
	full       map[string]string // relative path → absolute path, for files that calls name by both
	base       string            // folder that a mark abbreviates in paths, "" for none
	task       themes            // words of the task, computed on first use
	asked      string            // typed text that stays in view
	goesOn     bool              // a message of the assistant stays in view
	watched    map[at]*watch     // calls that ran more than once, computed on first use
	shownAgain map[at]bool       // calls whose state later commands show again
	changes    map[string][]int  // steps of the changes of each file, by its key, computed on first use
	later      *hindsight        // facts that later steps reveal, computed on first use
	canceling  map[int]string    // sentences that end the task of the previous message, by step, computed on first use
	order      order             // order of the view, where it differs from the order of writing
	referred   int               // index of the step to which the user's remaining message replies; -1 = none
}

// A Step is one message of a user or an assistant, with its calls and their
// results.
type Step struct {
	ID        int // number of the message, from 1; continues the numbers of the previous summary
	Role      message.Role
	Speaker   string // name of another agent that speaks; "" for the assistant
	Text      string // for a user, the typed text
	Reasoning string
	Shown     string // for a user, the message with pasted text, or a file of instructions
	Given     string // first line and size of a file of instructions in the user's role
	Calls     []Call
	Blocks    []string // files of edits in the text of which nothing says that they were applied
}

// NewHistory reads the messages of a request.
func NewHistory(r Request) *History {
	h := &History{Previous: ParseDocument(r.Strategy, fullPaths(r.Previous)), index: newIndex()}
	h.showVisible(r)
	first := max(r.First, h.Previous.lastStep()+1)
	r.First = first
	h.order = r.order()
	b := reader{h: h, open: map[string][]at{}, lists: map[at][]byte{}}
	b.opening = first <= 1
	for i := range r.Messages {
		b.opening = b.opening && opens(r.Messages[max(i-1, 0):i])
		b.message(first+i, &r.Messages[i])
	}
	h.findReferred(r)
	h.resume()
	h.findBase(marked(r.Messages))
	h.labelElements()
	h.eachCall(func(_ *Step, c *Call) { c.finish() })
	h.findFolder()
	h.findUnmatched()
	h.findScripted()
	h.findWritten()
	h.findRewritten()
	h.findTakenBack()
	h.finishIndex()
	return h
}

// showVisible records the messages that stay in view. It must run before the messages of
// the request are read.
func (h *History) showVisible(r Request) {
	for i := range r.Visible {
		h.goesOn = h.goesOn || r.Visible[i].Role == message.RoleAssistant
		if m := &r.Visible[i]; m.Role == message.RoleUser {
			if s := classify(m, false); s.speech == speechTyped || s.speech == speechPasted {
				h.asked = join(h.asked, s.words)
			}
		}
		for k := range r.Visible[i].Parts {
			p := &r.Visible[i].Parts[k]
			h.index.show(p.Text)
			if len(p.Args) > 0 {
				h.index.show(p.Name)
				for _, a := range readCall(p).Args {
					h.index.show(a.Name)
					h.index.show(a.Value)
				}
			}
		}
	}
}

// finishIndex adds the previous summary and the changed files to the index, and
// ranks it.
func (h *History) finishIndex() {
	h.index.addSummary(h.Previous)
	for _, f := range h.fileStates() {
		if f.Op < fileops.Edited {
			continue
		}
		for _, name := range slices.Concat([]string{f.Path}, f.named, f.Funcs) {
			if e := h.index.Lookup(name); e != nil {
				e.Changed = true
			}
		}
	}
	h.index.rank()
}

// at is the place of a call.
type at struct{ step, call int }

type reader struct {
	h     *History
	open  map[string][]at // call id → calls without a result so far
	acted string          // command that the previous message wrote as text
	edits []textEdit      // edits that the previous message wrote as text
	wrote []Call          // calls that the previous message wrote as text
	lists map[at][]byte   // arguments of calls that can list other calls

	opening bool // no message of the assistant was read so far
}

func (b *reader) message(id int, m *message.Message) {
	b.h.index.call = at{-1, 0}
	if m.Role == message.RoleUser && !m.Has(message.KindToolResult) {
		b.user(id, m)
		return
	}
	step := Step{ID: id, Role: m.Role, Speaker: m.Name}
	own := len(b.h.Steps)
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case message.KindText:
			text := p.Text
			if m.Role == message.RoleAssistant {
				text = spokenText(text)
			}
			step.Text = join(step.Text, text)
			b.add(p.Text, sayer(m.Role), id)
		case message.KindReasoning:
			if !p.Sealed {
				step.Reasoning = join(step.Reasoning, p.Text)
				b.add(p.Text, textThought, id)
			}
		case message.KindToolCall:
			b.call(&step, own, p)
		case message.KindToolResult:
			b.h.index.call = b.result(&step, own, p)
			b.add(p.Text, textShown, id)
		case message.KindFile, message.KindImage, message.KindAudio:
			if p.Media != nil && p.Media.Name != "" {
				b.add(p.Media.Name, sayer(m.Role), id)
			}
		}
	}
	b.acted, b.edits, b.wrote = "", nil, nil
	if m.Role == message.RoleAssistant && len(step.Calls) == 0 {
		b.actions(&step)
	}
	b.keep(step)
}

// call adds a call to a message, which will be the step at own.
func (b *reader) call(step *Step, own int, p *message.Part) {
	c, place := readCall(p), at{own, len(step.Calls)}
	b.h.index.call = place
	b.args(&c, step.ID)
	b.open[p.CallID] = append(b.open[p.CallID], place)
	if listsCalls(p.Args) {
		b.lists[place] = p.Args
	}
	step.Calls = append(step.Calls, c)
	if thinks(c.Tool) {
		step.Reasoning = join(step.Reasoning, c.Target())
	}
}

func (b *reader) keep(step Step) {
	if step.Text != "" || step.Reasoning != "" || len(step.Calls) > 0 || step.Given != "" || len(b.wrote) > 0 {
		b.h.Steps = append(b.h.Steps, step)
	}
}

// user reads a message in the user's role, from a person or from a harness.
func (b *reader) user(id int, m *message.Message) {
	acted, wrote := b.acted, b.wrote
	b.acted, b.wrote = "", nil
	step := Step{ID: id, Role: m.Role}
	text := saidIn(m)
	if elementResult(text) {
		step.Text = b.elementResults(text)
		b.add(text, textShown, id)
		b.keep(step)
		return
	}
	b.applied(text)
	switch s := classifyForms(m, acted != "" || len(wrote) > 0, b.opening); s.speech {
	case speechTyped, speechPasted:
		step.Text = withoutNotes(s.words)
		b.add(s.words, textTold, id)
		if s.pasted > 0 {
			text = withoutDemonstration(text)
			b.add(text, textShown, id)
			step.Shown = text
		}
	case speechAnswering:
		b.answering(text, acted, wrote)
		b.add(text, textShown, id)
		return
	default:
		b.add(text, textShown, id)
		switch {
		case instructionsFile(text):
			step.Given = prose.Quoted(text, 80) + ", " + itoa(utf8.RuneCountInString(text)) + " characters"
			step.Shown = text
		case handsOver(text):
			step.handoff(text)
		case m.Name != "" && routes(text):
		case m.Name != "":
			step.Role, step.Text, step.Speaker = message.RoleAssistant, text, m.Name
		default:
			if step.Calls = b.ended(text); len(step.Calls) > 0 {
				step.Role = message.RoleTool
			}
		}
	}
	b.keep(step)
}

// actionIn returns the command that an assistant wrote as text. That is the last fenced
// block.
func actionIn(text string) string {
	end := strings.LastIndex(text, "```")
	if end < 0 {
		return ""
	}
	start := strings.LastIndex(text[:end], "```")
	if start < 0 {
		return ""
	}
	_, code, ok := strings.Cut(text[start+3:end], "\n")
	if !ok {
		return ""
	}
	return strings.TrimSpace(code)
}

// result assigns an output to the newest call that waits for it. An output
// without such a call becomes a call of its own.
func (b *reader) result(step *Step, own int, p *message.Part) at {
	waiting := b.open[p.CallID]
	if n := len(waiting); n > 0 {
		where := waiting[n-1]
		b.open[p.CallID] = waiting[:n-1]
		of := step
		if where.step != own {
			of = &b.h.Steps[where.step]
		}
		c := &of.Calls[where.call]
		c.Result, c.Answered = output(resultText(p)), !unanswered(p.Text)
		b.partInner(of, where.call, b.lists[where])
		return where
	}
	tool := p.Name
	if tool == "" {
		tool = "tool"
	}
	step.Calls = append(step.Calls, Call{Tool: tool, Exit: -1, Result: resultText(p), Answered: true})
	return at{own, len(step.Calls) - 1}
}

// unanswered reports whether a recorder left a note in place of a result.
func unanswered(text string) bool { return strings.HasPrefix(text, "[no tool result was recorded") }

func (b *reader) add(text string, w textKind, id int) { b.h.index.add(text, w, id) }

func (b *reader) args(c *Call, id int) {
	b.h.index.addName(c.Tool, id)
	for _, a := range c.Args {
		b.h.index.addName(a.Name, id)
		b.add(a.Value, textAsked, id)
	}
}

func sayer(r message.Role) textKind {
	if r == message.RoleAssistant {
		return textSaid
	}
	return textTold
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// identifiers calls f for each identifier of a text.
func identifiers(text string, f func(k ident.Kind, s string)) {
	ident.ScanAll(text, func(k ident.Kind, start, end int) { f(k, text[start:end]) })
}
