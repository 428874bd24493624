package strategy

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/ident"
)

// A History is a conversation read for a summary: what was said and done, step
// by step, and what is named in it. It is read-only.
type History struct {
	Steps    []Step
	Previous Document // the summary before, by the sections of the strategy
	Index    *Index
}

// A Step is one message of a user or an assistant with the calls it made and
// what they returned.
type Step struct {
	ID        int // number of the message, from 1; it counts on where the previous summary ended
	Role      message.Role
	Text      string
	Reasoning string
	Calls     []Call
}

// NewHistory reads the messages of a request.
func NewHistory(r Request) *History {
	h := &History{Previous: ParseDocument(r.Strategy, r.Previous), Index: newIndex()}
	h.showVisible(r)
	first := max(r.First, h.Previous.lastStep()+1)
	b := reader{h: h, open: map[string][]at{}}
	for i := range r.Messages {
		b.message(first+i, &r.Messages[i])
	}
	for i := range h.Steps {
		for k := range h.Steps[i].Calls {
			h.Steps[i].Calls[k].finish()
		}
	}
	h.finishIndex()
	return h
}

// showVisible notes what stays in view, before anything is read.
func (h *History) showVisible(r Request) {
	for i := range r.Visible {
		for k := range r.Visible[i].Parts {
			p := &r.Visible[i].Parts[k]
			h.Index.show(p.Text)
			if len(p.Args) > 0 {
				h.Index.show(p.Name)
				for _, a := range readCall(p).Args {
					h.Index.show(a.Name)
					h.Index.show(a.Value)
				}
			}
		}
	}
}

// finishIndex adds to the index what is not a message to summarise, and ranks.
func (h *History) finishIndex() {
	h.Index.addSummary(h.Previous)
	for _, f := range h.Files() {
		if f.Op < Edited {
			continue
		}
		for _, name := range append([]string{f.Path}, f.Funcs...) {
			if e := h.Index.Lookup(name); e != nil {
				e.Changed = true
			}
		}
	}
	h.Index.rank()
}

// at is the place of a call.
type at struct{ step, call int }

type reader struct {
	h    *History
	open map[string][]at // call id → calls that wait for their result
}

func (b *reader) message(id int, m *message.Message) {
	step := Step{ID: id, Role: m.Role}
	own := len(b.h.Steps)
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case message.KindText:
			step.Text = join(step.Text, p.Text)
			b.add(p.Text, sayer(m.Role), id)
		case message.KindReasoning:
			if !p.Sealed {
				step.Reasoning = join(step.Reasoning, p.Text)
				b.add(p.Text, Thought, id)
			}
		case message.KindToolCall:
			c := readCall(p)
			b.args(&c, id)
			b.open[p.CallID] = append(b.open[p.CallID], at{own, len(step.Calls)})
			step.Calls = append(step.Calls, c)
		case message.KindToolResult:
			b.add(p.Text, Shown, id)
			b.result(&step, own, p)
		case message.KindFile, message.KindImage, message.KindAudio:
			if p.Media != nil && p.Media.Name != "" {
				b.add(p.Media.Name, sayer(m.Role), id)
			}
		}
	}
	if step.Text != "" || step.Reasoning != "" || len(step.Calls) > 0 {
		b.h.Steps = append(b.h.Steps, step)
	}
}

// result hands an output to the newest call that waits for it; one that
// answers nothing becomes a call of its own.
func (b *reader) result(step *Step, own int, p *message.Part) {
	waiting := b.open[p.CallID]
	if n := len(waiting); n > 0 {
		where := waiting[n-1]
		b.open[p.CallID] = waiting[:n-1]
		c := &step.Calls
		if where.step != own {
			c = &b.h.Steps[where.step].Calls
		}
		(*c)[where.call].Result, (*c)[where.call].Answered = p.Text, true
		return
	}
	tool := p.Name
	if tool == "" {
		tool = "tool"
	}
	step.Calls = append(step.Calls, Call{Tool: tool, Result: p.Text, Answered: true})
}

func (b *reader) add(text string, w Where, id int) { b.h.Index.add(text, w, id) }

func (b *reader) args(c *Call, id int) {
	b.h.Index.addName(c.Tool, id)
	for _, a := range c.Args {
		b.h.Index.addName(a.Name, id)
		b.add(a.Value, Asked, id)
	}
}

func sayer(r message.Role) Where {
	if r == message.RoleAssistant {
		return Said
	}
	return Told
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
