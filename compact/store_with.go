package compact

import (
	"cmp"
	"context"
	"errors"
	"path"

	"github.com/agentcompact/compact/storage"
)

// maxWithStep bounds what is stored with its step, in bytes: other agents of the session
// wait meanwhile for the next number.
const maxWithStep = 256 << 10

// canStoreWithStep lays the transcript out, and reports whether it may be stored with its step:
// nothing was stored beside a model that thinks, and it is small, as it refers to what is
// stored already. It is announced with the step then, which spares a round to the archive.
func (r *run) canStoreWithStep(ctx context.Context) bool {
	c := r.c
	if c.q.dry || c.lane.shelf.holds(c.history) {
		return false
	}
	return r.layOut(ctx) == nil && r.content.Size() <= maxWithStep
}

// isUnstored reports whether the transcript is to be stored with the step, and is not yet.
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

// storeNow stores what was put off: its step does not come to be, or not in the archive.
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

// transcript returns the draft of what was put off. The run hears of it what it would
// have heard of a transcript that was stored before.
func (r *run) transcript(ctx context.Context) (storage.Draft, error) {
	r.began, r.transcriptStored = r.c.m.now(), make(chan error, 1)
	return r.c.s.log.TranscriptDraft(r.content, func(w storage.Written, err error) {
		if !errors.Is(err, storage.ErrExists) { // a file of its name that nobody has announced: it gets another one
			r.recordTranscript(ctx, w, err)
		}
		r.transcriptStored <- err
	})
}

// recordTranscript takes in what came of a transcript that was put off.
func (r *run) recordTranscript(ctx context.Context, w storage.Written, err error) {
	defer r.finish()
	defer r.c.m.rescue("the archive", &r.err)
	if r.err = err; err == nil {
		r.written = w
	}
	r.shelve()
	r.wrote(ctx, len(r.c.history))
}

// awaitTranscript waits for a transcript that is stored beside, and takes into the call what
// came of it.
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
	r.c.hold(r.archived)
	return nil
}

// setName says what the transcript is stored as, unless somebody takes that name first.
func (r *run) setName(name string) {
	r.name, r.stored = name, r.stored.as(r.name, name)
}

// archive is the file that the run has written, or is writing.
func (r *run) archive() string {
	if r.written.Key.String() == "" && r.withStep {
		return r.name
	}
	return path.Base(r.written.Key.String())
}
