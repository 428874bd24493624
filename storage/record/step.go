package record

import (
	"context"
	"errors"
	"slices"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/turnindex"
)

// A Step is the argument of [Session.CommitStep]. The caller owns it; CommitStep only
// reads it.
type Step struct {
	Number int       // from 1
	Files  []Written // stored files: a transcript or originals (unless a draft is one), and all other files that the step depends on
	Drafts []Draft   // files to be stored with the step

	// Ledger returns the ledger in pieces; drafts are the stored Drafts, in order. It
	// is called again if another process takes a name first.
	Ledger func(drafts []Written) ([]redact.Text, error)

	// Beside, if not nil, is called once while the drafts are stored. It stores data
	// that names the drafts and must be durable before the ledger. Its error ends the
	// commit. [Session.Events] with this ctx saves a request, because the check of the
	// step finds an erase of the log, too; do not use ctx after Beside has returned.
	Beside func(ctx context.Context, drafts []Written) error
}

// A Draft is a file of a step that has no name yet and is not yet in the archive.
type Draft struct {
	kind   kind
	blob   func(names []string) (storage.Blob, error) // names of all drafts, in order
	stored func(Written, error)                       // called with the outcome; may be nil
}

// Committed lists the files that [Session.CommitStep] stored.
type Committed struct {
	Ledger Written
	Drafts []Written // in the order of the drafts
}

// TranscriptDraft is [Session.TranscriptOf] for CommitStep. stored, if not nil, is
// called once in each CommitStep that stores the transcript, from another goroutine, as
// soon as the transcript is durable or could not be stored. If the step fails, a
// durable transcript stays, and another step can use it.
func (s *Session) TranscriptDraft(c *Content, stored func(Written, error)) (Draft, error) {
	blob, err := c.blob()
	if err != nil {
		return Draft{}, &storage.Error{Op: "write", Key: s.dir, Err: err}
	}
	return Draft{transcriptKind, fixed(blob), stored}, nil
}

// SummaryDraft is [Session.Summary] for CommitStep.
func (s *Session) SummaryDraft(summary redact.Text) Draft {
	if summary.Len() > maxSummaryBytes {
		return Draft{kind: summaryKind, blob: func([]string) (storage.Blob, error) {
			return storage.Blob{}, &storage.Error{Op: "write", Key: s.dir, Err: errTooLong}
		}}
	}
	return Draft{kind: summaryKind, blob: fixed(storage.Redacted(summary))}
}

// IndexDraft is [Session.Index] for CommitStep.
func (s *Session) IndexDraft(set *turnindex.Set) (Draft, error) {
	blob, err := s.indexBlob(set)
	return Draft{kind: indexKind, blob: fixed(blob)}, err
}

// IndexDraftOf is IndexDraft for an index that names other drafts of its step. make
// gets the names of all drafts, in order, before the ledger is created, and is called
// again if another process takes a name first.
func (s *Session) IndexDraftOf(make func(drafts []string) (*turnindex.Set, error)) Draft {
	return Draft{kind: indexKind, blob: func(names []string) (storage.Blob, error) {
		set, err := make(slices.Clone(names))
		if err != nil {
			return storage.Blob{}, err
		}
		return s.indexBlob(set)
	}}
}

func fixed(b storage.Blob) func([]string) (storage.Blob, error) {
	return func([]string) (storage.Blob, error) { return b, nil }
}

// archives reports whether the drafts include a transcript.
func (st Step) archives() bool {
	return slices.ContainsFunc(st.Drafts, func(d Draft) bool { return d.kind == transcriptKind })
}

// prepared is an announced step.
type prepared struct {
	rec    record // record of the ledger
	ledger storage.Blob
	drafts []Written
	blobs  []storage.Blob // content of the drafts
}

var errNames = errors.New("another process has taken a name first")

// prepare announces the ledger of a step and its drafts, and confirms the previous
// ledger if its process did not.
func (s *Session) prepare(ctx context.Context, key storage.Key, step Step, with []fileHash) (*prepared, error) {
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

// announcement returns the records of a step whose drafts have these names.
func (s *Session) announcement(key storage.Key, step Step, with []fileHash, names []string) (*prepared, []record, error) {
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
		p.drafts = append(p.drafts, s.written(child(s.dir, names[i]), rec))
	}
	pieces, err := step.Ledger(slices.Clone(p.drafts))
	if err != nil {
		return nil, nil, err
	}
	p.ledger = storage.Redacted(pieces...)
	if p.ledger.Size() > maxLedgerBytes {
		return nil, nil, &storage.Error{Op: "commit", Key: key, Err: errTooLong}
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

// storeDrafts stores the drafts of an announced step concurrently, and calls Beside in
// the meantime.
func (s *Session) storeDrafts(ctx context.Context, step Step, p *prepared) error {
	errs := make([]error, len(step.Drafts)+1)
	groups := s.together(len(step.Drafts))
	wait := spread(len(groups), len(groups), func(g int) {
		defer func() {
			for _, i := range groups[g] {
				if told := step.Drafts[i].stored; told != nil {
					told(p.drafts[i], errs[i])
				}
			}
		}()
		for _, i := range groups[g] {
			errs[i] = errNotStored // until the archive says that it is
		}
		s.createDrafts(ctx, p, groups[g], errs)
	})
	func() {
		defer wait()
		if step.Beside != nil {
			errs[len(errs)-1] = step.Beside(besideStep(ctx, p.rec), slices.Clone(p.drafts))
		}
	}()
	return errors.Join(errs...)
}

// together groups n files by call to the archive: all files in one call, or each file
// in its own call.
func (s *Session) together(n int) (groups [][]int) {
	_, bulk := s.a.(storage.BulkCreator)
	for i := range n {
		if bulk && i > 0 {
			groups[0] = append(groups[0], i)
		} else {
			groups = append(groups, []int{i})
		}
	}
	return groups
}

// createDrafts creates the drafts with these indexes.
func (s *Session) createDrafts(ctx context.Context, p *prepared, at []int, errs []error) {
	bulk, ok := s.a.(storage.BulkCreator)
	if !ok {
		for _, i := range at {
			errs[i] = s.createFile(ctx, p.drafts[i].Key, p.blobs[i])
		}
		return
	}
	keys, blobs := make([]storage.Key, len(at)), make([]storage.Blob, len(at))
	for n, i := range at {
		keys[n], blobs[n] = p.drafts[i].Key, p.blobs[i]
		s.making(keys[n], blobs[n])
	}
	for n, err := range bulk.CreateAll(ctx, keys, blobs) {
		s.made(keys[n], blobs[n], err)
		errs[at[n]] = err
	}
}

var errNotStored = errors.New("storage: the archive did not report that the file is stored")
