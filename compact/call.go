package compact

import (
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// call is one call of the manager in progress: its request, the facts that it knows,
// its outcome, and its telemetry. Its lane is locked while it runs, so that its fields
// need no lock.
type call struct {
	m *CompactManager
	asker
	ep   *epoch
	s    *session
	lane *lane

	knowledge // new at each attempt
	outcome   // new at each attempt
	res       *Result

	summaries summaryCost       // cost of summaries by a model, of all attempts
	left      int               // tokens of this prompt that the previous prompt left in the cache, if the provider has a cache
	broken    *trace.CacheBreak // where this prompt differs from the previous one; nil: it continues the previous one
	teller
}

// asker holds the caller and the request. It does not change while the call runs.
type asker struct {
	q       request
	id      string            // as nameOf returns it, like the agent and the branch in q
	asked   names             // names as the caller gave them
	history []message.Message // as the stages see it, with the protection by the caller's function
	input   []message.Message // the history of the caller
	rules   *legality         // rules of the provider; nil = unknown provider
	outside int               // bytes of the body outside of messages; 0 = not computed
	began   time.Time
	entered time.Time   // start by the real clock, for deadlines
	label   redact.Text // id for events
	agent   redact.Text
}

func newCall(m *CompactManager, id string, history []message.Message, q request) *call {
	c := &call{m: m, asker: asker{q: q, asked: names{id, q.agent, q.branch}, input: history, history: protect(history, q.pins), began: m.now()}}
	c.name()
	c.res = &Result{
		Session: id, Agent: q.agent, Manual: q.manual,
		ReductionStage: ReductionNone, CallStage: ReductionNone, InvariantStatus: InvariantsOK,
		Note: m.redactor.Text(q.note).String(),
	}
	return c
}

// name sets session, agent and branch to their names in the archive.
func (c *call) name() {
	c.label, c.agent = c.m.nameOf(c.asked.session), c.m.nameOf(c.asked.agent)
	c.id, c.q.agent = c.label.String(), c.agent.String()
	c.q.branch = branchName(c.m.keys.Ring, c.m.nameOf(c.asked.branch).String())
}

// protect marks the messages that the caller's function protects.
func protect(history []message.Message, f func(message.Message) bool) []message.Message {
	if f == nil {
		return history
	}
	out := append([]message.Message(nil), history...)
	for i := range out {
		out[i].Protected = out[i].Protected || f(out[i])
	}
	return out
}

func (c *call) run(ctx context.Context) (err error) {
	c.entered = time.Now()
	if err := c.open(ctx); err != nil {
		return err
	}
	defer func() { c.m.leave(c.s, c.lane, c.history) }()
	waiting := c.m.now()
	if err := c.lane.mu.Lock(ctx); err != nil {
		return err
	}
	defer c.lane.mu.Unlock()
	c.res.Timing.LaneWait = c.m.now().Sub(waiting)
	defer c.lane.clear()
	defer c.settle(0) // while the call holds its lane
	defer func() {
		if err != nil {
			c.s.billed(c.summaries.bill()) // a failed call has no bill
		}
	}()
	c.note()
	before := *c.res
	for attempt := 1; ; attempt++ {
		c.knowledge, c.outcome = knowledge{lastAttempt: attempt == attempts}, outcome{}
		if err := c.look(ctx); err != nil {
			return err
		}
		err := c.decide(ctx)
		if err == nil {
			c.bill()
			c.sayAgent()
		}
		if !errors.Is(err, errStale) {
			c.sending(err)
			if err != nil {
				c.nothingDone()
			}
			return err
		}
		c.anew(before)
	}
}

func (c *call) open(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.id == "" {
		return ErrSession
	}
	if c.rules, err = newLegality(c.q.wire, c.history); err != nil {
		return err
	}
	if c.ep, err = c.m.epoch(ctx, c.q.epochKey); err != nil {
		return err
	}
	c.sayGuess()
	c.sayTools()
	started := c.m.now()
	c.working = started
	if err := c.m.keyed(ctx, c.q); err != nil {
		return err
	}
	c.name()
	if c.s, err = c.m.sessionOf(ctx, c); err != nil {
		return err
	}
	c.res.Timing.Ledger = c.m.now().Sub(started)
	c.s.redactor.Name(c.agent, c.m.nameOf(c.q.branch))
	c.lane = c.s.lane(c.q.owner())
	c.startTrace(ctx)
	c.warnLate()
	return nil
}
