package record

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/segment"
)

// checkBook checks a session against its heads.
func (v *verifier) checkBook() {
	b := v.opts.Heads
	if b == nil {
		return
	}
	now := ""
	if len(v.heads) > 0 {
		now = v.heads[0]
	}
	for _, x := range b.lives(headID(v.dir)) {
		switch gone := x.erasure(); {
		case x.id == now:
			v.checkLife(x)
		case gone == nil:
			v.problem(Removed, manifestName, 0, "the heads record a %s, but the manifest began again and has no trace of it", x.last().said())
		default:
			v.checkRecord(b, gone)
		}
		v.checkRefusals(b, x)
	}
	v.checkGraves(b, now)
}

// checkGraves checks an existing session against its tombstones: a refusal names a line
// that the manifest must still have, and an erasure of this life must have begun, and not
// be complete. Tombstones of version 0.1.0 name no life, and prove nothing here.
func (v *verifier) checkGraves(b *HeadBook, now string) {
	told := map[string]bool{} // an erasure has two tombstones
	for _, t := range b.graves[tombstoneID(v.dir)] {
		if now == "" || t.Life != now || t.Head == "" || told[t.Head] {
			continue
		}
		when := t.At.UTC().Format(time.RFC3339) + by(t.Who)
		switch {
		case t.Refused != "" && !slices.Contains(v.heads, t.Head):
			v.problem(Truncated, manifestName, 0, "it was rolled back: a tombstone records the refused erase at %s, and the line that it names is gone", when)
		case t.Refused == "" && (t.Done || !v.manifest.erasing):
			v.problem(Added, erasedName, 0, "a tombstone says that this session was erased at %s, and it is here: the tombstone is forged, or the session was put back", when)
		default:
			continue
		}
		told[t.Head] = true
	}
}

// by returns " by NAME", or nothing.
func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

// checkLife checks the manifest against the heads of its life.
func (v *verifier) checkLife(x *life) {
	var lost, held *headLine // last heads that the manifest lacks
	for _, l := range x.lines {
		at := slices.Index(v.heads, l.Head)
		if at >= 0 {
			v.prove(at+1, v.opts.Heads.proof(l))
			continue
		}
		if lost == nil || l.Line > lost.Line {
			lost = l
		}
		if l.Op == opHold && (held == nil || l.Line > held.Line) {
			held = l
		}
	}
	switch {
	case lost == nil:
		return
	case held != nil:
		v.problem(Truncated, manifestName, 0, "it lost its legal hold: the heads record the %s (line %d, it has %d)", held.said(), held.Line, len(v.heads))
	case int(lost.Line) > len(v.heads):
		v.problem(Truncated, manifestName, 0, "it was rolled back: the heads record the %s (line %d, it has %d)", lost.said(), lost.Line, len(v.heads))
	default:
		v.problem(Changed, manifestName, 0, "it was rewritten: the heads record another line %d (%s)", lost.Line, lost.said())
	}
}

// prove records that the first n lines of the manifest are proven. The proof for the
// most lines wins.
func (v *verifier) prove(n int, by Proof) {
	switch {
	case n > v.proven:
		v.proven, v.report.Proof = n, by
	case n == v.proven:
		v.report.Proof = better(v.report.Proof, by)
	}
}

// A Proof is the kind of evidence for the end of a manifest.
type Proof string

// The kinds of proof, the weakest first.
const (
	ProofNone   Proof = ""
	ProofHeads  Proof = "heads"        // heads beside the sessions; an attacker with write access can rewrite them
	ProofSigned Proof = "signed heads" // signed with a key of HeadsOptions.Public
	ProofCopy   Proof = "copied heads" // kept elsewhere
	ProofHead   Proof = "head"         // VerifyOptions.Head
)

func better(x, y Proof) Proof {
	order := []Proof{ProofNone, ProofHeads, ProofSigned, ProofCopy, ProofHead}
	if slices.Index(order, y) > slices.Index(order, x) {
		return y
	}
	return x
}

// proof returns the kind of proof that a line gives. Lines with a bad signature have
// been excluded before.
func (b *HeadBook) proof(l *headLine) Proof {
	switch {
	case l.copied:
		return ProofCopy
	case len(b.public) > 0:
		return ProofSigned
	}
	return ProofHeads
}

// Vanished returns a report for each session that is in the heads but not in the
// archive although no erase is recorded, and for each erased session without a
// tombstone. Dir is the folder, or its hash if the name is unknown.
func (b *HeadBook) Vanished(ctx context.Context, a storage.Archive) ([]Report, error) {
	there := map[string]bool{} // by headID, and by tombstoneID
	for s, err := range Sessions(ctx, a) {
		if err != nil {
			return nil, err
		}
		there[headID(keyOf(s.Dir))], there[tombstoneID(keyOf(s.Dir))] = true, true
	}
	if len(b.vanished(there, b))+len(b.spared(there, b)) == 0 {
		return nil, nil
	}
	now, err := ReadHeads(ctx, a, HeadsOptions{Public: b.public}) // a session may have been erased since
	if err != nil {
		return nil, err
	}
	return append(b.vanished(there, now), b.spared(there, now)...), nil
}

