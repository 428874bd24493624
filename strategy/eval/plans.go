package eval

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/lazy"
)

// plan replaces the plan by the list of a call that writes the whole plan.
func (f *Facts) plan(c call) {
	var list []any
	switch c.tool {
	case "TodoWrite", "write_todos", "todowrite", "todo_write":
		list, _ = c.args["todos"].([]any)
	case "update_plan":
		list, _ = c.args["plan"].([]any)
	default:
		return
	}
	f.Plan = nil
	for _, e := range list {
		m, _ := e.(map[string]any)
		text, _ := m["content"].(string)
		if text == "" {
			text, _ = m["step"].(string)
		}
		status, _ := m["status"].(string)
		if text != "" {
			f.Plan = append(f.Plan, Item{text, status == "completed"})
		}
	}
}

var taskNumber = lazy.Compile(`#(\d+)`)

// task updates the plan by a call of a tool that writes one task at a time.
func (f *Facts) task(c call, text string, tasks map[string]int) {
	switch c.tool {
	case "TaskCreate":
		if m := taskNumber.FindStringSubmatch(text); m != nil && c.text("subject") != "" {
			tasks[m[1]] = len(f.Plan)
			f.Plan = append(f.Plan, Item{Text: c.text("subject")})
		}
	case "TaskUpdate":
		if i, ok := tasks[c.text("taskId")]; ok && i < len(f.Plan) && c.text("status") != "" {
			f.Plan[i].Done = strings.HasPrefix(c.text("status"), "comp") || c.text("status") == "deleted"
		}
	}
}
