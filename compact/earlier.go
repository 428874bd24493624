package compact

import (
	"slices"

	"github.com/agentcompact/compact/internal/ledger"
)

// An Earlier describes compactions whose edits are in a view and that were made
// with other settings. New settings change later compactions, never earlier
// ones.
type Earlier struct {
	Steps    int    `json:"steps"`              // number of compactions; 0 if all of them are edits between steps
	Last     int    `json:"last_step"`          // the number of the newest
	Preset   string `json:"preset,omitempty"`   // "" = the ledger was written before it recorded the preset
	Strategy string `json:"strategy,omitempty"` // of their summary; "" = they made no summary
	Window   int    `json:"window"`             // tokens
}

// like reports whether two Earlier values have the same settings. An unknown
// setting equals any other.
func (e *Earlier) like(o *Earlier) bool {
	same := func(a, b string) bool { return a == "" || b == "" || a == b }
	return e.Window == o.Window && same(e.Preset, o.Preset) && same(e.Strategy, o.Strategy)
}

// went records a step whose edits are in the conversation: they were applied now, or
// the incoming history had them already.
func (r *replayed) went(step *ledger.Step) {
	if step.Kind == ledger.KindTidy {
		return // tidy steps are not compactions
	}
	r.last = step
	by := Earlier{Preset: step.Preset, Strategy: step.Strategy, Window: step.Window}
	at := slices.IndexFunc(r.made, func(m Earlier) bool {
		return m.Preset == by.Preset && m.Strategy == by.Strategy && m.Window == by.Window
	})
	made := slices.Clone(r.made)
	if at < 0 {
		at, made = len(made), append(made, by)
	}
	if step.Step > 0 {
		made[at].Steps++
		made[at].Last = step.Step
	}
	r.made = made
}

// earlier returns the compactions that were made with other settings than this
// call's.
func (c *call) earlier() []Earlier {
	now := Earlier{Preset: c.ep.cfg.Preset, Strategy: c.ep.cfg.Policy.Strategy, Window: c.ep.window}
	var others []Earlier
	for _, made := range c.now.made {
		if !made.like(&now) {
			others = append(others, made)
		}
	}
	return others
}
