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

// session holds all data of one session for the index.
type session struct {
	look
	same   bool // the index has these files; only the stamp differs
	texts  []text
	worked map[worker]bool
	unread string // reason why a part could not be read; "" = all parts were read
	size   int    // bytes of texts
}

// worker is the agent and the model of a step.
type worker struct{ agent, model string }

// text is a part of a message, or a summary.
type text struct {
	recall.Stored
	body, ref, role, tool string
	by                    *worker // nil = no step archived it
}

// at returns the time of storage in milliseconds; 0 = unknown.
func (t *text) at() int64 {
	if t.At.IsZero() {
		return 0
	}
	return t.At.UnixMilli()
}

// newest returns the time of storage of the last text.
func (s *session) newest() (at int64) {
	for i := range s.texts {
		at = max(at, s.texts[i].at())
	}
	return at
}

// read reads the texts of a session. It leaves out and notes parts that were altered
// or can't be parsed.
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

// note records an error of the session in unread. It ignores missing files and an
// erase, and returns the error of an ended context.
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

// message adds the parts of a message that are new: [recall.Messages] yields a message
// once for each file that holds it. A part that another agent or another model archived
// is added again.
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

// roleSummary is the role of summaries.
const roleSummary = "summary"

// markBegin and markEnd are the characters around a found word. No text in the index
// has them.
const markBegin, markEnd = "\x01", "\x02"

// clean returns a copy of a text in a form that the index can store.
func clean(s string) string {
	s = strings.NewReplacer(markBegin, " ", markEnd, " ", "\x00", " ").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Clone(s)
}

// summaries adds the summaries that steps wrote.
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
	if _, err := from.LineSums(ctx, name); err != nil { // fails if the file was changed
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
	s.add(text{Stored: recall.Stored{File: name, Line: 1, At: at, Step: sum.Step}, body: clean(sum.Text), role: roleSummary})
	return nil
}
