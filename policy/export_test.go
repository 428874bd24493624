package policy

// Answered describes the call that a result answers.
type Answered = answered

// Render returns the text of a mark.
func (f Forms) Render(k Mark, of Answered) (string, error) { return f.render(k, of) }

// DefaultDispatchTools returns names of tools that hand work to other agents.
func DefaultDispatchTools() []string {
	return []string{"dispatch", "delegate", "task", "agent", "subagent", "*_agent"}
}

// Limits are the settings of a budget.
type Limits struct {
	MaxContextTokens, MaxOutputTokens, HardCapBuffer, MarginPct int
	TriggerPct, TargetPct                                       float64
}

// Budget returns the budget of a configuration with these settings.
func (l Limits) Budget() (Budget, error) {
	c := Config{HardCapBuffer: l.HardCapBuffer, MarginPct: l.MarginPct, TriggerPct: l.TriggerPct, TargetPct: l.TargetPct}
	return c.Budget(l.MaxContextTokens, l.MaxOutputTokens)
}

// The parts of a result that a cut keeps.
const (
	Head = keepHead
	Tail = keepTail
	Both = keepBoth
	Auto = keepAuto
)

// The forms of placeholders that tests name.
const (
	FormCall   = formCall
	FormResult = formResult
)

// Shares sums up contributors by reason.
func Shares(all []Contributor) []Share { return shares(all) }
