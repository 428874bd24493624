package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/spool"
)

func newArchiveVerify(a *app) *cobra.Command {
	var head string
	cmd := &cobra.Command{
		Use:   "verify [SESSION...]",
		Short: "Prove that nothing is missing or changed",
		Long: `Verify reads every file of the sessions (all of them, if none is named), holds it
against the chained manifest, and names what was removed, added, changed, cut or
reordered; then it exits with 5. It proves that each message that a compaction took
out is found again: that the bytes which the ledger names are there, are those of that
message, and are what the turn index leads to. It writes nothing. In a bucket it
reads every object back; where there is a spool it proves what the bucket has, and what
the disk has.

That the end of a manifest was cut off can only be seen with a head that was kept
elsewhere: --head, as the report of a compaction (archived.manifest_head) and its event
say it. Lines that were added since are no mistake; verify says how many it cannot prove.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if head != "" && len(args) != 1 {
				return &usageError{fmt.Errorf("--head belongs to one session; name it")}
			}
			archive, err := a.readArchive(cmd)
			if err != nil {
				return err
			}
			for i := range args {
				args[i] = a.called(cmd.Context(), archive, args[i])
			}
			reports, err := a.verifyAll(cmd.Context(), archive, args, head)
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

// verifyAll proves both of a spool: what the bucket has, and what the disk has,
// some of which may not be in the bucket yet.
func (a *app) verifyAll(ctx context.Context, archive storage.Archive, names []string, head string) ([]verified, error) {
	s, ok := archive.(*spool.Spool)
	if !ok {
		return a.verify(ctx, archive, names, head)
	}
	onDisk, err := s.Sessions()
	if err != nil {
		return nil, &brokenArchive{err}
	}
	var disk, bucket []string
	for _, dir := range onDisk {
		if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return n == dir || storage.EscapeSession(n) == dir }) {
			disk = append(disk, dir)
		}
	}
	for _, name := range names {
		if _, err := openSession(ctx, s.Remote(), name); err == nil || !slices.Contains(disk, storage.EscapeSession(name)) && !slices.Contains(disk, name) {
			bucket = append(bucket, name)
		}
	}
	var all []verified
	if len(bucket) > 0 || len(names) == 0 {
		if all, err = a.verify(ctx, s.Remote(), bucket, head); err != nil {
			return nil, err
		}
	}
	if len(disk) == 0 {
		return all, nil
	}
	local, err := a.verify(ctx, s, disk, head)
	for i := range local {
		local[i].Session += " (on the disk)"
	}
	return append(all, local...), err
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
		r, err := s.Verify(ctx, storage.VerifyOptions{Head: head, Refs: compact.Refs, Edits: compact.EditRefs, Progress: a.progress.at})
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
	if v.TailProven && v.OK {
		fmt.Fprintf(a.out, "    the end is proven by %s\n", head)
	}
}
