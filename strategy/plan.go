package strategy

import (
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// An itemStatus is the status of an item.
type itemStatus uint8

// The statuses of items. Only an open item reads as work to do.
const (
	itemOpen itemStatus = iota
	itemBlocked
	itemDone
	itemDropped // it was taken off the list, and is not done
)

var statusNames = [...]string{"open", "blocked", "done", "dropped"}

// finished reports whether no work is left for an item.
func (s itemStatus) finished() bool { return s == itemDone || s == itemDropped }

// String returns the word in brackets before an item.
func (s itemStatus) String() string { return statusNames[s] }

// An item is an item of work.
type item struct {
	Step   int
	Text   string
	Status itemStatus
	Active bool   // somebody works on the item now
	id     string // id in the task list, if the list has ids
	tool   string // tool that wrote the list as a whole

	reported  string // citation of the step in which a sub-agent reported on the item, "" if none did
	forbidden string // citation of the step in which the user forbade the item, "" if the user did not
}

// inProgress follows an open item that somebody works on. taskMark precedes the id of an
// item in a task list: the agent needs the id to update the task, and the next summary
// needs it to read the update.
const (
	inProgress = " (in progress)"
	taskMark   = " (task "
)

// marks returns the marks after the text of an unfinished item.
func (it item) marks() string {
	out := ""
	if it.id != "" && !it.Status.finished() {
		out = taskMark + it.id + ")"
	}
	if it.Active {
		out += inProgress
	}
	if it.reported != "" && !it.Status.finished() {
		out += reportedMark + it.reported + ")"
	}
	if it.forbidden != "" {
		out += forbiddenMark + it.forbidden + ")"
	}
	return out
}

// unmarked parses the item of a line: it reads the marks and removes them from the text.
func unmarked(text string) item {
	var it item
	text = strings.TrimSpace(text)
	if at := strings.LastIndex(text, forbiddenMark); at > 0 && strings.HasSuffix(text, ")") {
		text, it.forbidden = text[:at], text[at+len(forbiddenMark):len(text)-1]
	}
	if at := strings.LastIndex(text, reportedMark); at > 0 && strings.HasSuffix(text, ")") {
		text, it.reported = text[:at], text[at+len(reportedMark):len(text)-1]
	}
	it.Text, it.Active = strings.CutSuffix(text, inProgress)
	if at := strings.LastIndex(it.Text, taskMark); at > 0 {
		if id, ok := strings.CutSuffix(it.Text[at+len(taskMark):], ")"); ok && id != "" && len(id) <= maxTaskID && !strings.ContainsAny(id, " ()") {
			it.Text, it.id = it.Text[:at], id
		}
	}
	return it
}

// maxTaskID is the maximum length of an id in a line, in bytes.
const maxTaskID = 40

// carried adds the items of a line of the previous summary: one item, or several done
// items.
func (b *items) carried(text string, st itemStatus) {
	texts := []string{text}
	if st.finished() {
		texts = splitDone(text)
	}
	for _, t := range texts {
		it := unmarked(t)
		if it.Status = st; it.forbidden != "" {
			it.Status = itemOpen // markForbidden decides again
		}
		b.set(it)
	}
}

// splitDone splits a line of done items. An effect has a line of its own, and "; " can be
// part of it.
func splitDone(text string) []string {
	if !isEffect(text) {
		return strings.Split(text, "; ")
	}
	var out []string
	for {
		at := strings.Index(text, "]; ") // summaries of older versions joined effects
		if at < 0 || !isEffect(text[:at]) {
			return append(out, text)
		}
		out, text = append(out, text[:at+1]), text[at+len("]; "):]
	}
}

// effectNotes begin the notes after effects.
var effectNotes = []string{" (do not repeat)", " (reverted ", " (then "}

// isEffect reports whether a done item is a line about an effect.
func isEffect(text string) bool {
	return prose.HasAny(text, effectNotes)
}

// items returns the items of work in the history with their last status, in
// order of appearance: entries of task lists, checkboxes, and items of the
// previous summary.
func (h *History) items() []item {
	b := items{byKey: map[string]int{}}
	for _, lines := range append([][]string{h.Previous.Notes}, h.Previous.Sections...) {
		for _, l := range lines {
			if st, text, ok := statusOf(l); ok {
				b.carried(h.sinceThen(text), st)
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
	h.markReported(b.list)
	h.markForbidden(b.list)
	return b.list
}

type items struct {
	list  []item
	byKey map[string]int
}

// itemText returns the text of an item on one line, clipped to prose.MaxSentence. It
// clips the arguments of a call before the result, because the id of a created
// object is in the result.
func itemText(text string) string {
	text = prose.Squash(prose.Unnumbered(text))
	asked, returned, ok := strings.Cut(text, ", which returned: ")
	if ok && utf8.RuneCountInString(text) > prose.MaxSentence {
		asked, _, _ = strings.Cut(asked, " with ")
		text = prose.Clip(asked, prose.MaxSentence/2) + ", which returned: " + returned
	}
	return prose.Clip(text, prose.MaxSentence)
}

func (b *items) set(it item) {
	it.Text = itemText(it.Text)
	if it.Text == "" {
		return
	}
	key := itemKey(it.Text)
	if i, ok := b.byKey[key]; ok {
		b.list[i].Status, b.list[i].Step, b.list[i].Active, b.list[i].reported = it.Status, max(it.Step, b.list[i].Step), it.Active, it.reported
		if it.tool != "" {
			b.list[i].tool = it.tool
		}
		if it.id != "" {
			b.list[i].id = it.id
		}
		return
	}
	b.byKey[key] = len(b.list)
	b.list = append(b.list, it)
}

// itemKey returns a key that ignores case and punctuation.
func itemKey(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 0x7f {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// call reads the task lists of common harnesses: lists that a call writes as a whole,
// and tasks that calls create and update one by one.
func (b *items) call(step int, c *Call) {
	low := strings.ToLower(c.Tool)
	switch {
	case strings.Contains(low, "taskcreate"):
		b.set(item{Step: step, Text: c.arg("subject", "title"), id: taskID(c)})
	case strings.Contains(low, "taskupdate"):
		b.update(step, c)
	case strings.Contains(low, "todo") || strings.Contains(low, "plan") || low == "task_tracker":
		b.plan(step, c)
	}
}

// taskID returns the id of a created task: an argument, or else the number in a result
// such as "Task #3 created".
func taskID(c *Call) string {
	if id := c.arg("id"); id != "" {
		return id
	}
	_, after, _ := strings.Cut(c.Result, "#")
	return after[:len(after)-len(strings.TrimLeft(after, "0123456789"))]
}

func (b *items) update(step int, c *Call) {
	id, status := c.arg("taskId", "task_id", "id"), c.arg("status")
	if id == "" || status == "" {
		return
	}
	for i := range b.list {
		if b.list[i].id == id {
			b.list[i].Status, b.list[i].Step, b.list[i].Active, b.list[i].reported = parseStatus(status), step, active(status), ""
		}
	}
}

// plan reads pairs of text and status from the arguments of a tool that writes
// its list as a whole. It removes an item of the same tool that is neither in the new list
// nor finished, and such an item of the previous summary if the new list is a later state
// of that summary's list.
func (b *items) plan(step int, c *Call) {
	var now []item
	text, status := "", ""
	flush := func() {
		if text != "" && status != "" {
			now = append(now, item{Step: step, Text: text, Status: parseStatus(status), Active: active(status), tool: c.Tool})
			text, status = "", ""
		}
	}
	for _, a := range c.Args {
		switch a.Name {
		case "content", "step", "title", "subject", "task":
			if text != "" && status == "" {
				text = "" // an item without a status
			}
			text = a.Value
			flush()
		case "status":
			status = a.Value
			flush()
		}
	}
	if len(now) == 0 {
		return
	}
	named := map[string]bool{}
	for _, it := range now {
		named[itemKey(itemText(it.Text))] = true
	}
	kept := b.list[:0]
	b.byKey = map[string]int{}
	same := b.sameList(named)
	for _, it := range b.list {
		if key := itemKey(it.Text); it.tool != c.Tool && (!same || !it.listed()) || it.Status.finished() || named[key] {
			b.byKey[key] = len(kept)
			kept = append(kept, it)
		}
	}
	b.list = kept
	for _, it := range now {
		b.set(it)
	}
}

// listed reports whether an item comes from the previous summary, and not from a tool that
// creates its tasks one by one.
func (it *item) listed() bool { return it.Step == 0 && it.tool == "" && it.id == "" }

// sameList reports whether a new list, by the keys of its items, is a later state of the
// list in the previous summary: it names more than half of the open items. Other open items of
// that summary may come from a model, and no tool lists them.
func (b *items) sameList(named map[string]bool) bool {
	all, again := 0, 0
	for i := range b.list {
		it := &b.list[i]
		if it.listed() && !it.Status.finished() { // effects are done items, too
			all++
		}
		if it.listed() && named[itemKey(it.Text)] {
			again++
		}
	}
	return 2*again > all
}

func active(status string) bool {
	switch strings.ToLower(status) {
	case "in_progress", "in-progress", "inprogress", "active", "doing":
		return true
	}
	return false
}

func parseStatus(s string) itemStatus {
	switch strings.ToLower(s) {
	case "completed", "complete", "done":
		return itemDone
	case "deleted", "cancelled", "canceled", "skipped", "dropped", "wontfix", "won't do":
		return itemDropped
	case "blocked", "failed":
		return itemBlocked
	}
	return itemOpen
}

func (b *items) checkboxes(step int, text string) {
	if !strings.Contains(text, "[ ]") && !strings.Contains(text, "[x]") {
		return
	}
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*0123456789. ")
		if rest, ok := strings.CutPrefix(line, "[ ] "); ok {
			b.set(item{Step: step, Text: rest})
		} else if rest, ok := strings.CutPrefix(line, "[x] "); ok {
			b.set(item{Step: step, Text: rest, Status: itemDone})
		}
	}
}

// statusOf parses "[open] text".
func statusOf(line string) (itemStatus, string, bool) {
	for st, name := range statusNames {
		if rest, ok := strings.CutPrefix(line, "["+name+"] "); ok {
			return itemStatus(st), rest, true
		}
	}
	return 0, "", false
}

// Line returns the item as summaries write it.
func (it item) Line() string {
	return "[" + it.Status.String() + "] " + it.Text + it.marks()
}

// planValue ranks the plan above plain facts.
const planValue = 4

// doneTogether is the maximum number of done items on one line, and of dropped items.
const doneTogether = 4

// planLines returns the items with their status. Done and dropped items share lines, except
// effects.
func (h *History) planLines(section int) []Line { return itemLines(h.items(), section) }

func itemLines(items []item, section int) []Line {
	var out []Line
	var together [len(statusNames)][]string
	flush := func(st itemStatus) {
		if texts := together[st]; len(texts) > 0 {
			out = append(out, Line{Section: section, Text: "[" + st.String() + "] " + strings.Join(texts, "; "), Value: planValue - 0.5, Order: int(st)*10_000 + 10_000})
		}
		together[st] = nil
	}
	for _, it := range items {
		if !it.Status.finished() {
			out = append(out, Line{Section: section, Text: it.Line(), Value: planValue, Order: int(it.Status) * 10_000})
			continue
		}
		if isEffect(it.Text) {
			out = append(out, Line{Section: section, Text: "[done] " + it.Text, Value: planValue - 0.5, Order: 30_000})
			continue
		}
		of := &together[it.Status]
		if *of = append(*of, strings.ReplaceAll(it.Text, "; ", ", ")); len(*of) == doneTogether {
			flush(it.Status)
		}
	}
	flush(itemDone)
	flush(itemDropped)
	return out
}

// lastList returns the last list in which the assistant wrote its next steps. It returns
// nothing if there are items of a plan, if the list was carried out, or if the assistant
// has ended its turn since: its last answer reports on the plan.
func (h *History) lastList() fact {
	if len(h.items()) > 0 {
		return fact{}
	}
	for i := len(h.Steps) - 1; i >= 0; i-- {
		s := &h.Steps[i]
		if s.Role != message.RoleAssistant || s.recap() || browserReport(s.Text) {
			continue
		}
		if list := planList(s.Text); list != "" && !forTheUser(list) && !settledList(list) {
			if h.carriedOut(list, s.ID) {
				return fact{}
			}
			return fact{s.ID, prose.Clip(list, 420), 1.5}
		}
		if h.endsTurn(i) {
			return fact{}
		}
	}
	return fact{}
}

// joinItems joins the items of a list on one line. An item that leads to the next ends with a
// colon.
func joinItems(items []string) string {
	return strings.ReplaceAll(strings.Join(items, "; "), ":; ", ": ")
}

// forTheUser reports whether a list is addressed to the user.
func forTheUser(list string) bool {
	return prose.HasAny(strings.ToLower(list), []string{" your ", " you ", "you’", "you'", "tap "})
}

// settledWords state that something needs no more work.
var settledWords = []string{"completed", "merged", "closed", "done", "fixed", "implemented", "superseded", "obsolete", "stale", "duplicate", "shipped", "landed", "already", "resolved", "delivered"}

// settledList reports whether at least half of the items of a list state the status of a named
// thing ("`a-12`: completed by #31"), or begin with the participle of a verb ("Removed the old
// page"). Such a list is a finding or a report, not a plan.
func settledList(list string) bool {
	all, settled := 0, 0
	for item := range strings.SplitSeq(list, "; ") {
		all++
		if participle(strings.ToLower(firstField(item))) {
			settled++
			continue
		}
		_, state, ok := strings.Cut(strings.ToLower(item), ": ")
		if ok && !rules.TellsToDo(state) && prose.HasAnyWord(state, settledWords) {
			settled++
		}
	}
	return 2*settled >= all
}

// planHeads lists words that introduce a list of future steps. reportHeads lists words
// that introduce a report of finished steps.
var (
	planHeads   = []string{"plan", "steps", "next", "todo", "to do", "approach", "remaining", "recommend", "recommended", "recommendation", "步骤", "计划"}
	reportHeads = []string{"run", "ran", "done", "did", "completed", "passed", "verified", "made", "changed", "was", "were", "taken", "took"}
)

// laterTimes removes the phrases in which "next" names a time and no step.
var laterTimes = strings.NewReplacer("next day", "", "next morning", "", "next week", "", "next month", "", "next year", "", "next time", "", "next to ", "")

// introduces reports whether a line introduces a list of future steps.
func introduces(line string) bool {
	low := laterTimes.Replace(strings.ToLower(line))
	return len(line) < 160 && prose.HasAnyWord(low, planHeads) && !prose.HasAnyWord(low, reportHeads)
}

// planList returns the items of a list after a line with a word for a plan.
func planList(text string) string {
	var items []string
	head := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch item := prose.Unnumbered(strings.TrimLeft(line, "-* ")); {
		case line == "":
		case head && len(line) > 2 && (item != line):
			items = append(items, prose.Squash(strings.ReplaceAll(item, "**", "")))
		case len(items) >= 2:
			return joinItems(items)
		default:
			items, head = nil, introduces(line)
		}
	}
	if len(items) < 2 {
		return ""
	}
	return joinItems(items)
}
