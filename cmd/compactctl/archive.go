package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

func newArchive(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "Read, verify and erase archived sessions",
		Long: `The archive holds, redacted, what compactions removed from transcripts. It is the
folder .compact/archive, or the folder or bucket (s3://BUCKET/PREFIX) that --archive or
the configuration names. The credentials of a bucket come from the environment, a
profile, web identity or the container.`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	for _, sub := range []*cobra.Command{
		newArchiveLs(a), newArchiveShow(a), newArchiveVerify(a), newArchiveRecall(a),
		newArchiveExport(a), newArchiveErase(a), newArchivePrune(a), newArchiveHold(a), newArchiveHeads(a), newArchiveAdd(a), newArchiveAccess(a), newArchiveFlush(a), newArchiveStats(a), newArchiveRekey(a),
		newArchiveSearch(a), newArchiveIndex(a), newArchiveScrub(a), newArchiveSubjects(a),
	} {
		a.addArchive(sub)
		cmd.AddCommand(sub)
	}
	cmd.AddCommand(newArchiveCopy(a), newArchiveIdentity(a)) // copy takes two archives and identity takes none, so they lack the flag --archive
	return cmd
}

// errNoArchive means that the archive's folder does not exist.
var errNoArchive = errors.New("there is no archive")

// openArchive opens the archive that flags and configuration name. It creates no
// archive.
func (a *app) openArchive(cmd *cobra.Command) (storage.Archive, compact.Config, error) {
	return a.openWith(cmd, configs.OpenArchive)
}

// readArchive is openArchive for commands that write nothing.
func (a *app) readArchive(cmd *cobra.Command) (storage.Archive, error) {
	archive, _, err := a.openWith(cmd, configs.OpenArchiveReadOnly)
	return archive, err
}

func (a *app) openWith(cmd *cobra.Command, open func(compact.StorageConfig) (storage.Archive, error)) (storage.Archive, compact.Config, error) {
	cfg, err := a.load(cmd, configs.KeysOptional())
	if err != nil {
		return nil, cfg, err
	}
	if missing(cfg.Storage) {
		return nil, cfg, fmt.Errorf("%w in %s", errNoArchive, cfg.Storage.Path)
	}
	if a.redactor, err = cfg.Redaction.Redactor(); err != nil {
		return nil, cfg, err
	}
	archive, err := open(cfg.Storage)
	if err != nil {
		return nil, cfg, &brokenArchive{err}
	}
	a.warnIfAway(archive)
	if a.keys, err = compact.KeysOf(cmd.Context(), cfg, archive); err != nil {
		return archive, cfg, &brokenArchive{err} // verify needs no keys
	}
	return archive, cfg, nil
}

// warnIfAway says that the bucket behind a spool did not answer. The spool then shows its
// own sessions, which could be taken for all.
func (a *app) warnIfAway(archive storage.Archive) {
	s, _, ok := configs.SpoolOf(archive)
	if !ok {
		return
	}
	if err := s.Unreachable(); err != nil {
		a.complain("compactctl", fmt.Sprintf("warning: %s did not answer, only the sessions in the spool %s can be read: %v", s.Location(storage.Key{}), s.Dir(), err))
	}
}

// openSession opens an existing session, by its id or by the name of its folder.
func openSession(ctx context.Context, archive storage.Archive, name string) (*record.Session, error) {
	return openAs(ctx, archive, name, record.OpenSession, record.OpenDir)
}

// openToRead is openSession for a command that only reads. It also opens a session
// whose scrub was interrupted.
func openToRead(ctx context.Context, archive storage.Archive, name string) (*record.Session, error) {
	return openAs(ctx, archive, name, record.OpenToRead, record.OpenDirToRead)
}

func openAs(ctx context.Context, archive storage.Archive, name string, ways ...func(context.Context, storage.Archive, string) (*record.Session, error)) (*record.Session, error) {
	for _, open := range ways {
		s, err := open(ctx, archive, name)
		if err != nil {
			if bad := new(storage.KeyError); errors.As(err, &bad) {
				continue // not the name of a folder
			}
			return nil, &brokenArchive{err}
		}
		for _, err := range s.Files(ctx) {
			if err != nil {
				return nil, &brokenArchive{err}
			}
			return s, nil
		}
	}
	if t, ok, err := record.Erased(ctx, archive, name); err == nil && ok {
		return nil, fmt.Errorf("session %q was erased at %s%s", name, stamp(t.At), byWhom(t.Who, t.Reason))
	}
	return nil, fmt.Errorf("there is no session %q in the archive; compactctl archive ls lists them", name)
}

// called returns the name of a session in the archive, the first of [app.lives].
func (a *app) called(ctx context.Context, archive storage.Archive, id string) string {
	lives, _ := a.lives(ctx, archive, id) // opening the session reports the error
	return lives[0]
}

// lives returns the names of a session in the archive, at least one. A session is
// stored under another name if the configured redaction finds a secret in its id, or if
// it began again after an erasure.
func (a *app) lives(ctx context.Context, archive storage.Archive, id string) ([]string, error) {
	name, before := a.names(id)
	lives, err := compact.Lives(ctx, archive, name, before...)
	if bad := new(storage.KeyError); errors.As(err, &bad) {
		err = nil // not the name of a session
	}
	if err != nil || len(lives) == 0 {
		return []string{name}, err
	}
	return lives, nil
}

// names returns the name under which a session is stored, and earlier names.
func (a *app) names(id string) (name string, before []string) {
	name = compact.KeyedName(a.redactor, a.keys, id).String()
	if name != id { // the name before the redactor found a secret in the id, and the name in version 1 of the format
		before = []string{id, compact.SessionName(a.redactor, id).String()}
	}
	return name, before
}

// erasable returns the names that lives returns, and the names under which an erase is
// not complete.
func (a *app) erasable(ctx context.Context, archive storage.Archive, id string) ([]string, error) {
	name, before := a.names(id)
	more, err := compact.Unended(ctx, archive, name, before...)
	if err != nil || len(more) == 0 {
		return a.lives(ctx, archive, id)
	}
	lives, err := compact.Lives(ctx, archive, name, before...)
	return append(lives, more...), err
}

// each calls the function do with each name under which the archive has a session.
func (a *app) each(cmd *cobra.Command, id string, do func(name string) error) error {
	return a.eachOf(cmd, id, a.lives, do)
}

// eachOf is each for the names that find returns.
func (a *app) eachOf(cmd *cobra.Command, id string, find func(context.Context, storage.Archive, string) ([]string, error), do func(name string) error) error {
	archive, err := a.readArchive(cmd)
	if err != nil {
		return err
	}
	names, err := find(cmd.Context(), archive, id)
	if err != nil {
		return &brokenArchive{err}
	}
	for _, name := range names {
		err = errors.Join(err, do(name))
	}
	return err
}

// inFolder returns an id, and adds the archive's name for the id if that name is
// different.
func inFolder(id, name string) string {
	if id == name {
		return oneLine(id)
	}
	return oneLine(id) + " (" + oneLine(name) + ")"
}

// stamp formats a time for people, in UTC with the zone, as in all events, pages and
// JSON.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// bytesOf formats a size for people.
func bytesOf(n int64) string {
	switch {
	case n < 10_000:
		return count(int(n)) + " B"
	case n < 10_000_000:
		return count(int((n+500)/1000)) + " kB"
	}
	return count(int((n+500_000)/1_000_000)) + " MB"
}
