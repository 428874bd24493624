package compact

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/record"
)

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
	c.lane.account.withoutRefused()
	c.res.Timing.LaneWait = c.m.since(waiting)
	defer c.lane.clear()
	defer c.settle(0) // while the call holds its lane
	defer func() {
		if err != nil {
			c.m.bill(c.s, c.unit(), c.summaries.bill()) // a failed call has no bill
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
	c.res.Timing.Ledger = c.m.since(started)
	c.s.redactor.Name(c.agent, c.m.nameOf(c.q.branch))
	c.lane = c.s.lane(c.q.owner())
	c.startTrace(ctx)
	c.warnLate()
	return nil
}

// sessionOf returns the session of a call, or the shadow session of an observed
// one.
func (m *CompactManager) sessionOf(ctx context.Context, c *call) (*session, error) {
	if !c.q.observe {
		return m.session(ctx, c.asked.session)
	}
	if !m.uses.begin() {
		return nil, ErrClosed
	}
	s, err := m.shadowOf(ctx, c.label)
	if err != nil {
		m.uses.done()
	}
	return s, err
}

// canRepeat reports whether the call can be repeated at once: with the new state after a
// scrub, or in the session that follows an erased one if storage.erased is new.
func (c *call) canRepeat(err error) bool {
	return errors.Is(err, record.ErrScrubbed) ||
		errors.Is(err, record.ErrErased) && c.m.cfg.Storage.Erased == "new" && c.s != nil && !c.s.erased
}

// release ends the call's use of its session.
func (c *call) release() {
	if c.s != nil {
		c.m.release(c.s)
	}
}

// guarded calls run, and returns a panic as an error.
func (c *call) guarded(ctx context.Context) (err error) {
	defer c.m.rescue("the hook", &err)
	return c.run(ctx)
}

// note adds new messages to the journal. The manager's own summaries, notices
// and placeholders are not messages of the session.
func (c *call) note() {
	if c.m.cfg.Storage.Transcripts != "all" || c.q.dry || c.q.observe {
		return
	}
	var fresh []message.Message
	for i := range c.history {
		if !c.s.audit.journalHasRoom() {
			break
		}
		if fp := c.history[i].Fingerprint(); c.s.firstSeen(fp) && !c.s.reads.Ours(&c.history[i], fp) {
			fresh = append(fresh, c.history[i])
		}
	}
	c.s.study(fresh)
	for i := range fresh {
		line := c.s.line(fresh[i])
		if line.Len() > record.MaxLogLine {
			c.res.Warnings = append(c.res.Warnings, fmt.Sprintf("a message of %d bytes is too long for the journal (storage.transcripts: all), which leaves it out; a compaction that removes the message stores it", line.Len()))
			continue
		}
		if fp := fresh[i].Fingerprint(); !c.s.audit.addJournal(journalLine{fp, line}) {
			c.s.unsee(fp)
		}
	}
}

// attempts limits how often a call decides again because another process committed a
// step of its lane.
const attempts = 5
