package compact

import "context"

// CallBudget returns the maximum number of tokens of a view for a call with these options,
// which follows from the model, its window and the reserved answer. It may load the
// vocabulary of the model, and honors ctx. It reads no session and stores nothing.
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
