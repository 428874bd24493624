package record

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// ScrubOptions configures [Session.Scrub].
type ScrubOptions struct {
	// Find returns the ranges of bytes to overwrite in a line of a file, as
	// offsets into line. line is without the members that chain it to other lines.
	Find func(file string, line []byte) [][2]int
	// DryRun means that nothing is written.
	DryRun bool
	Reason redact.Text
	// Lease is the time for which others wait for an interrupted scrub before they
	// complete it; 0 is 20 s.
	Lease time.Duration
}

// ErrInUse means that another process is writing to the session.
var ErrInUse = errors.New("somebody writes to it")

// Scrubbed is the outcome of a scrub, or of its dry run.
type Scrubbed struct {
	At     time.Time      `json:"at,omitzero"` // zero if nothing was written
	Who    string         `json:"who,omitempty"`
	Reason string         `json:"reason,omitempty"`
	Files  []ScrubbedFile `json:"files"` // rewritten files; empty = nothing was found
	// Resumed is true if the call completed an interrupted scrub.
	Resumed bool `json:"resumed,omitempty"`
	// Left describes files that may hold pieces of sessions and could not be removed,
	// because a process is writing to them.
	Left []string `json:"left,omitempty"`
}

// A ScrubbedFile is a file that a scrub rewrote.
type ScrubbedFile struct {
	Name   string `json:"name"`
	Places int    `json:"places"` // overwritten places; 0: only its references to changed lines or files were updated
	Before string `json:"before"` // SHA-256
	After  string `json:"after"`
}

// scrubPrefix is the prefix of files that wait to replace others. The id of the scrub
// follows, so that concurrent scrubs do not use or remove each other's files; version
// 0.1.0 had no id.
const (
	scrubPrefix  = "scrub."
	scrubIDChars = 13 // of 5 bits each
)

// waitingName returns the name of the file that will replace another file.
func waitingName(scrub, name string) string {
	return scrubPrefix + strings.ToLower(scrub[:min(len(scrub), scrubIDChars)]) + "." + name
}

// scrubMark is the last line of a rewritten log: a writer that opened the log earlier
// finds it longer than expected, and reads it again.
const scrubMark = `{"scrubbed":true}`

// Scrub overwrites secrets in all files of the session, byte for byte with asterisks,
// so that offsets stay valid. The files are rewritten, and a line of the manifest
// holds who, why, and the hashes before and after; [Verify] uses these hashes and
// reports the scrub. The manifest itself and files beside the session are not
// changed.
//
// It returns [ErrHeld] under a legal hold, [storage.ErrUnsupported] if the archive is not a
// [storage.Remover], [storage.ErrLocked] if it is a [storage.Keeper] that keeps a file,
// [storage.ErrChanged] if a file was changed, and [ErrScrub] if a line would become invalid JSON; in
// these cases nothing was written. If the manifest announces a file that does not exist, Scrub waits
// up to a minute for it. It returns [ErrInUse] if other processes write to the session all the time,
// or ctx ends during that wait; then no file is rewritten. After any other error or a crash, call it
// again: it completes the scrub, unless a later writer has done so ([Session.EndScrub]). With DryRun
// an incomplete scrub is [ErrUnplaced].
//
// Concurrent appends are never lost, but they are not searched. Sessions that were
// opened before get [ErrScrubbed]. The whole session is held in memory.
func (s *Session) Scrub(ctx context.Context, opts ScrubOptions) (Scrubbed, error) {
	out := Scrubbed{Files: []ScrubbedFile{}}
	remover, ok := s.a.(storage.Remover)
	if !ok {
		return Scrubbed{}, &storage.Error{Op: "scrub", Key: s.dir, Err: storage.ErrUnsupported}
	}
	err := s.scrubbable(ctx, opts.DryRun)
	if err == nil && !opts.DryRun {
		out.Resumed, err = s.endBefore(ctx, remover)
	}
	if err == nil {
		err = s.scrubAgain(ctx, opts, &out)
	}
	err = s.orErased(ctx, "scrub", err)
	if t, ok := s.a.(storage.Tidier); ok && err == nil && !opts.DryRun { // a dead writer may have left pieces with the secret
		out.Left, err = t.Tidy(ctx)
	}
	return out, err
}

// scrubAttempts limits how often a scrub starts over because other processes write.
const scrubAttempts = 8

// scrubAgain repeats an attempt if another write or scrub was faster.
func (s *Session) scrubAgain(ctx context.Context, opts ScrubOptions, out *Scrubbed) error {
	w := &fileWait{s: s, missed: map[string]time.Time{}}
	for range scrubAttempts {
		before, _ := s.manifest.known()
		again, err := s.scrubOnce(ctx, opts, out, w)
		if errors.Is(err, storage.ErrChanged) || errors.Is(err, storage.ErrNotExist) {
			// Another scrub may have put its files in place in the meantime.
			t, rerr := s.manifest.refresh(ctx)
			again = rerr == nil && (t.facts.scrub != nil || t.facts.scrubs != before.facts.scrubs)
		}
		if !again {
			return err
		}
		if _, err := s.endScrub(ctx); err != nil {
			return err
		}
	}
	return &storage.Error{Op: "scrub", Key: s.dir, Err: ErrInUse}
}

