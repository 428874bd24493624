package record

import (
	"context"

	"github.com/agentcompact/compact/storage"
)

// checkRepeats compares the archive's copies of parts of logs with the logs.
func (v *verifier) checkRepeats(ctx context.Context) error {
	for name := range v.there {
		if !isLog(name) {
			continue
		}
		if err := v.checkRepeatsOf(ctx, name, child(v.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) checkRepeatsOf(ctx context.Context, name string, k storage.Key) error {
	r, ok := v.a.(storage.Repeater)
	if !ok {
		return nil
	}
	places, err := r.Unlike(ctx, k)
	for _, place := range places {
		v.problem(Changed, name, 0, "%s repeats a part of it, but with other content", place)
	}
	if err != nil {
		return v.unreadable(ctx, name, err)
	}
	return nil
}
