package compact

import (
	"context"
	"encoding/json"
	"time"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
)

// learnEdit adds the edits of one call; the caller holds s.mu.
func (s *session) learnEdit(e ledger.Step) {
	if !s.edits.Add(e) {
		return
	}
	s.stepsWeight += weighStep(&e)
	for i := range e.Recipes {
		s.learnTexts(e.Recipes[i].Texts)
	}
}

// readEdits reads the lines that others have appended since the last read.
func (s *session) readEdits(ctx context.Context) error {
	s.mu.Lock()
	from := s.edits.Read
	s.mu.Unlock()
	fresh, end, err := ledger.ReadEdits(ctx, s.log, from, s.noteChange)
	if err != nil {
		return err
	}
	for i := range fresh {
		s.unseal(&fresh[i])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range fresh {
		s.learnEdit(e)
	}
	s.edits.Read = max(s.edits.Read, end)
	s.edits.End = max(s.edits.End, end)
	return nil
}

// course returns the steps of a lane and the edits between them, in order. A
// step records the number of the last edit before it.
func (s *session) course(of ledger.Owner) []*ledger.Step {
	steps, all, _ := s.record(of)
	var out []*ledger.Step
	k := 0
	until := func(seq int64) {
		for ; k < len(all) && all[k].Seq <= seq; k++ {
			if all[k].Owner() == of {
				out = append(out, &all[k])
			}
		}
	}
	for i := range steps {
		if steps[i].Owner() == of {
			until(steps[i].Edits)
			out = append(out, &steps[i])
		}
	}
	if len(all) > 0 {
		until(all[len(all)-1].Seq)
	}
	return out
}

// pending returns the edits of a lane that no step has archived, oldest first.
func (s *session) pending(of ledger.Owner) []ledger.Step {
	steps, all, _ := s.record(of)
	return ledger.Pending(steps, all, of)
}

// lastEdit returns the number of the newest known edit.
func (s *session) lastEdit() int64 {
	_, all, _ := s.record(ledger.Owner{})
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Seq
}

// record returns the known steps and edits, which are immutable, and the number
// of edits of a lane.
func (s *session) record(of ledger.Owner) (steps, all []ledger.Step, own int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steps[:len(s.steps):len(s.steps)], s.edits.All[:len(s.edits.All):len(s.edits.All)], s.edits.Count(of)
}

// logged returns all known edits of the log, including void ones.
func (s *session) logged() []ledger.Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.edits.Logged()
}

func (s *session) makeVoid(e *ledger.Step) {
	v := *e
	v.Kind = ledger.KindVoid
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edits.Add(v)
}

// sentWhole reports whether a process has sent the results of a step whole.
func (s *session) sentWhole(e *ledger.Step) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.edits.Whole(e)
}

// appendLines appends lines to the log of edits. Within a minute the manifest states the
// new length of the log.
func (s *session) appendLines(ctx context.Context, lines []redact.Text) (record.EditsWritten, error) {
	w, err := s.log.Edits(ctx, lines)
	s.audit.edited() // after an error, too: a part may be stored
	return w, err
}

// appendVoid appends a void line for other processes.
func (s *session) appendVoid(ctx context.Context, e *ledger.Step) error {
	raw, err := json.Marshal(ledger.Edit{Edit: s.toStore(ledger.Step{Session: e.Session, Agent: e.Agent, Branch: e.Branch, Kind: ledger.KindVoid, Model: e.Model, Window: e.Window, In: e.In, Out: e.Out, Try: e.Try})})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), voidTimeout) // Close must not cancel it
	defer cancel()
	_, err = s.appendLines(ctx, []redact.Text{s.redactor.Record(raw)})
	return err
}

// voidTimeout limits the append of a void line, and therefore the time that Close waits
// for it.
const voidTimeout = 5 * time.Second
