package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage"
)

func newArchiveVerify(a *app) *cobra.Command {
	var head string
	cmd := &cobra.Command{
		Use:   "verify [SESSION...]",
		Short: "Prove that nothing is missing or changed",
		Long: `Verify reads every file of the sessions (all of them, if none is named), holds it
against the chained manifest, and names what was removed, added, changed, cut or
reordered; then it exits with 5.

That the end of a manifest was cut off can only be seen with a head that was kept
elsewhere: --head, as the report of a compaction and its event say it.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if head != "" && len(args) != 1 {
				return &usageError{fmt.Errorf("--head belongs to one session; name it")}
			}
			archive, _, err := a.openArchive(cmd)
			if err != nil {
				return err
			}
			reports, err := a.verify(cmd.Context(), archive, args, head)
			if err != nil {
				return err
			}
			return a.judge(reports, head)
		},
	}
	cmd.Flags().StringVar(&head, "head", "", "`HASH` of the manifest's last line, as it was kept elsewhere")
	return cmd
}

// verified is the report of one session.
type verified struct {
	Session string `json:"session"`
	OK      bool   `json:"ok"`
	storage.Report
}

func (a *app) verify(ctx context.Context, archive storage.Archive, names []string, head string) ([]verified, error) {
	sessions, err := sessionsOf(ctx, archive, names)
	if err != nil {
		return nil, err
	}
	defer a.progress.stop()
	all := []verified{}
	for _, s := range sessions {
		a.progress.start("verifying " + s.name)
		r, err := s.Verify(ctx, storage.VerifyOptions{Head: head, Progress: a.progress.at})
		if err != nil {
			return nil, &brokenArchive{err}
		}
		all = append(all, verified{s.name, r.OK(), r})
	}
	if len(names) > 0 {
		return all, nil
	}
	graves, err := storage.VerifyTombstones(ctx, archive)
	if err != nil {
		return nil, &brokenArchive{err}
	}
	if len(graves.Files) > 0 || len(graves.Problems) > 0 {
		all = append(all, verified{"(erased sessions)", graves.OK(), graves})
	}
	return all, nil
}

// named is a session with the name it goes by.
type named struct {
	*storage.Session
	name string
}

// sessionsOf opens the named sessions, or all.
func sessionsOf(ctx context.Context, archive storage.Archive, names []string) ([]named, error) {
	var all []named
	for _, name := range names {
		s, err := openSession(ctx, archive, name)
		if err != nil {
			return nil, err
		}
		all = append(all, named{s, name})
	}
	if len(names) > 0 {
		return all, nil
	}
	for info, err := range storage.Sessions(ctx, archive) {
		if err != nil {
			return nil, &brokenArchive{err}
		}
		s, err := storage.OpenDir(ctx, archive, info.Dir)
		if err != nil {
			return nil, &brokenArchive{err}
		}
		name := info.ID
		if name == "" {
			name = info.Dir
		}
		all = append(all, named{s, name})
	}
	return all, nil
}

// judge says what was found; a session with a problem is an error.
func (a *app) judge(all []verified, head string) error {
	var bad []string
	for _, v := range all {
		if !v.OK {
			bad = append(bad, v.Session)
		}
		if !a.json && (!a.quiet || !v.OK) {
			a.printVerified(v, head)
		}
	}
	if a.json {
		if err := a.printJSON(all); err != nil {
			return err
		}
	}
	if len(bad) > 0 {
		return &brokenArchive{fmt.Errorf("not what was stored: %s", strings.Join(bad, ", "))}
	}
	return nil
}

func (a *app) printVerified(v verified, head string) {
	verdict := a.style.green("ok")
	if !v.OK {
		verdict = a.style.red("BROKEN")
	}
	fmt.Fprintf(a.out, "%s  %s: %s, %s, %s\n", verdict, oneLine(v.Session), things(v.Steps, "step"), things(len(v.Files), "file"), bytesOf(v.Bytes))
	for _, p := range v.Problems {
		fmt.Fprintf(a.out, "    %s\n", a.style.red(oneLine(p.String())))
	}
	for _, n := range v.Notes {
		fmt.Fprintf(a.out, "    %s\n", a.style.dim(oneLine(n)))
	}
	if head != "" && v.OK {
		fmt.Fprintf(a.out, "    the end is proven by %s\n", head)
	}
}
