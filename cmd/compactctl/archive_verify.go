package main

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// verifying holds the arguments of verify.
type verifying struct {
	head    string
	copies  []string // files with copies of heads
	public  string
	require bool
	keys    []ed25519.PublicKey
}

func newArchiveVerify(a *app) *cobra.Command {
	v := &verifying{}
	cmd := &cobra.Command{
		Use:   "verify [SESSION...]",
		Short: "Check that nothing is missing or changed",
		Long:  aboutArchiveVerify,
		RunE: func(cmd *cobra.Command, args []string) error {
			if v.head != "" && len(args) != 1 {
				return &usageError{fmt.Errorf("--head needs the SESSION that it belongs to")}
			}
			if err := v.readKeys(); err != nil {
				return err
			}
			archive, err := a.readArchive(cmd)
			if err != nil && archive == nil {
				return err
			}
			var names []string
			for _, id := range args {
				lives, err := a.lives(cmd.Context(), archive, id)
				if err != nil {
					return &brokenArchive{err}
				}
				if v.head != "" {
					lives = lives[:1]
				}
				names = append(names, lives...)
			}
			reports, err := a.verifyAll(cmd.Context(), archive, names, v)
			if err != nil {
				return err
			}
			return a.judge(reports, v.require)
		},
	}
	f := cmd.Flags()
	f.StringVar(&v.head, "head", "", "`HASH` of the manifest's last line, from a copy that was kept elsewhere")
	f.StringArrayVar(&v.copies, "heads", nil, "`FILE` with heads that were kept elsewhere; may be given more than once")
	f.StringVar(&v.public, "public", "", "public `KEY` of the signatures of heads, in base64; separate several with commas")
	f.BoolVar(&v.require, "require-proof", false, "exit with 6 when the end of a session is not proven")
	return cmd
}

const aboutArchiveVerify = `Verify reads every file of the named sessions, or of all sessions, and compares it with
the chained manifest. It names what was removed, added, changed, cut or reordered, and
then exits with 5. It also checks each message that a compaction removed: the bytes that
the ledger names exist, they are the bytes of that message, and the turn index leads to
them. Verify writes nothing. It reads every object of a bucket. If there is a spool, it
verifies the bucket and the disk.

The manifest alone cannot show that its own end was cut off, or that a whole session was
removed: heads show this. Each process that writes keeps a chain of heads beside the
sessions (_heads). Verify compares every session with all of them, and names sessions that
vanished, were rolled back or lost their hold. But whoever can write there can also
rewrite the heads. Therefore --heads FILE reads a copy that was kept elsewhere
(compactctl archive heads writes one), and with --public or COMPACT_HEADS_PUBLIC each line
must be signed. --head is the head of one session: the report (archived.manifest_head)
and the event of a compaction contain it, and "archive hold" prints it.

If no head covers the end of a session, the session is "not proven" instead of "ok".
--require-proof makes verify exit with 6 in that case.`

// readKeys finds the public keys that verify the signatures of heads: the keys of the
// flag, the keys of the environment, or the public part of the key that this machine
// signs with.
func (v *verifying) readKeys() (err error) {
	if text := cmp.Or(v.public, os.Getenv("COMPACT_HEADS_PUBLIC")); text != "" {
		if v.keys, err = record.HeadsPublic(text); err != nil {
			return &usageError{fmt.Errorf("--public or COMPACT_HEADS_PUBLIC: %w", err)}
		}
		return nil
	}
	if text := os.Getenv("COMPACT_HEADS_KEY"); text != "" {
		key, err := record.HeadsKey(text)
		if err != nil {
			return &usageError{fmt.Errorf("COMPACT_HEADS_KEY: %w", err)}
		}
		v.keys = []ed25519.PublicKey{publicOf(key)}
	}
	return nil
}

func publicOf(key ed25519.PrivateKey) ed25519.PublicKey {
	public, _ := key.Public().(ed25519.PublicKey) // the public key of an Ed25519 key always has this type
	return public
}

// book reads the heads of an archive, and the copies.
func (v *verifying) book(ctx context.Context, archive storage.Archive) (*record.HeadBook, error) {
	b, err := record.ReadHeads(ctx, archive, record.HeadsOptions{Public: v.keys})
	if err != nil {
		return nil, &brokenArchive{err}
	}
	for _, name := range v.copies {
		f, err := os.Open(name)
		if err != nil {
			return nil, &inputError{file: name, err: err}
		}
		err = b.Copy(ctx, f, name)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, &inputError{file: name, err: err}
		}
	}
	return b, nil
}

