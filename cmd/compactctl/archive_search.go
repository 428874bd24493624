package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/search"
	"github.com/agentcompact/compact/storage"
)

// searching holds the arguments of search.
type searching struct {
	search.Query
	since  string
	copied bool // the user accepts a plain copy of an encrypted archive
}

func newArchiveSearch(a *app) *cobra.Command {
	q := &searching{}
	cmd := &cobra.Command{
		Use:   "search QUERY…",
		Short: "Find words in all sessions",
		Long: `Search finds the messages and summaries that contain all words of the query, in all
sessions of the archive. The text is redacted. Capitals and accents make no difference.
"Words in quotes" must stand together; wor* matches words that begin with wor. Each match
shows its session, the time it was archived, its turn, its role and tool, and the line.

Search uses an index. The first search makes it, and each search updates it. The index of
an archive on disk is in the archive's folder _index; the index of another archive is in
the user's cache folder. It is a second copy of the text. Erase and prune remove sessions
from it.`,
		Example: `  compactctl archive search disk quota
  compactctl archive search '"connection refused"' --since 7d --tool bash
  compactctl archive search 'parse*' --session my-session --json`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.Since, err = sinceOf(q.since, time.Now()); err != nil {
				return err
			}
			if q.Most < 1 {
				return &usageError{errors.New("--limit must be at least 1")}
			}
			q.Words = strings.Join(phrases(args), " ")
			return a.searchAll(cmd, q)
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.Session, "session", "", "only the session with this `ID`")
	f.StringVar(&q.since, "since", "", "only text archived since a `TIME`: 2026-11-22, 2026-11-22T15:04:05Z, 36h or 7d")
	f.StringVar(&q.Agent, "agent", "", "only the sessions of the agent with this `NAME`")
	f.StringVar(&q.Model, "model", "", "only the sessions of agents that use the model with this `NAME`")
	f.StringVar(&q.Tool, "tool", "", "only calls of the tool with this `NAME`, and results that name it")
	f.StringVar(&q.Role, "role", "", "only messages of this `ROLE`: user, assistant, tool, summary, …")
	f.IntVar(&q.Most, "limit", 50, "print at most `N` matches")
	f.BoolVar(&q.copied, "plain-index", false, "allow an unencrypted index of an encrypted archive")
	return cmd
}

// phrases puts arguments with blanks into quotes, because the shell has removed the
// user's quotes.
func phrases(args []string) []string {
	out := slices.Clone(args)
	if len(args) < 2 {
		return out // one argument is the whole query
	}
	for i, arg := range out {
		if strings.ContainsAny(arg, " \t\n") && !strings.Contains(arg, `"`) {
			out[i] = `"` + arg + `"`
		}
	}
	return out
}

func (a *app) searchAll(cmd *cobra.Command, q *searching) error {
	archive, cfg, err := a.openWith(cmd, configs.OpenArchiveReadOnly)
	if err != nil {
		return err
	}
	if q.Session != "" {
		s, err := openSession(cmd.Context(), archive, a.called(cmd.Context(), archive, q.Session))
		if err != nil {
			return err
		}
		q.Session = s.Key().String()
	}
	x, err := a.indexOf(cmd, archive, q.copied)
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }()
	if err := a.indexed(cmd, x, nil); err != nil {
		return err
	}
	f, err := x.Search(cmd.Context(), q.Query)
	switch {
	case errors.Is(err, search.ErrNoWords):
		return &usageError{errors.New("the query has no word; a word has letters or digits")}
	case err != nil:
		return &brokenArchive{err}
	}
	if err := a.onRecord(cmd, cfg, &f, q); err != nil {
		return err
	}
	for _, u := range f.Unread {
		a.complain("compactctl", fmt.Sprintf("not searched in %s: %s; compactctl archive verify reports details", sessionName(u.Session), oneLine(u.Why)))
	}
	if a.json {
		return a.printJSON(f)
	}
	return a.printMatches(&f)
}

// onRecord records the search in each session with a shown match. A search without
// matches also reveals something, so it is recorded in the searched session, or for all
// sessions.
func (a *app) onRecord(cmd *cobra.Command, cfg compact.Config, f *search.Found, q *searching) error {
	if !cfg.Storage.AccessLog {
		return nil
	}
	var dirs []string
	for _, m := range f.Matches {
		if !slices.Contains(dirs, m.Folder) {
			dirs = append(dirs, m.Folder)
		}
	}
	if len(dirs) == 0 {
		dirs = []string{q.Session}
	}
	archive, err := configs.OpenArchive(cfg.Storage)
	if err != nil {
		return &brokenArchive{err}
	}
	return a.recorded(cmd, cfg, archive, dirs, "search", q.Words)
}

