package storage

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/turnindex"
)

// A Step is the argument of [Session.CommitStep]. The caller owns it; CommitStep only
// reads it.
type Step struct {
	Number int       // from 1
	Files  []Written // that are stored: a transcript or originals, where no draft is one, and what else it stands on
	Drafts []Draft   // that are stored with it

	// Ledger returns the ledger in pieces; drafts tells what the Drafts are stored as,
	// in their order. Where somebody else takes a name first it is called again.
	Ledger func(drafts []Written) ([]redact.Text, error)

	// Beside, if any, is called once, while the drafts are stored: for what must be
	// durable before the ledger is, and names them. Its error ends the commit.
	Beside func(ctx context.Context, drafts []Written) error
}

// A Draft is a file of a step without a name and not yet in the archive.
type Draft struct {
	kind   kind
	blob   func(names []string) (Blob, error) // names are those of all drafts, in their order
	stored func(Written, error)               // is told what came of it; nil = nobody is
}

// Committed lists the files that [Session.CommitStep] stored.
type Committed struct {
	Ledger Written
	Drafts []Written // in the order of the drafts
}

// TranscriptDraft is [Session.TranscriptOf] for CommitStep. stored, if any, is called
// once in each CommitStep that comes so far, from a goroutine of its own, as soon as the
// transcript is durable, or can't be. A transcript that is durable stays where the step
// fails, and another one may stand on it.
func (s *Session) TranscriptDraft(c *Content, stored func(Written, error)) (Draft, error) {
	blob, err := c.blob()
	if err != nil {
		return Draft{}, &Error{"write", s.dir, err}
	}
	return Draft{transcriptKind, fixed(blob), stored}, nil
}

// SummaryDraft is [Session.Summary] for CommitStep.
func (s *Session) SummaryDraft(summary redact.Text) Draft {
	return Draft{kind: summaryKind, blob: fixed(Redacted(summary))}
}

// IndexDraft is [Session.Index] for CommitStep.
func (s *Session) IndexDraft(set *turnindex.Set) (Draft, error) {
	blob, err := s.indexBlob(set)
	return Draft{kind: indexKind, blob: fixed(blob)}, err
}

// IndexDraftOf is IndexDraft for an index that names other drafts of its step. make is
// told the names of all, in their order, before the ledger is made, and again where
// somebody else takes a name first.
func (s *Session) IndexDraftOf(make func(drafts []string) (*turnindex.Set, error)) Draft {
	return Draft{kind: indexKind, blob: func(names []string) (Blob, error) {
		set, err := make(slices.Clone(names))
		if err != nil {
			return Blob{}, err
		}
		return s.indexBlob(set)
	}}
}

func fixed(b Blob) func([]string) (Blob, error) {
	return func([]string) (Blob, error) { return b, nil }
}

// archives reports whether a transcript is among the drafts.
func (st Step) archives() bool {
	return slices.ContainsFunc(st.Drafts, func(d Draft) bool { return d.kind == transcriptKind })
}

// prepared is a step that is announced.
type prepared struct {
	rec    record // of the ledger
	ledger Blob
	drafts []Written
	blobs  []Blob // of the drafts
}

var errNames = errors.New("somebody else has taken a name first")

// prepare announces the ledger of a step and its drafts, and before that what others
// left unsaid: that the ledger before it exists.
func (s *Session) prepare(ctx context.Context, key Key, step Step, with []fileHash) (*prepared, error) {
	before, err := s.unconfirmed(ctx, step.Number-1)
	if err != nil {
		return nil, err
	}
	known, _ := s.manifest.known()
	names := step.names(known.facts.names)
	for {
		p, records, err := s.announcement(key, step, with, names)
		if err != nil {
			return nil, err
		}
		if before != nil {
			records = append([]record{*before}, records...)
		}
		err = s.sayBy(ctx, s.sayUnseen, func(f facts) ([]string, error) {
			if slices.ContainsFunc(names, f.names.has) {
				names = step.names(f.names)
				return nil, errNames
			}
			return bodies(records), nil
		})
		if err == nil {
			s.settle(records)
			return p, nil
		}
		if !errors.Is(err, errNames) {
			return nil, err
		}
	}
}

