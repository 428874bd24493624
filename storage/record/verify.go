package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/turnindex"
)

// VerifyOptions configures [Verify]. The zero value is valid.
type VerifyOptions struct {
	// Head is a manifest head that was stored outside of the archive
	// ([Session.ManifestHead]). Without it a missing end of the manifest cannot be
	// detected.
	Head string

	// Heads, if not nil, holds the heads beside the sessions, or a copy of these heads.
	// Read it before the session ([ReadHeads]).
	Heads *HeadBook

	// Refs returns the pieces that a ledger refers to; each must be present. nil
	// means that the contents of ledgers are not checked.
	Refs func(l Ledger) ([]Ref, error)

	// Edits returns the references in a line of edits.jsonl to the originals before
	// it, in order, with SHA256 and ID. It returns false for a line that is an
	// original. nil means that the lines are not checked.
	Edits func(line []byte) (refs []Ref, ok bool, err error)

	// Progress, if not nil, is called from one goroutine with the number of bytes read and
	// the total. Both counts start at zero if the session is read again.
	Progress func(done, total int64)
}

// A Ref is a piece of a file that a ledger refers to.
type Ref struct {
	File   string // its name in the session's folder
	Off    int64  // bytes
	Len    int64  // bytes
	SHA256 string // of the piece, in lower-case hex; "" is not compared

	// ID is the expected fingerprint, in lower-case hex, in the piece; "" is
	// not compared.
	ID string
	// Index is the turn index that must map ID to the piece; "" is not checked.
	Index string
}

// A ProblemKind is the kind of a problem with a file or a line.
type ProblemKind string

// The kinds of problems. If several fit, the kind with the fewest changes is used: a
// changed line could also be a removed and an added one.
const (
	Removed    ProblemKind = "removed"
	Added      ProblemKind = "added"
	Changed    ProblemKind = "changed"
	Truncated  ProblemKind = "truncated"
	Reordered  ProblemKind = "reordered"
	Unreadable ProblemKind = "unreadable"
)

// A Problem is a difference between the stored and the present data.
type Problem struct {
	Kind   ProblemKind `json:"kind"`
	File   string      `json:"file"`           // name in the session's folder
	Line   int         `json:"line,omitempty"` // line of a log, from 1; 0 = the whole file
	Detail string      `json:"detail"`
}

// String returns one line.
func (p Problem) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s: line %d: %s: %s", p.File, p.Line, p.Kind, p.Detail)
	}
	return fmt.Sprintf("%s: %s: %s", p.File, p.Kind, p.Detail)
}

// A FileState is the role of a file in its session.
type FileState string

// The states of files.
const (
	StateStored    FileState = "stored"    // belongs to a committed step, or is a final transcript
	StateAbandoned FileState = "abandoned" // left by a crash or a lost race; whole, and not used
	StateLog       FileState = "log"       // appended to
	StateUnknown   FileState = "unknown"   // not written by any session
)

// A FileReport describes one present file.
type FileReport struct {
	Name  string    `json:"name"`
	Bytes int64     `json:"bytes"`
	State FileState `json:"state"`
}

// A Report is the result of [Verify].
type Report struct {
	Dir      string       `json:"dir"`                // the session's folder
	Version  int          `json:"version,omitempty"`  // format version of the session; 0 = unknown
	Steps    int          `json:"steps"`              // committed
	Files    []FileReport `json:"files"`              // in the order of their names
	Bytes    int64        `json:"bytes"`              // of all files
	Problems []Problem    `json:"problems,omitempty"` // empty = the present data equals the stored data
	Notes    []string     `json:"notes,omitempty"`    // observations that are not problems
	Head     string       `json:"head,omitempty"`     // hash of the manifest's last line

	// TailProven reports whether VerifyOptions.Head or Heads confirm the end of the
	// manifest. If it is false, steps at the end may have been removed without a
	// trace.
	TailProven bool `json:"tail_proven"`
	// Newer is the number of lines of the manifest after the last known head. Lines after
	// these may have been cut off.
	Newer int `json:"newer,omitempty"`
	// Proof is the strongest proof of the end, or of the part before Newer.
	Proof Proof `json:"proof,omitempty"`
}

