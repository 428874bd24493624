package policy

// Answered describes the call that a result answers.
type Answered = answered

// Render returns the text of a mark.
func (f Forms) Render(k Mark, of Answered) (string, error) { return f.render(k, of) }

// DefaultDispatchTools returns names of tools that hand work to other agents.
func DefaultDispatchTools() []string {
	return []string{"dispatch", "delegate", "task", "agent", "subagent", "*_agent"}
}

// The forms of placeholders that tests name.
const (
	FormCall   = formCall
	FormResult = formResult
)