// verified is the report of one session.
type verified struct {
	Session string `json:"session"`
	OK      bool   `json:"ok"`
	record.Report
	beside bool // a log beside the sessions, or a missing session: there is no end to prove
}

func (v verified) proven() bool { return v.TailProven || v.beside }

// verifyAll verifies both parts of a spool: the bucket, and the disk, which may hold
// files that are not yet in the bucket.
func (a *app) verifyAll(ctx context.Context, archive storage.Archive, names []string, q *verifying) ([]verified, error) {
	s, over, ok := configs.SpoolOf(archive)
	if !ok {
		return a.verify(ctx, archive, names, q)
	}
	onDisk, err := s.Sessions()
	if err != nil {
		return nil, &brokenArchive{err}
	}
	var disk, bucket []string
	for _, dir := range onDisk {
		if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return n == dir || record.EscapeSession(n) == dir }) {
			disk = append(disk, dir)
		}
	}
	remote := over(s.Remote())
	for _, name := range names {
		if _, err := openSession(ctx, remote, name); err == nil || !slices.Contains(disk, record.EscapeSession(name)) && !slices.Contains(disk, name) {
			bucket = append(bucket, name)
		}
	}
	var all []verified
	if len(bucket) > 0 || len(names) == 0 {
		if all, err = a.verify(ctx, remote, bucket, q); err != nil {
			return nil, err
		}
	}
	if len(disk) == 0 {
		return all, nil
	}
	local, err := a.verify(ctx, archive, disk, q)
	for i := range local {
		if id, ok := record.UnescapeSession(local[i].Session); ok { // the name of a folder
			local[i].Session = id
		}
		local[i].Session += " (on the disk)"
	}
	return append(all, local...), err
}

// verify verifies sessions. It reads the heads first, so every session that it reads
// later has all files that the heads confirm.
func (a *app) verify(ctx context.Context, archive storage.Archive, names []string, q *verifying) ([]verified, error) {
	book, err := q.book(ctx, archive)
	if err != nil {
		return nil, err
	}
	vanished, err := book.Vanished(ctx, archive)
	if err != nil {
		return nil, &brokenArchive{err}
	}
	whole := len(names) == 0
	all, names := pick(vanished, names)
	var sessions []namedFolder
	if whole || len(names) > 0 {
		if sessions, err = sessionsOf(ctx, archive, names); err != nil {
			return nil, err
		}
	}
	defer a.progress.stop()
	for _, s := range sessions {
		a.progress.start("verifying " + s.name)
		r, err := record.VerifyDir(ctx, archive, s.dir, record.VerifyOptions{Head: q.head, Heads: book, Refs: recall.Refs, Edits: recall.EditRefs, Progress: a.progress.at})
		if errors.Is(err, storage.ErrNotExist) {
			if err = goneSince(ctx, archive, s, whole); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, &brokenArchive{err}
		}
		all = append(all, verified{s.name, r.OK(), r, false})
	}
	if whole {
		return verifyBeside(ctx, archive, book, all)
	}
	// Changed heads prove less about the named sessions. The report says so, unless copies
	// of the heads were given.
	if r := book.Report(); !r.OK() && len(q.copies) == 0 {
		all = append(all, verified{"(heads)", false, r, true})
	}
	return all, nil
}

// goneSince returns nil if a session was erased since all sessions were listed, and an error
// if it was asked for by name or if no erase is recorded.
func goneSince(ctx context.Context, archive storage.Archive, s namedFolder, listed bool) error {
	if _, ok, err := record.Erased(ctx, archive, s.name); listed && ok && err == nil {
		return nil
	}
	_, err := openSession(ctx, archive, s.name)
	return cmp.Or(err, error(&brokenArchive{&storage.Error{Op: "verify", Err: storage.ErrNotExist}}))
}

// pick returns the reports of missing sessions (of the named ones, or of all), and
// the names that are left.
func pick(vanished []record.Report, names []string) (all []verified, left []string) {
	left = slices.Clone(names)
	for _, r := range vanished {
		mine := func(name string) bool { return r.Of(name) || r.Of(record.EscapeSession(name)) }
		at := slices.IndexFunc(names, mine)
		if len(names) > 0 && at < 0 {
			continue
		}
		left = slices.DeleteFunc(left, mine)
		name, ok := record.UnescapeSession(r.Dir)
		if !ok {
			name = r.Dir // the hash of a name that nothing records any more
		}
		if at >= 0 {
			name = names[at]
		}
		all = append(all, verified{name, r.OK(), r, true})
	}
	return all, left
}

