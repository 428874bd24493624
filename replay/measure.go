package replay

import (
	"context"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

// Kept counts what was needed, and what one or many views held of it.
type Kept struct {
	Needed   int  `json:"identifiers_needed"`                 // by the recorded answers, of what their full prompts held
	Held     int  `json:"identifiers_at_hand"`                // of these, in the sent views
	Recalled int  `json:"identifiers_one_recall_would_bring"` // of the others, by the best single recall of each call
	Told     Told `json:"told_after_compactions"`
}

// Plus returns the sum.
func (k Kept) Plus(o Kept) Kept {
	return Kept{k.Needed + o.Needed, k.Held + o.Held, k.Recalled + o.Recalled, k.Told.Plus(o.Told)}
}

// Missing returns how many of the needed identifiers the views did not hold.
func (k Kept) Missing() int { return k.Needed - k.Held }

// measure says what the views of one session keep.
type measure struct {
	needs   *needs
	recalls *recalls // nil: what the policy takes out is lost
	where   *where   // nil: nobody asks
}

func newMeasure(run Runner, count *token.Estimator, n *needs) measure {
	m := measure{needs: n}
	if from, ok := run.(Recaller); ok {
		m.recalls = &recalls{from: from, count: count, needs: n, known: map[string]map[string]bool{}}
	}
	return m
}

// kept measures one call. The error is the archive's, or the context's.
func (m *measure) kept(ctx context.Context, at int, history []message.Message, v *View) (k Kept, err error) {
	whole := inFull(history, v)
	needed, missing := m.needs.at(at, v, whole)
	k.Needed, k.Held = needed, needed-len(missing)
	if len(missing) > 0 && m.recalls != nil {
		k.Recalled, err = m.recalls.best(ctx, history, missing)
	}
	if m.where != nil {
		m.where.call(at, history, v, whole, missing)
	}
	if v.Compacted {
		k.Told = toldBy(history, v, whole)
	}
	return k, err
}
