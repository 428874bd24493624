package compact

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/policy"
)

// legality holds views against the rules of the provider that the request
// goes to.
type legality struct {
	req    wire.Request
	before []wire.Violation // of the request as it came in
	known  bool
}

func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// check returns an error if a view breaks a rule that the request did not
// break. It is not safe for concurrent use.
func (l *legality) check(view []message.Message, sources []int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: its rules could not be asked: %w", ErrIllegal, &policy.PanicError{Stage: "rules", Value: r, Stack: debug.Stack()})
		}
	}()
	found := l.req.Check(view, sources)
	if len(found) == 0 {
		return nil
	}
	if !l.known {
		in := l.req.Messages()
		l.before, l.known = l.req.Check(in, identity(len(in))), true
	}
	fresh := wire.New(l.before, found)
	if len(fresh) == 0 {
		return nil
	}
	err = fmt.Errorf("%w (%s): %w", ErrIllegal, l.req.Format().Name(), fresh[0])
	if len(fresh) > 1 {
		err = fmt.Errorf("%w, and %d more", err, len(fresh)-1)
	}
	return err
}

var errOtherHistory = errors.New("compact: the history is not the messages of the request that WithRequest names")

// legal is what the engine asks; nil where nobody said which wire it is.
func (c *call) legal() func([]message.Message, []int) error {
	if c.rules == nil {
		return nil
	}
	return c.rules.check
}

// newLegality ties the rules of a request to a call.
func newLegality(req wire.Request, history []message.Message) (*legality, error) {
	if req == nil {
		return nil, nil
	}
	if len(req.Messages()) != len(history) {
		return nil, errOtherHistory
	}
	return &legality{req: req}, nil
}

// replayLegally leaves out the edits of earlier steps that break a rule of the
// provider here: they were made for another wire, or before the request said
// which one it is.
func (c *call) replayLegally() {
	if c.rules == nil || c.now.edits == 0 {
		return
	}
	err := c.rules.check(c.now.conv.Messages(), c.now.conv.Sources())
	if err == nil {
		return
	}
	c.now = c.s.replay(c.history, c.q.owner(), c.ep.engine.Pins, c.ep.forms(), c.rules.check)
	c.res.InvariantStatus = InvariantsFallback
	c.res.Warnings = append(c.res.Warnings, "edits of an earlier compaction were left out: "+c.m.redactor.Text(err.Error()).String())
	c.emitError("IllegalView", "replay without them", err)
}
