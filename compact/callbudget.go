package compact

import "context"

// CallBudget returns the most tokens that a call with these options is sent with:
// that of its model, window and answer. It may have to load the vocabulary of the model, and
// honors ctx. Nothing is stored, and no session is looked at.
func (m *CompactManager) CallBudget(ctx context.Context, opts ...Option) (tokens int, err error) {
	defer m.rescue("CallBudget", &err)
	var q request
	for _, o := range opts {
		o(&q)
	}
	q.complete()
	q.overrides = m.cfg.matching(q.model, q.agent)
	ep, err := m.epoch(ctx, q.epochKey)
	if err != nil {
		return 0, err
	}
	return ep.budget.Cap, nil
}
