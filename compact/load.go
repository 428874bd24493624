package compact

import (
	"context"

	"github.com/agentcompact/compact/token"
)

// load is a model whose vocabulary is being loaded. All calls with that model
// wait for it until their contexts are done; calls with other models don't.
type load struct {
	done  chan struct{} // closed when model and err are set
	model model
	err   error
}

// modelNamed returns the model with a name. It waits for the vocabulary until ctx
// is done.
func (m *CompactManager) modelNamed(ctx context.Context, name string) (model, error) {
	m.mu.Lock()
	if known, ok := m.models[name]; ok {
		m.mu.Unlock()
		return known, nil
	}
	l := m.loads[name]
	if l == nil {
		if !m.uses.begin() {
			m.mu.Unlock()
			return model{}, ErrClosed
		}
		l = &load{done: make(chan struct{})}
		m.loads[name] = l
		go m.load(l, name)
	}
	m.mu.Unlock()
	select {
	case <-l.done:
		return l.model, l.err
	case <-ctx.Done():
		return model{}, ctx.Err()
	}
}

// load only computes, and waits for nothing.
func (m *CompactManager) load(l *load, name string) {
	defer m.uses.done()
	l.model, l.err = m.newModel(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.loads, name)
	if l.err == nil {
		m.models[name] = l.model
	}
	close(l.done)
}

func (m *CompactManager) newModel(name string) (made model, err error) {
	defer m.rescue("the vocabulary", &err)
	made = model{name: name, calibrator: token.NewCalibrator(name)}
	made.estimator, made.encoding, err = m.estimator(name)
	_, made.exact = token.EncodingForModel(name)
	made.exact = made.exact || m.cfg.Counting != "model" || m.cfg.Counter != nil
	return made, err
}
