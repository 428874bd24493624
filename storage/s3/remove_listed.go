package s3

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/agentcompact/compact/storage"
)

// maxListed limits the number of folders whose listing is kept. A forgotten one costs a
// request.
const maxListed = 16

// ListToRemove implements [storage.RemovalLister]. It lists versions, because an erase removes
// all of them.
func (a *Archive) ListToRemove(ctx context.Context, folder storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		shown := a.unchecked(folder)
		all, err := a.versions(ctx, a.root+folder.String()+"/", func(string) bool { return true })
		if err != nil {
			yield(storage.Info{}, storage.Wrap("list", folder, err))
			return
		}
		l := lister{yield: yield}
		for _, v := range all {
			o := object{strings.TrimPrefix(v.name, a.root), v.size, v.modified, v.etag}
			if v.hidden {
				continue
			}
			if shown.see(o); !l.add(o) {
				return
			}
		}
		a.checked(shown)
		a.keepListed(folder.String(), slices.DeleteFunc(all, func(v version) bool { return !a.isWritten(v.name) }))
		l.flush()
	}
}

// keepListed keeps a listing for the removal of the folder.
func (a *Archive) keepListed(folder string, all []version) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.listed == nil || len(a.listed) >= maxListed {
		a.listed = map[string][]version{}
	}
	a.listed[folder] = all
}

// toRemove returns the versions of all files in the folder of a log. A listing that was made
// for the removal is used once: if files are left, somebody has written since.
func (a *Archive) toRemove(ctx context.Context, log storage.Key) ([]version, error) {
	a.mu.Lock()
	all, ok := a.listed[log.Dir()]
	delete(a.listed, log.Dir())
	a.mu.Unlock()
	if ok {
		return all, nil
	}
	return a.inFolder(ctx, log)
}