// scrubbable returns the reason why the session can't be scrubbed, if any.
func (s *Session) scrubbable(ctx context.Context, dry bool) error {
	t, err := s.manifest.refresh(ctx)
	switch {
	case err != nil:
		return err
	case t.facts.hold.Held:
		return &storage.Error{Op: "scrub", Key: s.dir, Err: ErrHeld}
	case t.facts.erasing:
		return &storage.Error{Op: "scrub", Key: s.dir, Err: ErrErased}
	case dry && t.facts.scrub != nil:
		return &storage.Error{Op: "scrub", Key: s.dir, Err: ErrUnplaced}
	}
	return nil
}

// endBefore completes an earlier scrub, or removes the files of one that was never
// recorded.
func (s *Session) endBefore(ctx context.Context, r storage.Remover) (resumed bool, err error) {
	if resumed, err = s.endScrub(ctx); err != nil {
		return resumed, err
	}
	waiting, err := s.waitingScrubs(ctx)
	if err != nil || len(waiting) == 0 {
		return resumed, err
	}
	t, err := s.manifest.refresh(ctx)
	if err == nil {
		t, err = s.voidAfter(ctx, t.facts.lines)
	}
	if err != nil || t.facts.scrub != nil {
		return resumed, errors.Join(err, &storage.Error{Op: "scrub", Key: s.dir, Err: ErrInUse})
	}
	return resumed, s.drop(ctx, r, waiting)
}

// scrubOnce makes one attempt. The result again is true if another process wrote to the
// session in the meantime.
func (s *Session) scrubOnce(ctx context.Context, opts ScrubOptions, out *Scrubbed, w *fileWait) (again bool, err error) {
	p, err := s.planScrub(ctx, opts.Find)
	if err != nil {
		return false, err
	}
	out.Files = append([]ScrubbedFile{}, p.report()...)
	if opts.DryRun || len(out.Files) == 0 {
		if !opts.DryRun && s.index != nil { // a process without the index may have completed an earlier scrub
			err = s.unindex(ctx)
		}
		return false, err
	}
	if w.awaits(p) {
		err := w.wait(ctx, p)
		return err == nil, err
	}
	if err := s.replaceable(ctx, p); err != nil {
		return false, err
	}
	if p, err = s.fenceOff(ctx, p, opts.Find); p == nil || err != nil {
		return err == nil, err
	}
	out.Files = append([]ScrubbedFile{}, p.report()...)
	out.At, out.Who, out.Reason = time.Now().UTC().Truncate(time.Millisecond), s.who.String(), opts.Reason.String()
	return s.scrub(ctx, p, out, cmp.Or(opts.Lease, lease))
}

// fenceOff adds a fence to each log, so that no process appends, and makes the plan
// again for the resulting logs; nil = another process was first.
func (s *Session) fenceOff(ctx context.Context, p *scrubPlan, find func(string, []byte) [][2]int) (*scrubPlan, error) {
	f := fence{rand.Text(), p.lines}
	for _, file := range p.files {
		if !isLog(file.name) {
			continue
		}
		c := newChain(s.a, child(s.dir, file.name), false)
		t, err := c.refresh(ctx)
		if err != nil {
			return nil, err
		}
		if t.size() != int64(len(file.was)) {
			return nil, nil
		}
		b, _ := t.extend([]string{f.body()})
		switch err := s.a.Append(ctx, c.key, t.size(), b); {
		case errors.Is(err, storage.ErrSeq):
			return nil, nil
		case err != nil:
			return nil, err
		}
	}
	now, err := s.planScrub(ctx, find)
	if err != nil || now.lines != p.lines || !now.fenced(f) {
		return nil, err
	}
	now.id = f.ID
	return now, nil
}

// scrub stores the new files beside the old files, records that in the manifest, and then
// replaces the old files. The result again is true if the manifest had new lines.
func (s *Session) scrub(ctx context.Context, p *scrubPlan, about *Scrubbed, d time.Duration) (again bool, err error) {
	for _, f := range p.changed() {
		if err := s.a.Create(ctx, child(s.dir, waitingName(p.id, f.name)), blobOf(string(f.now))); err != nil {
			return false, err
		}
	}
	me := &placer{s: s, turn: turn{me: p.id, lease: max(d, time.Millisecond), claimed: time.Now()}}
	rec := me.record(record{Op: opScrub, At: about.At, Who: about.Who, Reason: about.Reason, Scrubbed: p.rehashed(s), Scrub: p.id})
	_, err = s.manifest.append(ctx, func(f facts) ([]string, error) {
		switch {
		case f.hold.Held:
			return nil, ErrHeld
		case f.erasing:
			return nil, ErrErased
		case f.lines > p.lines:
			return nil, ErrInUse
		}
		return bodies([]record{rec}), nil
	})
	if errors.Is(err, ErrInUse) || errors.Is(err, ErrHeld) || errors.Is(err, ErrErased) { // the scrub is not recorded, and never will be
		r, _ := s.a.(storage.Remover)
		failed := s.drop(ctx, r, p.waiting())
		if again = errors.Is(err, ErrInUse); again {
			err = nil
		}
		return again, errors.Join(err, failed)
	}
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	s.scrubs++
	s.mu.Unlock()
	_, err = me.end(ctx)
	return false, err
}

// replaceable returns an error if a lock keeps one of the files.
func (s *Session) replaceable(ctx context.Context, p *scrubPlan) error {
	keeper, ok := s.a.(storage.Keeper)
	if !ok {
		return nil
	}
	for _, f := range p.changed() {
		if err := keeper.Kept(ctx, child(s.dir, f.name)); err != nil {
			return err
		}
	}
	return nil
}
