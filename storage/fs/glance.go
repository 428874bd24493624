package fs

import (
	"context"
	"errors"
	iofs "io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/agentcompact/compact/storage"
)

// indexFolder is the folder in the root of an index that can be rebuilt from the
// sessions. Archives don't write to it.
const indexFolder = "_index"

var (
	_ storage.Glancer     = (*Archive)(nil)
	_ storage.Glancer     = (*ReadOnly)(nil)
	_ storage.IndexHolder = (*Archive)(nil)
)

// settles is the minimum age of a folder's last change for its time to be
// unique, because the clocks of file systems are coarse.
const settles = 2 * time.Second

// Glance implements [storage.Glancer] by the modification times of the folders and
// the sizes of the logs.
func (a *Archive) Glance(ctx context.Context, logs func(folder string) []string) iter.Seq2[storage.Folder, error] {
	return func(yield func(storage.Folder, error) bool) {
		names, err := a.names(ctx)
		if err != nil {
			yield(storage.Folder{}, storage.Wrap("list", storage.Key{}, err))
			return
		}
		g := glance{a, logs, time.Now()}
		for _, f := range g.all(names) {
			if f.Name != "" && !yield(f, nil) {
				return
			}
		}
	}
}

// names returns the names in the root, without their types.
func (a *Archive) names(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := a.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return f.Readdirnames(-1)
}

// glance computes the stamps of folders.
type glance struct {
	a    *Archive
	logs func(folder string) []string
	now  time.Time
}

// all computes the stamps of folders on all processors, because most of the
// time is spent in system calls. An entry that is not a folder gets no name.
func (g *glance) all(names []string) []storage.Folder {
	out := make([]storage.Folder, len(names))
	workers := runtime.GOMAXPROCS(0)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < len(names); i += workers {
				out[i] = g.one(names[i])
			}
		})
	}
	all.Wait()
	return out
}

func (g *glance) one(name string) storage.Folder {
	path := filepath.Join(g.a.name, name)
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || name == tempFolder {
		return storage.Folder{}
	}
	if g.now.Sub(info.ModTime()) < settles {
		return storage.Folder{Name: name}
	}
	stamp := strconv.FormatInt(info.ModTime().UnixNano(), 36)
	for _, log := range g.logs(name) {
		if info, err := os.Lstat(filepath.Join(path, log)); err == nil {
			stamp += "," + strconv.FormatInt(info.Size(), 36)
		}
	}
	return storage.Folder{Name: name, Stamp: stamp}
}

// Glance implements [storage.Glancer].
func (r *ReadOnly) Glance(ctx context.Context, logs func(folder string) []string) iter.Seq2[storage.Folder, error] {
	return r.a.Glance(ctx, logs)
}

// DropIndex implements [storage.IndexHolder].
func (a *Archive) DropIndex(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return storage.Wrap("drop index", storage.Key{}, err)
	}
	if _, err := a.root.Lstat(indexFolder); errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	return storage.Wrap("drop index", storage.Key{}, a.root.RemoveAll(indexFolder))
}

// IndexFolder returns the folder for an index of the archive's text, beside the
// sessions. It may be missing.
func (a *Archive) IndexFolder() string { return filepath.Join(a.name, indexFolder) }

// IndexFolder is [Archive.IndexFolder].
func (r *ReadOnly) IndexFolder() string { return r.a.IndexFolder() }
