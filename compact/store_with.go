package compact

import (
	"cmp"
	"context"
	"errors"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// maxWithStep is the maximum size in bytes of a transcript that is stored with its step,
// because other agents of the session wait for the next number in the meantime.
const maxWithStep = 256 << 10

// canStoreWithStep lays out the transcript, and reports whether it can be stored with its
// step: it must not be stored yet, and must be small. Storing both together saves a round
// trip to the archive.
func (r *run) canStoreWithStep(ctx context.Context) bool {
	c := r.c
	if c.q.dry || c.lane.shelf.holds(c.history) {
		return false
	}
	return r.layOut(ctx) == nil && r.content.Size() <= maxWithStep
}

// isUnstored reports whether the transcript will be stored with the step and is not stored
// yet.
func (r *run) isUnstored() bool {
	if !r.withStep {
		return false
	}
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// storeNow stores a deferred transcript whose step is not stored in the archive.
func (r *run) storeNow(ctx context.Context) error {
	if !r.isUnstored() {
		return nil
	}
	r.withStep = false
	r.begin(ctx, nil)
	select {
	case <-r.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	return r.archiving(ctx)
}

// transcript returns the draft of a deferred transcript. Its outcome is recorded as
// for any transcript.
func (r *run) transcript(ctx context.Context) (record.Draft, error) {
	r.began, r.transcriptStored = r.c.m.now(), make(chan error, 1)
	return r.c.s.log.TranscriptDraft(r.content, func(w record.Written, err error) {
		if !errors.Is(err, storage.ErrExists) { // an unannounced file has this name: the draft gets another one
			r.recordTranscript(ctx, w, err)
		}
		r.transcriptStored <- err
	})
}

// recordTranscript records the outcome of a deferred transcript.
func (r *run) recordTranscript(ctx context.Context, w record.Written, err error) {
	defer r.finish()
	defer r.c.m.rescue("the archive", &r.err)
	if r.err = err; err == nil {
		r.written = w
	}
	r.shelve()
	r.wrote(ctx, len(r.c.history))
}

// awaitTranscript waits for a deferred transcript, and records its outcome in the call.
func (r *run) awaitTranscript(ctx context.Context) error {
	select {
	case err := <-r.transcriptStored:
		if err = cmp.Or(err, r.err); err != nil {
			return err
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	r.c.res.Timing.Archive = r.took
	r.c.tellStored(r.archived)
	return nil
}
