package fs

import (
	"cmp"
	"context"
	"iter"
	"os"
	"slices"

	"github.com/agentcompact/compact/storage"
)

// List implements [storage.Archive].
func (a *Archive) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		w := walk{a: a, yield: yield}
		err := w.start(ctx, prefix.String())
		if err != nil && !w.stopped {
			yield(storage.Info{}, storage.Wrap("list", prefix, err))
		}
	}
}

type walk struct {
	a       *Archive
	yield   func(storage.Info, error) bool
	stopped bool
}

func (w *walk) start(ctx context.Context, prefix string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if prefix == "" {
		return w.folder(ctx, "")
	}
	if err := w.a.plainFolders(prefix); err != nil {
		return err
	}
	return w.entry(ctx, prefix)
}

// entry yields the file called name, or the files in the folder of that name.
func (w *walk) entry(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := w.a.root.Lstat(name)
	if isAbsent(err) {
		return nil // removed in the meantime
	}
	if err != nil {
		return err
	}
	key, err := storage.ParseKey(name)
	switch {
	case err == nil && info.IsDir():
		return w.folder(ctx, name)
	case err == nil && info.Mode().IsRegular():
		w.give(storage.Info{Key: key, Size: info.Size(), Modified: info.ModTime()})
	default:
		w.give(storage.Info{Foreign: name, Size: info.Size(), Modified: info.ModTime()})
	}
	return nil
}

func (w *walk) give(info storage.Info) {
	w.stopped = w.stopped || !w.yield(info, nil)
}

// folder walks a folder in the byte order of keys, in which a folder's name
// ends with a slash.
func (w *walk) folder(ctx context.Context, dir string) error {
	names, err := w.read(dir)
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if w.stopped {
			return nil
		}
		if err := w.entry(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) read(dir string) ([]string, error) {
	f, err := w.a.root.Open(cmp.Or(dir, "."))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(x, y os.DirEntry) int { return cmp.Compare(sortName(x), sortName(y)) })
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		switch {
		case dir != "":
			names = append(names, dir+"/"+e.Name())
		case e.Name() != tempFolder:
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func sortName(e os.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}
