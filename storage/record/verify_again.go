package record

import (
	"context"

	"github.com/agentcompact/compact/storage"
)

// verifyAttempts limits how often a verification starts over because the session was
// scrubbed or erased while it was read. Each time means another scrub or erase.
const verifyAttempts = 8

// verifyAgain verifies until no scrub or erase can be the reason for a problem: a file
// that a process puts in place is missing for a moment, and has another hash after it.
func verifyAgain(ctx context.Context, a storage.Archive, dir storage.Key, opts VerifyOptions) (Report, error) {
	manifest, others := newChain(a, child(dir, manifestName), true), &turn{}
	for attempt := 1; ; attempt++ {
		before, _ := manifest.refresh(ctx) // an error shows when the manifest is checked
		r, err := verifyOnce(ctx, a, dir, opts, before.facts)
		if err != nil || r.OK() {
			return r, err
		}
		overtaken, err := others.overtook(ctx, manifest, before)
		if err != nil || !overtaken {
			return r, err
		}
		if attempt == verifyAttempts {
			r.Notes = append(r.Notes, "each time it was read somebody scrubbed it meanwhile, which can be why there are problems: verify it again")
			return r, nil
		}
	}
}

// overtook reports whether a process scrubbed or erased the session since before. It
// waits for one that is doing so, up to its lease.
func (t *turn) overtook(ctx context.Context, manifest *chain, before tail) (bool, error) {
	for waited := false; ; waited = true {
		if err := manifest.reset(ctx); err != nil { // its file can be another one
			return false, err
		}
		now, err := manifest.refresh(ctx)
		if cerr := ctx.Err(); cerr != nil {
			return false, &storage.Error{Op: "verify", Key: manifest.key, Err: cerr}
		}
		if err != nil {
			return false, nil // the report says so
		}
		if now.first != before.first {
			return true, nil
		}
		by, busy := now.facts.remover()
		if !busy || t.over(by) {
			was, wasBusy := before.facts.remover()
			return waited || busy != wasBusy || by != was || now.facts.scrubs != before.facts.scrubs, nil
		}
		if err := by.wait(ctx); err != nil {
			return false, &storage.Error{Op: "verify", Key: manifest.key, Err: err}
		}
	}
}

// remover returns the process that replaces or removes files, if any.
func (f facts) remover() (holder, bool) {
	switch {
	case f.erasing:
		return f.eraser, true
	case f.scrub != nil:
		return f.scrub.holder, true
	}
	return holder{}, false
}
