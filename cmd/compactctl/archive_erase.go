package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

func newArchiveErase(a *app) *cobra.Command {
	x := &actor{}
	var yes bool
	cmd := &cobra.Command{
		Use:   "erase SESSION --yes",
		Short: "Remove a session for good",
		Long:  aboutArchiveErase,
		Args:  arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.eachOf(cmd, args[0], a.erasable, func(name string) error { return a.erase(cmd, args[0], name, x, yes) })
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "erase; required")
	x.flags(cmd, "the tombstone keeps")
	return cmd
}

// erase erases the session with this id that the archive has under name.
func (a *app) erase(cmd *cobra.Command, id, name string, x *actor, yes bool) error {
	s, why, send, err := a.changeBy(cmd, name, x, openErasable)
	if err != nil {
		return err
	}
	if !yes {
		return &usageError{fmt.Errorf("this removes %s for good; add --yes to confirm", s.Location())}
	}
	index, err := a.openIndexes(cmd, s.Archive())
	if err != nil {
		return err
	}
	s.KeepIndex(index)
	t, err := s.Erase(cmd.Context(), why)
	err = errors.Join(err, index.close())
	if errors.Is(err, spool.ErrConflict) {
		t, err = a.eraseConflict(cmd, name, x)
	}
	if err == nil {
		err = send()
	}
	if errors.Is(err, record.ErrHeld) {
		return underHold(name)
	}
	if err != nil {
		return &brokenArchive{err}
	}
	if a.json {
		return a.printJSON(t)
	}
	for _, what := range t.Left {
		a.complain("compactctl", "not removed: "+what)
	}
	return a.say("erased %s: %s, %s", inFolder(id, name), things(t.Files, "file"), bytesOf(t.Bytes))
}

// openErasable is openSession, and also opens a session without files whose erase is
// incomplete.
func openErasable(ctx context.Context, archive storage.Archive, name string) (*record.Session, error) {
	s, err := openSession(ctx, archive, name)
	if err == nil {
		return s, nil
	}
	if t, ok, terr := record.Erased(ctx, archive, name); terr != nil || !ok || t.Done {
		return nil, err
	}
	return record.OpenSession(ctx, archive, name)
}

const aboutArchiveErase = `Erase removes every file of a session and leaves a tombstone. The tombstone holds a hash
of the session's id, not the id. Erase also removes what was written under the same id
after an earlier erase.

Erase does not change a session under a legal hold or a lock of the bucket. It records
the refused request and the time until which the session is kept.

Erase also removes the session from the index of compactctl archive search. The index of
a bucket is in each user's cache folder: erase changes only yours. Other users' indexes
lose the session at their next search.`

// underHold returns the error for a session under a legal hold, with the command that ends
// the hold. It is not a brokenArchive, because the archive is intact.
func underHold(session string) error {
	return fmt.Errorf("%q is under a legal hold; compactctl archive hold %s --release ends it", session, quoted(session))
}

// eraseConflict erases a session if its part on the disk conflicts with its part in the
// bucket, and the disk therefore accepts no more writes. It erases the part on the disk
// first, and then the part in the bucket, if any.
func (a *app) eraseConflict(cmd *cobra.Command, name string, x *actor) (record.Tombstone, error) {
	s, _, _, err := a.change(cmd, name, x)
	if err != nil {
		return record.Tombstone{}, err
	}
	if hold, err := s.Held(cmd.Context()); hold.Held || err != nil {
		return record.Tombstone{}, errors.Join(err, record.ErrHeld)
	}
	sweeper, ok := s.Archive().(storage.Sweeper)
	if !ok {
		return record.Tombstone{}, spool.ErrConflict
	}
	if _, err := sweeper.Sweep(cmd.Context(), s.Key()); err != nil {
		return record.Tombstone{}, err
	}
	far, why, _, err := a.change(cmd, name, x)
	if err != nil { // the bucket has no such session: it was erased there
		a.complain("compactctl", "the part that was on the disk is removed; "+err.Error())
		return record.Tombstone{Done: true}, nil
	}
	return far.Erase(cmd.Context(), why)
}

// unfinished returns the error of a command that an interrupted erase or scrub of the session
// stops, with the command that completes it.
func unfinished(s *record.Session, err error) error {
	name, ok := record.UnescapeSession(s.Key().String())
	if !ok {
		name = s.Key().String()
	}
	switch {
	case errors.Is(err, record.ErrErased):
		err = fmt.Errorf("%w; compactctl archive erase %s --yes completes an interrupted erase", err, quoted(name))
	case errors.Is(err, record.ErrUnplaced):
		err = fmt.Errorf("%w; compactctl archive scrub %s with --yes completes an interrupted scrub", err, quoted(name))
	}
	return &brokenArchive{err}
}
