package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// startedMarks lists texts that precede the id of a background task in the result of the
// call that started the task.
var startedMarks = []string{"agentId: ", "running in background with ID: "}

// startedHead is the beginning of the result of a call that only started a sub-agent.
const startedHead = "Async agent launched"

// startsAgent reports whether a call only started a sub-agent in the background. The
// report of that sub-agent comes in a later message.
func (c *Call) startsAgent() bool {
	return c.deed() == deedSend && c.Answered && strings.HasPrefix(c.Result, startedHead)
}

// taskID returns the id of the background task that a call started, "" if it started no
// task.
func (c *Call) taskID() string {
	head := c.Result[:min(len(c.Result), 2*edge)]
	for _, mark := range startedMarks {
		if _, rest, ok := strings.Cut(head, mark); ok {
			return rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"))]
		}
	}
	return ""
}

// inBackground is the text after the task of a sub-agent that has not reported yet.
const inBackground = " was started in the background; no report of it stands in this part"

// backgroundLines returns lines about sub-agents that were started in the background and
// have not reported since.
func (h *History) backgroundLines(section int) []Line {
	var out []Line
	h.eachCall(func(s *Step, c *Call) {
		if what := c.task(); what != "" && c.startsAgent() && !h.heardOf(c, s.ID) {
			out = append(out, Line{Section: section, Text: subAgent(what) + inBackground + " " + stepID(s.ID), Value: failedValue, Order: s.ID})
		}
	})
	return out
}

// heardOf reports whether a sub-agent reported after the step that started it, or a
// later call named its id, to stop it or to read its output.
func (h *History) heardOf(began *Call, step int) bool {
	id, found := began.taskID(), false
	h.eachCall(func(s *Step, c *Call) {
		if s.ID > step {
			found = found || c.reports(began.task()) || id != "" && c.arg("task_id", "taskId", "agent_id", "agentId") == id
		}
	})
	return found
}

// reportedMark precedes, in the line of an unfinished item, the step in which a sub-agent
// reported on it. Agents often update the list only after several reports.
const reportedMark = " (a sub-agent reported on it "

// markReported marks the unfinished items for which a sub-agent's report came after the list
// was last written. The report is in the log; the mark does not say that the item is done.
func (h *History) markReported(list []item) {
	h.eachCall(func(s *Step, c *Call) {
		if c.Outcome == Failed || !c.reports(c.task()) {
			return
		}
		task := wordSet(c.task())
		for i := range list {
			if it := &list[i]; !it.Status.finished() && s.ID > it.Step && contains(task, wordSet(it.Text)) {
				it.reported = stepID(s.ID)
			}
		}
	})
}

// reports reports whether a call returned the report of a sub-agent with this task.
func (c *Call) reports(task string) bool {
	return c.deed() == deedSend && c.Answered && !c.startsAgent() && c.task() == task
}

// reportedSince reports whether a line of the previous summary is about a background
// sub-agent that has reported since that summary.
func (h *History) reportedSince(line string) bool {
	found := false
	if strings.Contains(line, inBackground) {
		h.eachCall(func(_ *Step, c *Call) {
			found = found || c.reports(c.task()) && strings.HasPrefix(line, subAgent(c.task())+inBackground)
		})
	}
	return found
}

// task returns the task that a call gives to a sub-agent.
func (c *Call) task() string { return c.arg("description", "task", "message", "prompt", "input") }

// subAgent names a sub-agent by its task.
func subAgent(what string) string { return "the sub-agent for " + prose.Quoted(what, 80) }
