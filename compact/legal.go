package compact

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/policy"
)

// legality checks views against the rules of the request's provider.
type legality struct {
	req    wire.Request
	before []wire.Violation // violations of the original request
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
			err = fmt.Errorf("%w: its rules could not be checked: %w", ErrIllegal, &policy.PanicError{Stage: "rules", Value: r, Stack: debug.Stack()})
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

var errOtherHistory = errors.New("compact: the history does not match the messages of the request in WithRequest")

// newLegality returns the rules for the request of a call; nil without a
// request.
func newLegality(req wire.Request, history []message.Message) (*legality, error) {
	if req == nil {
		return nil, nil
	}
	if len(req.Messages()) != len(history) {
		return nil, errOtherHistory
	}
	return &legality{req: req}, nil
}