// printMatches writes each session once, with one line for each match below it.
func (a *app) printMatches(f *search.Found) error {
	var b strings.Builder
	last := ""
	for _, m := range f.Matches {
		if m.Folder != last {
			if last = m.Folder; b.Len() > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintln(&b, a.style.bold(sessionName(m.Session)))
		}
		about := []string{left("turn "+turnName(m.Turn), 9), left(oneLine(m.Role), 9)}
		if !m.At.IsZero() {
			about = append([]string{stamp(m.At)}, about...)
		}
		for _, more := range []string{m.Tool, m.Ref} {
			if more != "" {
				about = append(about, oneLine(more))
			}
		}
		fmt.Fprintf(&b, "  %s\n", a.style.dim(strings.Join(about, "  ")))
		for _, line := range wrap(oneLine(m.Text), a.columns()-4) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
		if m.Lines > 1 {
			fmt.Fprintf(&b, "    %s\n", a.style.dim(fmt.Sprintf("(and %s)", things(m.Lines-1, "other line"))))
		}
	}
	if _, err := io.WriteString(a.out, b.String()); err != nil {
		return err
	}
	note := ""
	switch {
	case len(f.Matches) == 0:
		note = "nothing found in " + things(f.Sessions, "session")
	case f.More:
		note = "there are more matches: raise --limit"
	}
	if note == "" || a.quiet {
		return nil
	}
	_, err := fmt.Fprintln(a.err, note)
	return err
}

func turnName(turn int) string {
	if turn == 0 {
		return "-"
	}
	return count(turn)
}

// errPlainIndex means that an index would hold the encrypted text in plain form.
var errPlainIndex = errors.New("the archive is encrypted, and an index would store its text unencrypted on this machine: add --plain-index to allow that, or search one session without an index: compactctl archive recall SESSION --grep RE")

// indexOf opens the index of an archive, and creates a missing one.
func (a *app) indexOf(cmd *cobra.Command, archive storage.Archive, copied bool) (*search.Index, error) {
	folder, err := search.Folder(archive)
	if err != nil {
		return nil, err
	}
	if encrypted(archive) && !copied {
		return nil, &usageError{errPlainIndex}
	}
	x, err := search.Open(cmd.Context(), archive, folder)
	if err != nil {
		return nil, &brokenArchive{err}
	}
	if encrypted(archive) {
		a.complain("compactctl", "the index stores text of the encrypted archive unencrypted: "+x.Path())
	}
	return x, nil
}

// encrypted reports whether an archive encrypts its text.
func encrypted(archive storage.Archive) bool {
	e, ok := archive.(interface{ Encrypted() bool })
	return ok && e.Encrypted()
}

// indexed updates an index.
func (a *app) indexed(cmd *cobra.Command, x *search.Index, to *search.Updated) error {
	a.progress.start("reading sessions")
	defer a.progress.stop()
	u, err := x.Update(cmd.Context(), func(done, total int) { a.progress.at(int64(done), int64(total)) })
	if err != nil {
		return &brokenArchive{err}
	}
	if to != nil {
		*to = u
	}
	return nil
}

// userIndexes holds this user's indexes of an archive on this machine. An index that
// can't be changed, for example on a full disk, is removed; the next search rebuilds it.
type userIndexes []*search.Index

// Forget implements [record.TextIndex].
func (f userIndexes) Forget(ctx context.Context, dirs ...string) error {
	var errs []error
	for i, x := range f {
		if x == nil {
			continue
		}
		err := x.Forget(ctx, dirs...)
		if err != nil && ctx.Err() == nil {
			f[i] = nil
			_ = x.Close() // an open file can't be removed on every system
			if err = search.Remove(filepath.Dir(x.Path())); err != nil {
				err = fmt.Errorf("the index in %s still holds the text, because it can be neither changed nor removed: %w", x.Path(), err)
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (f userIndexes) close() error {
	var errs []error
	for _, x := range f {
		if x != nil {
			errs = append(errs, closeOrRemove(x))
		}
	}
	return errors.Join(errs...)
}

func closeOrRemove(x *search.Index) error {
	if x.Close() == nil {
		return nil
	}
	return search.Remove(filepath.Dir(x.Path()))
}

// openIndexes opens the search indexes of an archive, from which erased sessions must be
// removed.
func (a *app) openIndexes(cmd *cobra.Command, archive storage.Archive) (userIndexes, error) {
	f := userIndexes{}
	for _, folder := range search.Existing(archive) {
		x, err := search.Open(cmd.Context(), archive, folder)
		switch {
		case err == nil:
			f = append(f, x)
		case search.Remove(folder) != nil:
			return nil, errors.Join(&brokenArchive{err}, f.close())
		}
	}
	return f, nil
}
