package spool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/agentcompact/compact/storage"
)

// Open implements [storage.Archive]. It reads from the disk, or else from the
// remote archive.
func (s *Spool) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if err := storage.Begin(ctx, "open", k); err != nil {
		return nil, err
	}
	if belongsToNoSession(k) {
		r, err := s.remote.Open(ctx, k, off, n)
		return r, s.unreachable(k, err)
	}
	for {
		o, here, err := s.origin(k.Dir())
		switch {
		case err != nil:
			return nil, storage.Wrap("open", k, err)
		case !here:
			return s.openAway(ctx, k, off, n)
		}
		s.seen(k.Dir(), true)
		if o.has(k) {
			return s.remote.Open(ctx, k, off, n)
		}
		r, err := s.local.Open(ctx, k, off, n)
		if !errors.Is(err, storage.ErrNotExist) {
			return r, err
		}
		if _, still, serr := s.origin(k.Dir()); still || serr != nil {
			return nil, errors.Join(err, serr)
		} // evicted in the meantime
	}
}

// unreachable returns an error of the remote archive as [storage.ErrUnreachable], if the
// spool continues without the remote archive. An error that says that a key does not
// exist, or is damaged, is an answer and stays.
func (s *Spool) unreachable(k storage.Key, err error) error {
	if !s.opts.Blind || !belongsToNoSession(k) || errors.Is(err, storage.ErrNotExist) || errors.Is(err, storage.ErrDamaged) {
		return err
	}
	failed := (*storage.Error)(nil)
	if !errors.As(err, &failed) { // no error, or one of another kind
		return err
	}
	return &storage.Error{Op: failed.Op, Key: failed.Key, Err: fmt.Errorf("%w: %w", storage.ErrUnreachable, failed.Err)}
}

// openAway opens a key that is not on the disk.
func (s *Spool) openAway(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if !s.opts.Blind {
		return s.remote.Open(ctx, k, off, n)
	}
	isNew := s.isNew(k.Dir())
	found, err := s.ask(ctx, mustKey(k.Dir()), !isNew)
	if ctx.Err() != nil {
		return nil, storage.Wrap("open", k, ctx.Err())
	}
	if err != nil && !isNew {
		return nil, storage.Wrap("open", k, err)
	}
	if err != nil || len(found) == 0 {
		return nil, storage.Wrap("open", k, storage.ErrNotExist)
	}
	return s.remote.Open(ctx, k, off, n)
}

// List implements [storage.Archive]. It lists sessions on the disk from the
// disk, and others from the remote archive.
func (s *Spool) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(storage.Info{}, storage.Wrap("list", prefix, err))
			return
		}
		here, local, err := s.onDisk(ctx, prefix)
		if err != nil {
			yield(storage.Info{}, storage.Wrap("list", prefix, err))
			return
		}
		if prefix.IsZero() || !here[prefix.Dir()] {
			s.merge(ctx, prefix, here, local, yield)
			return
		}
		for _, info := range local {
			if !yield(info, nil) {
				return
			}
		}
	}
}

// onDisk returns the sessions on the disk, and their files, sorted.
func (s *Spool) onDisk(ctx context.Context, prefix storage.Key) (map[string]bool, []storage.Info, error) {
	here := map[string]bool{}
	var all []storage.Info
	for info, err := range s.local.List(ctx, prefix) {
		if err != nil {
			return nil, nil, err
		}
		all = append(all, info)
	}
	sessions := []string{prefix.Dir()}
	if prefix.IsZero() {
		var err error
		if sessions, err = s.sessions(); err != nil {
			return nil, nil, err
		}
	}
	for _, session := range sessions {
		o, ok, err := s.origin(session)
		if err != nil {
			return nil, nil, err
		}
		if here[session] = ok; !ok {
			continue
		}
		s.seen(session, true)
		for _, f := range o.files {
			if f.Key.Has(prefix) {
				all = append(all, f)
			}
		}
	}
	all = slices.DeleteFunc(all, func(i storage.Info) bool { return i.Foreign == "" && !here[i.Key.Dir()] })
	slices.SortStableFunc(all, func(x, y storage.Info) int { return strings.Compare(nameOf(x), nameOf(y)) })
	return here, all, nil
}

func nameOf(i storage.Info) string {
	if i.Foreign != "" {
		return i.Foreign
	}
	return i.Key.String()
}

// merge yields local, and the remote archive's files of other sessions.
func (s *Spool) merge(ctx context.Context, prefix storage.Key, here map[string]bool, local []storage.Info, yield func(storage.Info, error) bool) {
	next := func(before string, all bool) bool {
		for len(local) > 0 && (all || nameOf(local[0]) < before) {
			info := local[0]
			local = local[1:]
			if !yield(info, nil) {
				return false
			}
		}
		return true
	}
	if s.opts.Blind && !prefix.IsZero() && prefix.String()[0] != '_' { // the prefix names one session
		isNew := s.isNew(prefix.Dir())
		found, err := s.ask(ctx, prefix, !isNew)
		if err != nil && ctx.Err() == nil {
			if !isNew {
				yield(storage.Info{}, storage.Wrap("list", prefix, err))
			}
			return // not reachable: nothing is known about the session
		}
		if err == nil && len(found) == 0 {
			return
		}
	}
	for info, err := range s.remote.List(ctx, prefix) {
		if err != nil {
			if !s.opts.Blind { // for agents, only requests with a limit of their own count
				s.asked(err)
			}
			if next("", true) {
				yield(storage.Info{}, s.unreachable(prefix, err))
			}
			return
		}
		if info.Foreign == "" && here[info.Key.Dir()] {
			continue
		}
		if !next(nameOf(info), false) || !yield(info, nil) {
			return
		}
	}
	next("", true)
}