// OK reports whether there is no problem.
func (r Report) OK() bool { return len(r.Problems) == 0 }

// Abandoned returns the names of the files that a crash or a lost race left.
func (r Report) Abandoned() []string {
	var out []string
	for _, f := range r.Files {
		if f.State == StateAbandoned {
			out = append(out, f.Name)
		}
	}
	return out
}

// Verify reads everything that a session stored and compares it with its manifest.
// For a session without files the error is [storage.ErrNotExist]. Other errors mean
// that the archive cannot be read; problems of the session are in the Report.
//
// Other processes may write to the session at the same time. If the session is scrubbed
// or erased in the meantime, Verify waits for the end of the scrub or erase, up to the
// lease of a process that died (20 seconds by default), and reads the session again
// before it reports a problem.
func Verify(ctx context.Context, a storage.Archive, session string, opts VerifyOptions) (Report, error) {
	dir, err := Prefix(session)
	if err != nil {
		return Report{}, err
	}
	return verifyAgain(storage.ReadFirsthand(ctx), a, dir, opts)
}

// VerifyDir is [Verify] for the name of a folder from [SessionInfo]. Unlike [OpenDir] it
// accepts a folder whose manifest can't be read, and reports that.
func VerifyDir(ctx context.Context, a storage.Archive, dir string, opts VerifyOptions) (Report, error) {
	if !IsFolder(dir) {
		return Report{}, &storage.KeyError{Text: dir, Reason: "it is not the folder of a session"}
	}
	return verifyAgain(storage.ReadFirsthand(ctx), a, keyOf(dir), opts)
}

// Verify verifies this session; see the function [Verify].
func (s *Session) Verify(ctx context.Context, opts VerifyOptions) (Report, error) {
	return verifyAgain(storage.ReadFirsthand(ctx), s.a, s.dir, opts)
}

// verifyOnce reads the session once. known holds the facts of an earlier read of its
// manifest.
func verifyOnce(ctx context.Context, a storage.Archive, dir storage.Key, opts VerifyOptions, known facts) (Report, error) {
	v := &verifier{a: a, dir: dir, opts: opts, report: Report{Dir: dir.String()}, there: map[string]int64{}, tables: map[string]*turnindex.Table{}, stretches: map[string][]Stretch{}}
	if h := halfScrubbed(ctx, a, dir, known.scrub); h != nil {
		v.a = h
		v.note("a scrub was interrupted while it replaced files: run scrub again, or let the next writer of the session finish it; the files were verified as the finished scrub leaves them")
	}
	// In this order, a file that is created in the meantime never seems unannounced.
	for _, do := range []func(context.Context) error{v.list, v.readManifest, v.checkLogs, v.checkRepeats, v.checkFiles, v.checkSteps, v.checkIndexes, v.checkRefs} {
		if err := do(ctx); err != nil {
			return Report{}, err
		}
	}
	v.checkHead()
	v.checkVersion()
	slices.SortStableFunc(v.report.Problems, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
	})
	return v.report, nil
}

type verifier struct {
	a      storage.Archive
	dir    storage.Key
	opts   VerifyOptions
	report Report

	total, read int64
	there       map[string]int64 // name → bytes, for all files except foreign ones
	manifest    *manifestIndex
	heads       []string // hash of each line of the manifest
	proven      int      // number of proven lines
	unmarked    bool     // a log has lines that the manifest does not confirm
	tables      map[string]*turnindex.Table
	stretches   map[string][]Stretch // by the referring transcript
}

func (v *verifier) problem(kind ProblemKind, file string, line int, format string, args ...any) {
	v.report.Problems = append(v.report.Problems, Problem{kind, file, line, fmt.Sprintf(format, args...)})
}

