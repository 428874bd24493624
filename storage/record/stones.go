package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"sync"

	"github.com/agentcompact/compact/storage"
)

// errStone means that a damaged tombstone may belong to any session.
var errStone = fmt.Errorf("%w: a tombstone does not say which session was erased; compactctl archive verify names the line", storage.ErrDamaged)

// stoneReader reads the lines of the log of tombstones.
type stoneReader struct {
	junk bool // the last line is not a valid line of a log, and names no session
}

// The members of a damaged line that still mark its session as erased.
var (
	stoneSession = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"session":"([0-9a-f]{64})"`) })
	stoneLife    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"life":"([0-9a-f]{64})"`) })
	stoneHead    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"head":"([0-9a-f]{64})"`) })
	stoneRefused = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"refused":"([^"]+)"`) })
)

// read returns the tombstones of a line. A line that closes a torn line accounts for
// the bytes before it; other bytes that are not a line count as a damaged tombstone.
func (r *stoneReader) read(l rawLine) (all []Tombstone) {
	link, ok := parseLink(l.text)
	if !ok {
		t := damagedStone(l.text)
		if r.junk = r.junk || t.Session == ""; t.Session != "" {
			all = append(all, t)
		}
		return all
	}
	_, torn := link.torn()
	if r.junk && !torn {
		all = append(all, Tombstone{Damaged: true})
	}
	if r.junk = false; torn {
		return all
	}
	var t Tombstone
	if json.Unmarshal(link.body(), &t) != nil || !isHash(t.Session) {
		t = damagedStone(l.text)
	}
	return append(all, t)
}

func damagedStone(line []byte) Tombstone {
	member := func(re *regexp.Regexp) string {
		if m := re.FindSubmatch(line); m != nil {
			return string(m[1])
		}
		return ""
	}
	return Tombstone{Session: member(stoneSession()), Head: member(stoneHead()), Life: member(stoneLife()), Refused: member(stoneRefused()), Damaged: true}
}

// Tombstones yields the tombstones of erased sessions in order of time: usually two for
// each session, the second one with Done set, and one for each refusal. A damaged line
// yields a tombstone with Damaged set. An error is yielded last.
func Tombstones(ctx context.Context, a storage.Archive) iter.Seq2[Tombstone, error] {
	return func(yield func(Tombstone, error) bool) {
		r := &stoneReader{}
		err := eachLineOfLog(ctx, a, keyOf(erasedName), 0, func(l rawLine) error {
			for _, t := range r.read(l) {
				if !yield(t, nil) {
					return errStop
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(Tombstone{}, err)
		}
	}
}

// Erased returns the last tombstone of a session, and false if there is none. Refusals do
// not count. If the session has no tombstone, a damaged tombstone that may belong to any
// session is an error.
func Erased(ctx context.Context, a storage.Archive, session string) (Tombstone, bool, error) {
	dir, err := Prefix(session)
	if err != nil {
		return Tombstone{}, false, err
	}
	return erased(ctx, a, dir)
}

// erased is [Erased] for the folder of a session.
func erased(ctx context.Context, a storage.Archive, dir storage.Key) (last Tombstone, found bool, err error) {
	unknown := false
	for t, err := range Tombstones(ctx, a) {
		if err != nil {
			return Tombstone{}, false, err
		}
		if t.Session == tombstoneID(dir) && t.Refused == "" {
			last, found = t, true
		}
		unknown = unknown || t.Damaged && t.Session == ""
	}
	if unknown && !found {
		return Tombstone{}, false, &storage.Error{Op: "read", Key: keyOf(erasedName), Err: errStone}
	}
	return last, found, nil
}

// VerifyTombstones is [Verify] for the log of tombstones: the Report is about that one
// file. A missing log is not a problem.
func VerifyTombstones(ctx context.Context, a storage.Archive) (Report, error) {
	return verifyBeside(ctx, a, erasedName, &Tombstone{})
}

// VerifyKeys is [VerifyTombstones] for the log with the ids of keys.
func VerifyKeys(ctx context.Context, a storage.Archive) (Report, error) {
	return verifyBeside(ctx, a, keysName, &keyLine{})
}

// verifyBeside verifies a log outside the folders of sessions. Its lines have the type of line.
func verifyBeside(ctx context.Context, a storage.Archive, name string, line any) (Report, error) {
	v, there := &verifier{a: a}, false
	key := keyOf(name)
	for info, err := range a.List(ctx, key) {
		switch {
		case err != nil:
			return Report{}, err
		case info.Key != key: // for example a folder in place of the log
			v.foreign(info)
		default:
			there, v.total = true, info.Size
		}
	}
	if !there {
		return v.report, nil
	}
	v.report.Bytes = v.total
	v.report.Files = append(v.report.Files, FileReport{name, v.total, StateLog})
	ctx = storage.ReadFirsthand(ctx)
	err := v.checkLog(ctx, name, nil, func(number int, body []byte, hash string) {
		v.report.Head = hash
		if err := json.Unmarshal(body, line); err != nil {
			v.problem(Unreadable, name, number, "%v", err)
		}
	})
	return v.report, errors.Join(err, v.checkRepeatsOf(ctx, name, key))
}