// spared returns a report for each missing session whose erase was refused. No erase of
// such a session is recorded: there is neither a tombstone nor a head of one.
func (b *HeadBook) spared(there map[string]bool, now *HeadBook) (all []Report) {
	known := map[string]bool{} // lives in the heads, which vanished reports
	for _, lines := range b.sessions {
		for _, l := range lines {
			known[l.Life] = known[l.Life] || !b.forged[l.hash]
		}
	}
	for _, id := range slices.Sorted(maps.Keys(b.graves)) {
		erased := func(t Tombstone) bool { return t.Refused == "" }
		for _, t := range b.graves[id] {
			if there[id] || erased(t) || t.Life == "" || known[t.Life] || slices.ContainsFunc(now.graves[id], erased) {
				continue
			}
			v := &verifier{}
			v.problem(Removed, manifestName, 0, "the session vanished: a tombstone records the refused erase at %s%s, and nobody erased it", t.At.UTC().Format(time.RFC3339), by(t.Who))
			all = append(all, Report{Dir: id, Problems: v.report.Problems})
			break
		}
	}
	return all
}

// vanished returns a report for each session in the heads whose id is not in the set
// there. now holds the current heads, which include later erasures.
func (b *HeadBook) vanished(there map[string]bool, now *HeadBook) (all []Report) {
	for _, id := range slices.Sorted(maps.Keys(b.sessions)) {
		if there[id] {
			continue // reported with the session
		}
		r := Report{Dir: b.name(id)}
		for _, x := range b.lives(id) {
			x.missing(now, id, &r)
		}
		if len(r.Problems)+len(r.Notes) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// missing reports the problems of a missing life.
func (x *life) missing(now *HeadBook, id string, r *Report) {
	// An interrupted erasure can have been repeated since.
	all := slices.Clone(x.lines)
	for _, y := range now.lives(id) {
		if y.id == x.id {
			all = append(all, y.lines...)
		}
	}
	end := (&life{lines: all}).erasure()
	v := &verifier{}
	switch {
	case end == nil:
		v.problem(Removed, manifestName, 0, "the session vanished: the heads record the %s, and nobody erased it", x.last().said())
	case v.checkRecord(now, end) && len(now.records(end, true)) == 0:
		v.note("the heads record the %s, but no tombstone says that it was completed", end.said())
	}
	v.checkRefusals(now, x)
	r.Problems, r.Notes = append(r.Problems, v.report.Problems...), append(r.Notes, v.report.Notes...)
}

// checkRefusals checks that each refused erasure of a life has its tombstone.
func (v *verifier) checkRefusals(b *HeadBook, x *life) {
	for _, l := range x.lines {
		if l.Op == headRefuse {
			v.checkRecord(b, l)
		}
	}
}

// checkRecord checks that an erasure, or a refused one, has a tombstone with the same
// user, reason and time. If the erasure was completed, the tombstone of its completion
// must match, too. If several processes erased the same session at once, the tombstone
// of any of them is accepted.
func (v *verifier) checkRecord(b *HeadBook, l *headLine) bool {
	begun, done := b.records(l, false), b.records(l, true)
	all := b.erasures(l)
	same := func(t Tombstone) bool { return slices.ContainsFunc(all, func(l *headLine) bool { return l.tells(t) }) }
	switch {
	case len(begun) == 0:
		v.problem(Removed, erasedName, 0, "the heads record the %s, and the tombstone is gone", l.said())
	case !slices.ContainsFunc(begun, same), len(done) > 0 && !slices.ContainsFunc(done, same):
		v.problem(Changed, erasedName, 0, "the heads record the %s (%s), and the tombstone says something else", l.said(), segment.Quote(l.Why))
	default:
		return true
	}
	return false
}

// erasures returns the heads of all erasures that ended the manifest in the same way
// as l, including l; for a refused erasure it returns only l.
func (b *HeadBook) erasures(l *headLine) []*headLine {
	all := []*headLine{l}
	if l.Op != opErase {
		return all
	}
	for _, x := range b.sessions[l.Session] {
		if x != l && x.Op == opErase && x.Life == l.Life && x.Head == l.Head && !b.forged[x.hash] {
			all = append(all, x)
		}
	}
	return all
}

// tells reports whether a tombstone has the same user, reason and time.
func (l *headLine) tells(t Tombstone) bool {
	return t.Who == l.Who && t.Reason == l.Why && t.At.After(l.At.Add(-stoneSlack)) && (t.Done || t.At.Before(l.At.Add(stoneSlack)))
}

// stoneSlack is the maximum difference between the time in a head and the time in its
// tombstone. Version 0.1.0 read the clock separately for each.
const stoneSlack = time.Minute

// records returns the tombstones of an erasure, or of a refused one.
func (b *HeadBook) records(l *headLine, done bool) (all []Tombstone) {
	for _, t := range b.stones[l.Head] {
		if (t.Refused != "") == (l.Op == headRefuse) && t.Done == done {
			all = append(all, t)
		}
	}
	return all
}

// name returns the folder for a head's id, or the id if it is unknown.
func (b *HeadBook) name(id string) string {
	if dir, ok := b.names[id]; ok {
		return dir
	}
	return id
}

// Of reports whether r, from [HeadBook.Vanished], is about the session with
// this folder.
func (r Report) Of(dir string) bool {
	k := keyOf(dir)
	return r.Dir == dir || r.Dir == headID(k) || r.Dir == tombstoneID(k)
}
