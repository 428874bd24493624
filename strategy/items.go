package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// A Status says how far an item is.
type Status uint8

// The statuses of items. Only open ones read as things to do.
const (
	Open Status = iota
	Blocked
	Done
)

var statusNames = [...]string{"open", "blocked", "done"}

// String returns the word that stands in brackets before an item.
func (s Status) String() string { return statusNames[s] }

// An Item is a piece of work.
type Item struct {
	Step   int
	Text   string
	Status Status
	id     string // of a task list, where it has ids
}

// Items returns the work that the history speaks of with the last status that
// it gives it, in order of appearance: entries of task lists, checkboxes, and
// items of the summary before.
func (h *History) Items() []Item {
	b := items{byKey: map[string]int{}}
	for _, lines := range append([][]string{h.Previous.Notes}, h.Previous.Sections...) {
		for _, l := range lines {
			if st, text, ok := statusOf(l); ok {
				b.set(Item{Text: text, Status: st})
			}
		}
	}
	for i := range h.Steps {
		s := &h.Steps[i]
		for k := range s.Calls {
			b.call(s.ID, &s.Calls[k])
		}
		if s.Role == message.RoleAssistant {
			b.checkboxes(s.ID, s.Text)
		}
	}
	return b.list
}

type items struct {
	list  []Item
	byKey map[string]int
	tasks int
}

func (b *items) set(it Item) {
	it.Text = clip(squash(unnumbered(it.Text)), maxSentence)
	if it.Text == "" {
		return
	}
	key := itemKey(it.Text)
	if i, ok := b.byKey[key]; ok {
		b.list[i].Status, b.list[i].Step = it.Status, max(it.Step, b.list[i].Step)
		return
	}
	b.byKey[key] = len(b.list)
	b.list = append(b.list, it)
}

// itemKey makes the same item the same although case and punctuation differ.
func itemKey(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 0x7f {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// call reads the task lists of common harnesses: a list that is written as a
// whole, and tasks that are created and updated one by one.
func (b *items) call(step int, c *Call) {
	low := strings.ToLower(c.Tool)
	switch {
	case strings.Contains(low, "taskcreate"):
		b.tasks++
		b.set(Item{Step: step, Text: c.arg("subject", "title"), id: c.arg("id")})
		b.identify(c)
	case strings.Contains(low, "taskupdate"):
		b.update(step, c)
	case strings.Contains(low, "todo") || strings.Contains(low, "plan") || strings.Contains(low, "task"):
		b.plan(step, c)
	}
}

// identify finds the number that a created task got: "Task #3 created".
func (b *items) identify(c *Call) {
	if len(b.list) == 0 {
		return
	}
	it := &b.list[len(b.list)-1]
	if _, after, ok := strings.Cut(c.Result, "#"); ok && it.id == "" {
		end := 0
		for end < len(after) && after[end] >= '0' && after[end] <= '9' {
			end++
		}
		it.id = after[:end]
	}
}

func (b *items) update(step int, c *Call) {
	id, status := c.arg("taskId", "task_id", "id"), c.arg("status")
	if id == "" || status == "" {
		return
	}
	for i := range b.list {
		if b.list[i].id == id {
			b.list[i].Status, b.list[i].Step = parseStatus(status), step
		}
	}
}

// plan reads pairs of text and status from the arguments.
func (b *items) plan(step int, c *Call) {
	text := ""
	for _, a := range c.Args {
		switch a.Name {
		case "content", "step", "title", "subject", "task":
			text = a.Value
		case "status":
			if text != "" {
				b.set(Item{Step: step, Text: text, Status: parseStatus(a.Value)})
			}
			text = ""
		}
	}
}

func parseStatus(s string) Status {
	switch strings.ToLower(s) {
	case "completed", "complete", "done", "deleted", "cancelled", "canceled":
		return Done
	case "blocked", "failed":
		return Blocked
	}
	return Open
}

func (b *items) checkboxes(step int, text string) {
	if !strings.Contains(text, "[ ]") && !strings.Contains(text, "[x]") {
		return
	}
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*0123456789. ")
		if rest, ok := strings.CutPrefix(line, "[ ] "); ok {
			b.set(Item{Step: step, Text: rest})
		} else if rest, ok := strings.CutPrefix(line, "[x] "); ok {
			b.set(Item{Step: step, Text: rest, Status: Done})
		}
	}
}

// statusOf reads "[open] text".
func statusOf(line string) (Status, string, bool) {
	for st, name := range statusNames {
		if rest, ok := strings.CutPrefix(line, "["+name+"] "); ok {
			return Status(st), rest, true
		}
	}
	return 0, "", false
}

// Line is the item as summaries write it.
func (it Item) Line() string { return "[" + it.Status.String() + "] " + it.Text }
