package replay

import (
	"context"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

// Kept counts the needed identifiers, and how many of them are in the views.
type Kept struct {
	Needed   int  `json:"identifiers_needed"`                 // identifiers in the recorded answers that also occur in their full prompts
	Held     int  `json:"identifiers_at_hand"`                // needed identifiers in the sent views
	Recalled int  `json:"identifiers_one_recall_would_bring"` // needed identifiers outside of the views that the best single recall of each call returns
	Told     Told `json:"told_after_compactions"`
}

// Plus returns the sum.
func (k Kept) Plus(o Kept) Kept {
	return Kept{k.Needed + o.Needed, k.Held + o.Held, k.Recalled + o.Recalled, k.Told.Plus(o.Told)}
}

// Missing returns the number of needed identifiers that the views did not hold.
func (k Kept) Missing() int { return k.Needed - k.Held }

// measure counts the identifiers and sentences that the views of one session keep.
type measure struct {
	needs   *needs
	recalls *recalls     // nil: removed text can't be recalled
	where   *whereCounts // nil: the caller didn't ask for it
}

func newMeasure(run Runner, count *token.Estimator, n *needs) measure {
	m := measure{needs: n}
	if from, ok := run.(Recaller); ok {
		m.recalls = &recalls{from: from, count: count, needs: n, known: map[string]map[string]bool{}}
	}
	return m
}

// kept measures one call. The error comes from the archive or the context.
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