// announcement makes the lines about a step whose drafts have these names.
func (s *Session) announcement(key Key, step Step, with []fileHash, names []string) (*prepared, []record, error) {
	p := &prepared{}
	var records []record
	with = slices.Clone(with)
	for i, d := range step.Drafts {
		blob, err := d.blob(names)
		if err != nil {
			return nil, nil, err
		}
		p.blobs = append(p.blobs, blob)
		rec := put(fileHash{names[i], blob.Size(), blob.SHA256()})
		records, with = append(records, rec), append(with, rec.fileHash)
		p.drafts = append(p.drafts, s.written(s.dir.child(names[i]), rec))
	}
	pieces, err := step.Ledger(slices.Clone(p.drafts))
	if err != nil {
		return nil, nil, err
	}
	p.ledger = Redacted(pieces...)
	if p.ledger.Size() > maxLedgerBytes {
		return nil, nil, &Error{"commit", key, ErrLine}
	}
	p.rec = put(fileHash{key.Base(), p.ledger.Size(), p.ledger.SHA256()})
	p.rec.Op, p.rec.Step, p.rec.With = opCommit, step.Number, with
	return p, append(records, p.rec), nil
}

// names returns the first free name of each draft.
func (st Step) names(taken *nameList) []string {
	names := make([]string, len(st.Drafts))
	for i, d := range st.Drafts {
		for attempt := 1; names[i] == "" || taken.has(names[i]) || slices.Contains(names[:i], names[i]); attempt++ {
			names[i] = d.kind.file(st.Number, attempt)
		}
	}
	return names
}

// storeDrafts stores the drafts of a step that is announced, all at once.
func (s *Session) storeDrafts(ctx context.Context, step Step, p *prepared) error {
	errs := make([]error, len(step.Drafts)+1)
	panics := make([]any, len(errs))
	var all sync.WaitGroup
	for _, group := range s.together(len(step.Drafts)) {
		all.Go(func() {
			defer func() {
				panicked := recover() // of an archive
				panics[group[0]] = panicked
				for _, i := range group {
					if panicked != nil {
						errs[i] = errPanic
					}
					if told := step.Drafts[i].stored; told != nil {
						told(p.drafts[i], errs[i])
					}
				}
			}()
			s.createDrafts(ctx, p, group, errs)
		})
	}
	if step.Beside != nil {
		func() {
			defer func() { panics[len(panics)-1] = recover() }()
			errs[len(errs)-1] = step.Beside(ctx, slices.Clone(p.drafts))
		}()
	}
	all.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p) // where the caller can catch it
		}
	}
	return errors.Join(errs...)
}

// together returns which of so many files one call to the archive creates: all, or each
// by itself.
func (s *Session) together(n int) (groups [][]int) {
	_, bulk := s.a.(BulkCreator)
	for i := range n {
		if bulk && i > 0 {
			groups[0] = append(groups[0], i)
		} else {
			groups = append(groups, []int{i})
		}
	}
	return groups
}

// createDrafts creates some of the drafts.
func (s *Session) createDrafts(ctx context.Context, p *prepared, at []int, errs []error) {
	bulk, ok := s.a.(BulkCreator)
	if !ok {
		for _, i := range at {
			errs[i] = s.createFile(ctx, p.drafts[i].Key, p.blobs[i])
		}
		return
	}
	keys, blobs := make([]Key, len(at)), make([]Blob, len(at))
	for n, i := range at {
		keys[n], blobs[n] = p.drafts[i].Key, p.blobs[i]
		s.making(keys[n], blobs[n])
	}
	for n, err := range bulk.CreateAll(ctx, keys, blobs) {
		s.made(keys[n], blobs[n], err)
		errs[at[n]] = err
	}
}

var errPanic = errors.New("storage: the archive panicked")
