package record

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// accessName is the folder of access records.
const accessName = "_access"

// An Access records one read from a session.
type Access struct {
	At      time.Time `json:"at"`
	Who     string    `json:"who"`
	Op      string    `json:"op"`             // "recall", "show", "export", …
	Session string    `json:"session"`        // its name in heads: a hash of the folder's name; "" for a search of all sessions
	What    string    `json:"what,omitempty"` // a reference, a file, a pattern
}

// An AccessLog writes the access records of one process to _access/WRITER.jsonl,
// chained like every log. It is safe for concurrent use.
type AccessLog struct{ chain *chain }

// NewAccessLog returns a new chain of access records. It does no I/O.
func NewAccessLog(a storage.Archive) *AccessLog {
	return &AccessLog{newChain(a, child(keyOf(accessName), NewHeads(a, nil).writer+".jsonl"), false)}
}

// Record stores that the user reads from a session, which is given by its id or the
// name of its folder; "" means a search of all sessions. The record is durable when
// Record returns; after an error the caller should not read.
func (l *AccessLog) Record(ctx context.Context, session, op string, who, what redact.Text) error {
	id := ""
	if session != "" {
		dir, err := Prefix(session)
		if err != nil {
			return err
		}
		if IsFolder(session) {
			dir = keyOf(session)
		}
		id = headID(dir)
	}
	b, _ := json.Marshal(Access{time.Now().UTC().Truncate(time.Millisecond), who.String(), op, id, what.String()}) // never fails
	_, err := l.chain.append(ctx, func(facts) ([]string, error) { return []string{string(b)}, nil })
	return err
}

// Accesses yields the access records of an archive, each with the folder of its
// session, or "" if that is unknown. The records of one process come in order, and the
// processes one after another. An error is yielded last.
func Accesses(ctx context.Context, a storage.Archive) iter.Seq2[Access, error] {
	return func(yield func(Access, error) bool) {
		b := &HeadBook{names: map[string]string{}}
		if err := b.readNames(ctx, a); err != nil {
			yield(Access{}, err)
			return
		}
		for s, err := range Sessions(ctx, a) {
			if err != nil {
				yield(Access{}, err)
				return
			}
			b.names[headID(keyOf(s.Dir))] = s.Dir
		}
		for info, err := range a.List(ctx, keyOf(accessName)) {
			if err != nil {
				yield(Access{}, err)
				return
			}
			if info.Foreign != "" {
				continue // VerifyAccesses reports it
			}
			for line, err := range logLines(ctx, newChain(a, info.Key, false)) {
				var x Access
				if err == nil {
					err = json.Unmarshal(line, &x)
				}
				x.Session = cmp.Or(b.names[x.Session], x.Session)
				if !yield(x, err) || err != nil {
					return
				}
			}
		}
	}
}

// VerifyAccesses is [Verify] for the access records. A missing log is not a problem.
func VerifyAccesses(ctx context.Context, a storage.Archive) (Report, error) {
	v := &verifier{a: a, dir: keyOf(accessName)}
	v.report.Dir = accessName
	for info, err := range a.List(ctx, v.dir) {
		if err != nil {
			return Report{}, err
		}
		if info.Foreign != "" || info.Key != child(v.dir, info.Key.Base()) {
			v.foreign(info)
			continue
		}
		v.report.Files = append(v.report.Files, FileReport{info.Key.Base(), info.Size, StateLog})
		v.report.Bytes += info.Size
		if err := v.checkLog(ctx, info.Key.Base(), nil, nil); err != nil {
			return Report{}, err
		}
	}
	return v.report, nil
}
