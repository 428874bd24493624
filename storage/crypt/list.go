package crypt

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/agentcompact/compact/storage"
)

// List implements [storage.Archive]. Sizes are sizes of the decrypted content. Objects
// of other programs are foreign.
func (a *Archive) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		l := lister{yield: yield}
		err := l.all(ctx, a.inner, prefix)
		if err == nil && !l.any && !prefix.IsZero() {
			if file, kerr := fileKey(prefix); kerr == nil { // prefix is not a folder
				err = l.all(ctx, a.inner, file)
			}
		}
		if !l.stopped {
			l.flush()
		}
		if err != nil && !l.stopped {
			yield(storage.Info{}, rewrap("list", prefix, err))
		}
	}
}

// lister joins the pieces of a log into one entry, and sorts entries by their keys. The
// order of keys differs slightly from the order of objects.
type lister struct {
	yield   func(storage.Info, error) bool
	held    []storage.Info // sorted; the last can be a log with more pieces to come
	any     bool
	stopped bool
}

func (l *lister) all(ctx context.Context, inner storage.Archive, prefix storage.Key) error {
	for info, err := range inner.List(ctx, prefix) {
		if err != nil {
			return err
		}
		if l.any = true; !l.take(info) {
			return nil
		}
	}
	return nil
}

// take adds an object, and returns false if the iteration must stop.
func (l *lister) take(info storage.Info) bool {
	k, _, piece, ok := parse(info.Key)
	if info.Foreign != "" || !ok {
		if info.Foreign == "" {
			info.Foreign = info.Key.String()
		}
		info.Key = storage.Key{}
		return l.give(info)
	}
	if !l.release(info.Key.String()) {
		return false
	}
	info.Key, info.Size = k, contentSize(info.Size)
	at, found := slices.BinarySearchFunc(l.held, info, func(x, y storage.Info) int { return strings.Compare(x.Key.String(), y.Key.String()) })
	if found && piece {
		log := &l.held[at]
		log.Size += info.Size
		if info.Modified.After(log.Modified) {
			log.Modified = info.Modified
		}
		return true
	}
	l.held = slices.Insert(l.held, at, info)
	return true
}

// release yields the held entries that sort before all entries still to come. Those come
// from objects with this name or later names.
func (l *lister) release(name string) bool {
	for len(l.held) > 0 && !mayPrecede(l.held[0].Key.String(), name) {
		info := l.held[0]
		l.held = l.held[1:]
		if !l.give(info) {
			return false
		}
	}
	return true
}

// lastOfLog is the suffix of the last possible piece of a log.
const lastOfLog = "/99999999999999999999" + suffix

// mayPrecede reports whether an object at or after name can belong to key, or to a
// prefix of key, which sorts before key.
func mayPrecede(key, name string) bool {
	for i := 0; i < min(len(key), len(name)) && key[i] == name[i]; i++ {
		if name[i+1:] <= lastOfLog {
			return true
		}
	}
	return false
}

func (l *lister) flush() {
	for _, info := range l.held {
		if !l.give(info) {
			return
		}
	}
	l.held = nil
}

func (l *lister) give(info storage.Info) bool {
	l.stopped = l.stopped || !l.yield(info, nil)
	return !l.stopped
}
