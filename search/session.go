package search

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// session is what goes into the index of one.
type session struct {
	look
	same   bool // its files are those that the index has: only the stamp is another
	texts  []text
	worked map[worker]bool
	unread string // what could not be read; "" = all could
	size   int    // bytes of texts
}

// worker is an agent and its model, as a step says.
type worker struct{ agent, model string }

// text is a part of a message, or a summary.
type text struct {
	recall.Stored
	body, ref, role, tool string
	by                    *worker // nil: no step archived it
}

// at is when the archive got it, in milliseconds; 0 = not known.
func (t *text) at() int64 {
	if t.At.IsZero() {
		return 0
	}
	return t.At.UnixMilli()
}

// newest is when the archive got the last of the texts.
func (s *session) newest() (at int64) {
	for i := range s.texts {
		at = max(at, s.texts[i].at())
	}
	return at
}

// read reads what a session says. What is not what was stored, or can't be read as
// what it should be, is left out and noted.
func (s *session) read(ctx context.Context, a storage.Archive) error {
	from, err := record.OpenDirToRead(ctx, a, s.dir)
	if err != nil {
		return s.note(err)
	}
	s.worked = map[worker]bool{}
	seen := map[string]bool{}
	for m, err := range recall.Messages(ctx, from) {
		if err == nil {
			s.message(&m, seen)
		} else if err := s.note(err); err != nil {
			return err
		}
	}
	return s.note(s.summaries(ctx, from))
}

// note takes down what could not be read. It returns what is no fault of the
// session's: the context's end.
func (s *session) note(err error) error {
	switch {
	case err == nil, errors.Is(err, storage.ErrNotExist), errors.Is(err, record.ErrErased):
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case s.unread == "":
		s.unread = err.Error()
	}
	return nil
}

// message takes in the parts of a message that were not there before: each step
// stores the whole history again.
func (s *session) message(m *recall.Stored, seen map[string]bool) {
	var by *worker
	if m.Step > 0 {
		by = &worker{m.Agent, m.Model}
		s.worked[*by] = true
	}
	for i, p := range m.Message.Parts {
		body := clean(m.Text(i))
		if strings.TrimSpace(body) == "" {
			continue
		}
		t := text{Stored: *m, body: body, role: roleOf(m.Message.Role, p), tool: strings.Clone(p.Name), by: by}
		if i < len(m.Refs) {
			t.ref = m.Refs[i]
		}
		plain := t.role + "\x00" + t.tool + "\x00" + body
		whose := plain
		if by != nil {
			whose += "\x00" + by.agent + "\x00" + by.model
		}
		if seen[whose] || by == nil && seen[plain] {
			continue
		}
		seen[whose], seen[plain] = true, true
		t.Message = message.Message{}
		s.add(t)
	}
}

func (s *session) add(t text) {
	s.texts = append(s.texts, t)
	s.size += len(t.body)
}

func roleOf(r message.Role, p message.Part) string {
	if p.Kind == message.KindToolResult {
		return string(message.RoleTool)
	}
	return string(r)
}

// marks are the characters that stand around what was found. They are in no text of
// the index.
const markBegin, markEnd = "\x01", "\x02"

// clean makes a copy of text that the index can hold.
func clean(s string) string {
	s = strings.NewReplacer(markBegin, " ", markEnd, " ", "\x00", " ").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Clone(s)
}

// summaries takes in what steps wrote for what they took out.
func (s *session) summaries(ctx context.Context, from *record.Session) error {
	at, err := from.StoredAt(ctx)
	if err != nil {
		return err
	}
	for info, err := range from.Files(ctx) {
		if err != nil {
			return err
		}
		name := info.Key.Base()
		if info.Foreign != "" || !strings.HasPrefix(name, "summary-") {
			continue
		}
		if err := s.summary(ctx, from, name, at[name]); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) summary(ctx context.Context, from *record.Session, name string, at time.Time) error {
	if _, err := from.LineSums(ctx, name); err != nil { // it is what was stored
		return err
	}
	r, err := from.Open(ctx, name, 0, -1)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	var sum struct {
		Step int    `json:"step"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &sum); err != nil || sum.Text == "" {
		return err
	}
	s.add(text{Stored: recall.Stored{File: name, Line: 1, At: at, Step: sum.Step}, body: clean(sum.Text), role: "summary"})
	return nil
}
