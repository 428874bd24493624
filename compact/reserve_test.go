package compact

import (
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// perMessage counts a hundred tokens per message.
type perMessage struct{}

func (perMessage) Message(message.Message) int { return 100 }
func (perMessage) Text(string) int             { return 1 }

// The reserve for the answer stays reduced if the last step needed a part of it
// and not more. A step that ended above the budget without any reserve had
// another window or buffer, and does not count.
func TestReserveStaysReducedOnlyIfTheLastStepNeededIt(t *testing.T) {
	view := policy.NewView([]message.Message{message.System("a"), message.User("b")}, nil, perMessage{})
	for _, c := range []struct {
		last, cap, want int
	}{
		{0, 150, 150},   // there was no step
		{150, 150, 150}, // the last call ended within the budget
		{151, 150, 300}, // the last call used a part of the reserve for the answer
		{300, 150, 300}, // the whole reserve
		{301, 150, 150}, // more than there is
		{250, 200, 200}, // the floor fits by now
	} {
		call := &call{res: &Result{}, knowledge: knowledge{last: c.last}, ep: &epoch{}}
		call.ep.budget.Cap, call.ep.lifted.Cap = c.cap, 300
		call.budget = call.ep.budget
		if call.allot(view); call.budget.Cap != c.want {
			t.Errorf("%+v: the budget is %d, want %d", c, call.budget.Cap, c.want)
		}
	}
}
