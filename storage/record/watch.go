package record

import (
	"context"

	"github.com/agentcompact/compact/storage"
)

// watch tells a reader of a session whether a scrub or an erase replaced or removed files
// in the meantime. Scrub and erase are recorded in the manifest before they change a
// file.
type watch struct {
	manifest *chain
	others   turn
	before   tail // state at look
	after    tail // state at overtaken
}

func watchOver(a storage.Archive, dir storage.Key) *watch {
	return &watch{manifest: newChain(a, child(dir, manifestName), true)}
}

// look begins to watch. It returns the content of the manifest, or nothing if the manifest
// can't be read: the reader of the session gets that error itself.
func (w *watch) look(ctx context.Context) tail {
	w.before = tail{}
	if t, ok := w.now(ctx); ok {
		w.before = t
	}
	return w.before
}

// now reads the manifest from its beginning, because its file may have been replaced.
func (w *watch) now(ctx context.Context) (tail, bool) {
	if w.manifest.reset(ctx) != nil {
		return tail{}, false
	}
	t, err := w.manifest.refresh(ctx)
	return t, err == nil
}

// overtaken reports whether files were replaced or removed since look. If a process is
// still doing so, overtaken waits until the process has finished or its lease is over.
func (w *watch) overtaken(ctx context.Context) (bool, error) {
	for waited := false; ; waited = true {
		now, ok := w.now(ctx)
		if err := ctx.Err(); err != nil {
			return false, &storage.Error{Op: "read", Key: w.manifest.key, Err: err}
		}
		if !ok {
			return false, nil
		}
		if w.after = now; w.differs(now) {
			return true, nil
		}
		by, busy := now.facts.remover()
		if !busy || w.others.over(by) {
			return waited, nil
		}
		if err := by.wait(ctx); err != nil {
			return false, &storage.Error{Op: "read", Key: w.manifest.key, Err: err}
		}
	}
}

// reason returns [ErrErased], or [ErrScrubbed] if the session still exists.
func (w *watch) reason() error {
	if w.after.first != w.before.first || w.after.facts.erasing {
		return ErrErased
	}
	return ErrScrubbed
}

// unchanged reports whether no file was replaced or removed until now. It reads only new lines
// of the manifest.
func (w *watch) unchanged(ctx context.Context) bool {
	t, err := w.manifest.refresh(ctx)
	return err != nil || !w.differs(t)
}

// quiet is look at a time when no scrub is running. Like overtaken, it waits for a running
// one.
func (w *watch) quiet(ctx context.Context) (tail, error) {
	for {
		t := w.look(ctx)
		if t.facts.scrub == nil || w.others.over(t.facts.scrub.holder) {
			return t, nil
		}
		if err := t.facts.scrub.wait(ctx); err != nil {
			return tail{}, &storage.Error{Op: "read", Key: w.manifest.key, Err: err}
		}
	}
}

// differs reports whether the manifest records a scrub or an erase that it did not record
// before.
func (w *watch) differs(now tail) bool {
	by, busy := now.facts.remover()
	was, wasBusy := w.before.facts.remover()
	return now.first != w.before.first || now.facts.scrubs != w.before.facts.scrubs || busy != wasBusy || !by.is(was)
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