// verifyBeside verifies the records beside the sessions.
func verifyBeside(ctx context.Context, archive storage.Archive, book *record.HeadBook, all []verified) ([]verified, error) {
	if r := book.Report(); len(r.Files)+len(r.Problems) > 0 {
		all = append(all, verified{"(heads)", r.OK(), r, true})
	}
	reads, err := record.VerifyAccesses(ctx, archive)
	if err != nil {
		return nil, &brokenArchive{err}
	}
	if len(reads.Files)+len(reads.Problems) > 0 {
		all = append(all, verified{"(access records)", reads.OK(), reads, true})
	}
	for _, log := range []struct {
		name   string
		verify func(context.Context, storage.Archive) (record.Report, error)
	}{{"(erased sessions)", record.VerifyTombstones}, {"(keys)", record.VerifyKeys}} {
		r, err := log.verify(ctx, archive)
		if err != nil {
			return nil, &brokenArchive{err}
		}
		if len(r.Files) > 0 && log.name != "(keys)" || len(r.Problems) > 0 {
			all = append(all, verified{log.name, r.OK(), r, true})
		}
	}
	return all, nil
}

// namedFolder is the folder of a session, with its name in reports.
type namedFolder struct{ dir, name string }

// sessionsOf finds the named sessions, or all sessions if none is named. It opens only
// named sessions, so that the caller can report each unreadable manifest.
func sessionsOf(ctx context.Context, archive storage.Archive, names []string) ([]namedFolder, error) {
	var all []namedFolder
	for _, name := range names {
		s, err := openSession(ctx, archive, name)
		if err != nil {
			return nil, err
		}
		all = append(all, namedFolder{s.Key().String(), name})
	}
	if len(names) > 0 {
		return all, nil
	}
	for info, err := range record.Sessions(ctx, archive) {
		if err != nil {
			return nil, &brokenArchive{err}
		}
		all = append(all, namedFolder{info.Dir, cmp.Or(info.ID, info.Dir)})
	}
	return all, nil
}

// unproven is the error under --require-proof for an archive whose completeness is
// not proven.
type unproven struct{ sessions []string }

func (e *unproven) Error() string { return "not proven: " + strings.Join(e.sessions, ", ") }

// judge prints the result, and returns an error for a session with a problem or, with
// require, one whose end is not proven.
func (a *app) judge(all []verified, require bool) error {
	var bad, open []string
	for _, v := range all {
		switch {
		case !v.OK:
			bad = append(bad, v.Session)
		case !v.proven():
			open = append(open, v.Session)
		}
		if !a.json && (!a.quiet || !v.OK) {
			a.printVerified(v)
		}
	}
	if a.json {
		if err := a.printJSON(all); err != nil {
			return err
		}
	}
	switch {
	case len(bad) > 0:
		return &brokenArchive{fmt.Errorf("the stored data was changed: %s", strings.Join(bad, ", "))}
	case require && len(open) > 0:
		return &unproven{open}
	}
	return nil
}

// mostProblems limits the lines for one session; the first is the most telling.
const mostProblems = 10

func (a *app) printVerified(v verified) {
	verdict := a.style.green("ok")
	switch {
	case !v.OK:
		verdict = a.style.red("BROKEN")
	case !v.proven():
		verdict = a.style.yellow("not proven")
	}
	steps := things(v.Steps, "step") + ", "
	if strings.HasPrefix(v.Session, "(") { // a log beside the sessions
		steps = ""
	}
	fmt.Fprintf(a.out, "%s  %s: %s%s, %s\n", verdict, sessionName(v.Session), steps, things(len(v.Files), "file"), bytesOf(v.Bytes))
	for _, p := range v.Problems[:min(len(v.Problems), mostProblems)] {
		fmt.Fprintf(a.out, "    %s\n", a.style.red(oneLine(p.String())))
	}
	if more := len(v.Problems) - mostProblems; more > 0 {
		fmt.Fprintf(a.out, "    %s\n", a.style.red(fmt.Sprintf("… and %s more; --json has them all", things(more, "problem"))))
	}
	for _, n := range v.Notes {
		fmt.Fprintf(a.out, "    %s\n", a.style.dim(oneLine(n)))
	}
	if v.TailProven && v.OK {
		fmt.Fprintf(a.out, "    the end is proven by %s\n", proofs[v.Proof])
	}
}

// proofs describes the proof of a session's end in words.
var proofs = map[record.Proof]string{
	record.ProofHeads:  "the heads beside the sessions",
	record.ProofSigned: "the signed heads beside the sessions",
	record.ProofCopy:   "heads that were kept elsewhere",
	record.ProofHead:   "the given head",
}
