package replay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// An Archived session is a session read from an archive: the redacted history, up to
// the last compaction or the end of the session, and the recorded edits.
type Archived struct {
	Session *Session
	Window  int // tokens, of the last compaction

	name  string
	from  storage.Archive
	steps []archivedStep
	fps   []message.Fingerprint // of the messages before redaction, sealed
	refs  [][]string            // of their parts
}

// archivedStep holds the parts of a ledger that are needed to repeat its edits.
type archivedStep struct {
	Step    int             `json:"step"`
	Agent   string          `json:"agent"`
	Branch  string          `json:"branch"`
	Kind    string          `json:"kind"`
	Window  int             `json:"window"`
	Forms   policy.Forms    `json:"forms"`
	Recipes []reduce.Recipe `json:"recipes"`
	Archive string          `json:"archive"`

	at int // length of the history at that step
}

// ErrNotWhole is wrapped by the error for a session whose archived history is
// incomplete.
var ErrNotWhole = errors.New("the archive does not have the whole history")

// FromArchive reads a session of an archive; name is the name of its folder. If several
// agents or branches compacted, it takes the agent or branch that did so last. The
// error wraps [ErrNotWhole] if the archive does not have the whole history.
func FromArchive(ctx context.Context, a storage.Archive, s *record.Session, name string) (*Archived, error) {
	r := &Archived{name: name, from: a, Session: &Session{Name: "session " + name}}
	if err := r.ledgers(ctx, s); err != nil {
		return nil, fmt.Errorf("session %s: %w", name, err)
	}
	if err := r.histories(ctx, s); err != nil {
		return nil, fmt.Errorf("session %s: %w", name, err)
	}
	if err := r.times(ctx, s); err != nil {
		return nil, fmt.Errorf("session %s: %w", name, err)
	}
	return r, nil
}

func (r *Archived) ledgers(ctx context.Context, s *record.Session) error {
	var all []archivedStep
	for l, err := range s.Ledgers(ctx, 1) {
		var step archivedStep
		if err == nil && l.Changed != nil {
			err = l.Changed
		}
		if err == nil {
			err = json.Unmarshal(l.Data, &step)
		}
		if err != nil {
			return err
		}
		all = append(all, step)
	}
	for _, step := range all {
		if last := all[len(all)-1]; step.Agent == last.Agent && step.Branch == last.Branch {
			r.steps, r.Window = append(r.steps, step), step.Window
		}
	}
	return nil
}

// histories reads the transcripts of the steps, each of which must continue the
// previous one, and the transcript of the end of the session.
func (r *Archived) histories(ctx context.Context, s *record.Session) error {
	files := map[string]bool{}
	for i := range r.steps {
		step := &r.steps[i]
		if record.IsOriginals(step.Archive) || step.Archive == "" {
			return fmt.Errorf("%w: step %d stored only the messages that it changed, as presets that work on every call do", ErrNotWhole, step.Step)
		}
		if err := r.history(ctx, s, step.Archive); err != nil {
			return err
		}
		step.at, files[step.Archive] = len(r.fps), true
	}
	for info, err := range s.Files(ctx) {
		if err != nil {
			return err
		}
		if name := info.Key.Base(); strings.HasPrefix(name, "transcript-final-") && strings.HasSuffix(name, ".jsonl") {
			if err := r.history(ctx, s, name); err != nil && !errors.Is(err, ErrNotWhole) { // another agent's
				return err
			}
		}
	}
	if len(r.Session.Messages) == 0 {
		return fmt.Errorf("%w: nothing was compacted, and no final transcript was archived", ErrNotWhole)
	}
	return nil
}

// history reads a transcript, which must begin with the messages read so far.
func (r *Archived) history(ctx context.Context, s *record.Session, name string) error {
	var data []byte
	var fps []message.Fingerprint
	var refs [][]string
	for line, err := range s.Lines(ctx, name) {
		var about struct {
			Meta struct {
				FP   message.Fingerprint `json:"fp"`
				Refs []string            `json:"refs"`
			} `json:"meta"`
		}
		if err == nil {
			err = json.Unmarshal(line, &about)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if i := len(fps); i < len(r.fps) && r.fps[i] != about.Meta.FP {
			return fmt.Errorf("%w: %s differs from the previous transcript at line %d; the agent kept the view, or went back", ErrNotWhole, name, i+1)
		}
		refs = append(refs, about.Meta.Refs)
		fps, data = append(fps, about.Meta.FP), append(append(data, line...), '\n')
	}
	if len(fps) <= len(r.fps) {
		return nil
	}
	f, err := formats.Read("auto", bytes.TrimSpace(data))
	if err != nil {
		return located(name, err)
	}
	if len(f.Messages()) != len(fps) {
		return fmt.Errorf("%s: %d messages on %d lines", name, len(f.Messages()), len(fps))
	}
	r.Session.Messages, r.fps, r.refs = f.Messages(), fps, refs
	return nil
}

// times reads from the audit log when calls were made. The last message of a
// prompt gets the time of the call.
func (r *Archived) times(ctx context.Context, s *record.Session) error {
	r.Session.Times = make([]time.Time, len(r.Session.Messages))
	for line, err := range s.EventLines(ctx) {
		var e struct {
			Kind    string    `json:"kind"`
			Started time.Time `json:"started_at"`
			Data    struct {
				In     int `json:"message_count_in"`
				Before int `json:"message_count_before"` // the count of the history in older logs
			} `json:"data"`
		}
		if err == nil {
			err = json.Unmarshal(line, &e)
		}
		if err != nil {
			return err
		}
		if n := cmp.Or(e.Data.In, e.Data.Before); e.Kind == "compact.preflight" && n > 0 && n <= len(r.Session.Times) && r.Session.Times[n-1].IsZero() {
			r.Session.Times[n-1] = e.Started
		}
	}
	return nil
}

// Timed reports whether the audit log has the time of each call.
func (r *Archived) Timed() bool {
	_, err := gapsOf(r.Session)
	return err == nil
}
