package s3

import (
	"context"
	"slices"

	"github.com/agentcompact/compact/storage"
)

// RemoveAllBut implements [storage.EndRemover] with a request for each 1,000 deleted objects,
// and one listing, unless ListToRemove has made it.
func (a *Archive) RemoveAllBut(ctx context.Context, keys []storage.Key, log storage.Key) error {
	return storage.Wrap("remove", log, a.removeAllBut(ctx, keys, log))
}

func (a *Archive) removeAllBut(ctx context.Context, keys []storage.Key, log storage.Key) error {
	if err := storage.Begin(ctx, "remove", log); err != nil {
		return err
	}
	if err := a.Try(ctx); err != nil {
		return err
	}
	names, elsewhere := map[string]bool{}, []storage.Key{}
	for _, k := range keys {
		if a.forget(k); k.Dir() != log.Dir() {
			elsewhere = append(elsewhere, k)
			continue
		}
		names[a.name(k)] = true
	}
	all, err := a.toRemove(ctx, log)
	if err != nil {
		return err
	}
	// Hidden versions are deleted as well: they belong to no file that a session can read,
	// and would otherwise stay forever.
	all = slices.DeleteFunc(all, func(v version) bool {
		of, _ := fileOf(v.name)
		return !names[of] && of != a.name(log) && !v.hidden
	})
	a.forgetRun(log) // a later append must not write the removed segments again
	versioned := slices.ContainsFunc(all, func(v version) bool { return v.id != "" && v.id != "null" })
	all = a.withoutEnd(all, log)
	for _, k := range elsewhere {
		if versioned || k.Base() == k.Dir() {
			if err := a.Remove(ctx, k); err != nil {
				return err
			}
			continue
		}
		all = append(all, version{name: a.name(k), unlisted: true})
	}
	return a.removeVersions(ctx, all)
}

// fileOf returns the name of the file or log that an object belongs to, and whether the
// object is a roll-up.
func fileOf(name string) (of string, repeats bool) {
	if log, repeats, ok := logOf(name); ok {
		return log, repeats
	}
	return name, false
}

// endOf returns the name of the last segment of a log, or "".
func (a *Archive) endOf(all []version, log storage.Key) (end string) {
	for _, v := range all {
		if of, repeats := fileOf(v.name); of == a.name(log) && !repeats {
			end = v.name
		}
	}
	return end
}

// withoutEnd returns all versions but those of the last segment of a log. The objects of
// the log are at the end, so that the first line of the log is deleted with the last
// request.
func (a *Archive) withoutEnd(all []version, log storage.Key) (files []version) {
	end := a.endOf(all, log)
	var front []version
	for _, v := range all {
		switch of, _ := fileOf(v.name); {
		case v.name == end:
		case of == a.name(log):
			front = append(front, v)
		default:
			files = append(files, v)
		}
	}
	return append(files, front...)
}

// RemoveEnd implements [storage.EndRemover] with a listing and a request. A writer of a
// roll-up finds that the log is gone as soon as the first segments are deleted, so the
// listing shows each roll-up that its writer does not remove.
func (a *Archive) RemoveEnd(ctx context.Context, log storage.Key) (others bool, err error) {
	if err := storage.Begin(ctx, "remove", log); err != nil {
		return false, err
	}
	others, err = a.removeEnd(ctx, log)
	return others, storage.Wrap("remove", log, err)
}

// isKnownEnd reports whether a segment is the last one that this process knows of a log, or
// the process knows none.
func (a *Archive) isKnownEnd(all []version, log storage.Key, end string) bool {
	t, ok := a.tail(log)
	return !ok || t.end() <= 0 || slices.ContainsFunc(all, func(v version) bool {
		return v.name == end && v.name == segmentName(a.name(log), t.start) && v.size == t.size
	})
}

func (a *Archive) removeEnd(ctx context.Context, log storage.Key) (others bool, err error) {
	all, err := a.inFolder(ctx, log)
	if err != nil {
		return false, err
	}
	end := a.endOf(all, log)
	if !a.isKnownEnd(all, log, end) {
		return false, storage.ErrSeq // another process has removed the log, or continues it
	}
	if slices.ContainsFunc(all, func(v version) bool { return v.name != end && !v.hidden }) {
		return true, nil
	}
	isEnd := func(v version) bool { return v.name == end }
	// The end is deleted after everything else, so that a failed removal can be repeated.
	for _, some := range [][]version{slices.DeleteFunc(slices.Clone(all), isEnd), slices.DeleteFunc(slices.Clone(all), func(v version) bool { return !isEnd(v) })} {
		if err := a.removeVersions(ctx, some); err != nil {
			return false, err
		}
	}
	a.forget(log)
	return false, nil
}

// inFolder returns the versions of all files in the folder of a key, without those that no
// archive wrote.
func (a *Archive) inFolder(ctx context.Context, k storage.Key) ([]version, error) {
	return a.versions(ctx, a.root+k.Dir()+"/", a.isWritten)
}

// isWritten reports whether an archive can have written an object of this name.
func (a *Archive) isWritten(name string) bool {
	of, _ := fileOf(name)
	_, err := storage.ParseKey(of[len(a.root):])
	return err == nil
}

// removeLeft deletes a version that a batch has left.
func (a *Archive) removeLeft(ctx context.Context, v version) error {
	if v.unlisted {
		return a.removeObjects(ctx, v.name, func(name string) bool { return name == v.name })
	}
	return a.removeVersion(ctx, v)
}