func (v *verifier) note(format string, args ...any) {
	v.report.Notes = append(v.report.Notes, fmt.Sprintf(format, args...))
}

func (v *verifier) list(ctx context.Context) error {
	found := false
	for info, err := range v.a.List(ctx, v.dir) {
		if err != nil {
			return err
		}
		found = true
		if info.Foreign != "" || info.Key != child(v.dir, info.Key.Base()) {
			v.foreign(info)
			continue
		}
		v.there[info.Key.Base()] = info.Size
		v.total += info.Size
	}
	if !found {
		return &storage.Error{Op: "verify", Key: v.dir, Err: storage.ErrNotExist}
	}
	return nil
}

// foreign reports a file that no session can have written.
func (v *verifier) foreign(info storage.Info) {
	name := strings.TrimPrefix(cmp.Or(info.Foreign, info.Key.String()), v.dir.String()+"/")
	v.problem(Added, name, 0, "no session writes such a file")
	v.report.Files = append(v.report.Files, FileReport{name, info.Size, StateUnknown})
}

// progress counts read bytes.
func (v *verifier) progress(n int64) {
	v.read += n
	if v.opts.Progress != nil {
		v.opts.Progress(min(v.read, v.total), v.total)
	}
}

// unreadable reports an error as a problem, unless ctx is done.
func (v *verifier) unreadable(ctx context.Context, name string, err error) error {
	if cerr := ctx.Err(); cerr != nil {
		return &storage.Error{Op: "verify", Key: v.dir, Err: cerr}
	}
	var e *storage.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	if p := (Problem{Unreadable, name, 0, err.Error()}); !slices.Contains(v.report.Problems, p) { // each message of a file would repeat it
		v.report.Problems = append(v.report.Problems, p)
	}
	return nil
}

// checkVersion adds a note about the limits of older format versions.
func (v *verifier) checkVersion() {
	if v.report.Version == 1 {
		v.note("the session was begun with format version 1: its fingerprints have no key, so a reader can test guesses of redacted text; newer fingerprints have a key")
	}
}

// checkHead compares the end of the manifest with the known heads.
func (v *verifier) checkHead() {
	n := len(v.heads)
	if n > 0 {
		v.report.Head = v.heads[n-1]
	}
	v.checkBook()
	if v.opts.Head != "" && n > 0 {
		at := slices.Index(v.heads, v.opts.Head)
		if at < 0 {
			v.problem(Truncated, manifestName, 0, "no line has the given head as its hash: the end was cut off or rewritten")
			return
		}
		v.prove(at+1, ProofHead)
	}
	open := v.checkLast()
	switch {
	case v.proven == 0 && v.opts.Heads != nil:
		v.note("the end is not proven: no head of this session is known, so its last lines may have been cut off")
	case v.proven == 0 && v.opts.Head == "":
		v.note("the end is not proven: no head was given, so the last lines may have been cut off")
	case v.proven == 0: // a missing or empty manifest is reported already
	case v.proven < n:
		v.report.Newer = n - v.proven
		v.note("the end is not proven: heads confirm the first %d of its %d lines, and lines at the end may have been cut off", v.proven, n)
	default:
		v.report.TailProven = !open && !v.unmarked
		if v.unmarked {
			v.note("the end is not proven: nothing confirms the last lines of its logs")
		}
	}
}

// checkLast reports whether the last announced step is not confirmed. No head proves such
// a step: its files can be removed without a trace.
func (v *verifier) checkLast() bool {
	last := 0
	for step := range v.manifest.commits {
		last = max(last, step)
	}
	ledger := ledgerKind.file(last, 1)
	if _, ok := v.manifest.done[ledger]; ok || last == 0 {
		return false
	}
	if _, ok := v.there[ledger]; ok {
		v.note("step %d is stored, and the manifest does not confirm it yet: its process died, or is about to confirm it", last)
	} else {
		v.note("step %d was begun, but the manifest does not confirm it: it was never stored, or it was removed", last)
	}
	return true
}
