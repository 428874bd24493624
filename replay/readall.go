package replay

import (
	"errors"
	"fmt"

	"github.com/agentcompact/compact/token"
)

// ReadAll reads all sessions of a source that have a call to replay and the
// minimum size. The error joins the failures, and the flaws of sessions that are
// returned nevertheless.
func ReadAll(from Source, model string, least AtLeast) ([]*Session, error) {
	var all []*Session
	var bad []error
	counter, err := token.ForModel(model)
	if err != nil {
		return nil, err
	}
	count, err := token.NewEstimator(model, counter, nil)
	if err != nil {
		return nil, err
	}
	for {
		s, ok, err := from()
		switch {
		case !ok:
			return all, errors.Join(bad...)
		case err != nil:
			bad = append(bad, err)
		case len(s.Calls()) == 0:
			bad = append(bad, s.Flaw, fmt.Errorf("%s: it has no answer, so there is no call to replay", s.Name))
		case least.isMetBy(s, count):
			all = append(all, s)
			if s.Flaw != nil {
				bad = append(bad, s.Flaw)
			}
		}
	}
}
