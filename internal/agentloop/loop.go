package agentloop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/storage/memory"
)

// A Loop is a run of two agents in one session.
type Loop struct {
	Window int // tokens
	Steps  int // of each agent, over five turns
	Stream bool
}

const turns = 5

// A worker is an agent with its endpoint.
type worker struct {
	agent Agent
	at    *Endpoint
	ctx   context.Context
}

type run struct {
	Loop
	t       *testing.T
	sdk     SDK
	archive *memory.Archive
	m       *compact.CompactManager
	workers []*worker
	turns   int
}

// Run lets two agents work at once in one session, restarts the program, lets
// them continue with another model, and lets one of them continue in two
// branches at once.
func (l Loop) Run(t *testing.T, s SDK) (f Figures) {
	t.Helper()
	r := &run{Loop: l, t: t, sdk: s, archive: memory.New()}
	r.start()
	for _, name := range []string{"planner", "reader"} {
		r.hire(transport.WithAgent(transport.WithSession(t.Context(), "s"), name))
	}
	r.turn(s.Models[0])
	r.turn(s.Models[0])
	r.start()
	r.turn(s.Models[0])
	r.other()
	r.turn(s.Models[1])
	r.branch()
	r.turn(s.Models[1])
	for _, w := range r.workers {
		f.add(w.at)
	}
	return f
}

// start starts the manager, for the first time or after a restart.
func (r *run) start() {
	r.t.Helper()
	if r.m != nil {
		r.must(r.m.Close(context.Background()))
	}
	m, err := compact.New(r.t.Context(), compact.Config{MaxContextTokens: r.Window, Archive: r.archive})
	r.must(err)
	r.t.Cleanup(func() { _ = m.Close(context.Background()) })
	r.m = m
	for _, w := range r.workers {
		w.at.through(m)
	}
}

func (r *run) hire(ctx context.Context) {
	r.t.Helper()
	at := newEndpoint(r.t, r.Window, r.sdk.Drops)
	at.through(r.m)
	a, err := r.sdk.Open(ctx, at)
	r.must(err)
	r.workers = append(r.workers, &worker{a, at, ctx})
}

// other records that the next requests name another model, or begin a new history.
func (r *run) other() {
	for _, w := range r.workers {
		w.at.mu.Lock()
		w.at.changed[len(w.at.server.Requests())] = true
		w.at.mu.Unlock()
	}
}

// branch makes the first agent continue in two branches.
func (r *run) branch() {
	r.t.Helper()
	w := r.workers[0]
	at := newEndpoint(r.t, r.Window, r.sdk.Drops)
	at.through(r.m)
	at.serial = w.at.serial // call ids must be unique in the whole history
	at.server.Follow(w.at.server)
	for _, wire := range provider.Wires() {
		at.server.Judge(wire).Issue(w.at.last) // the earlier answers of the model are genuine
	}
	for _, q := range w.at.server.Requests() { // including the rounds of recall, which the SDK does not know
		at.server.Judge(q.Wire).Issue(q.Body)
	}
	fork, err := w.agent.Fork(w.ctx, at)
	r.must(err)
	r.workers = append(r.workers, &worker{fork, at, transport.WithBranch(w.ctx, "other")})
}

// turn makes all agents work at once.
func (r *run) turn(model string) {
	r.t.Helper()
	if r.turns++; r.sdk.Forgets {
		r.other()
	}
	errs := make([]error, len(r.workers))
	var all sync.WaitGroup
	for i, w := range r.workers {
		all.Go(func() {
			errs[i] = w.work(Turn{Say: fmt.Sprintf("Turn %d of agent %d: read on.", r.turns, i), Model: model, Stream: r.Stream}, r.Steps/turns)
		})
	}
	all.Wait()
	r.must(errors.Join(errs...))
}

func (w *worker) work(t Turn, steps int) error {
	w.at.turn(steps)
	text, err := w.agent.Run(w.ctx, t)
	if err != nil {
		return err
	}
	if text != "done" {
		return fmt.Errorf("the agent ended with %q", text)
	}
	return nil
}

func (r *run) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatalf("%s: %v", r.sdk.Name, err)
	}
}
