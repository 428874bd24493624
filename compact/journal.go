package compact

import (
	"context"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// journal is what a session's journal.jsonl holds: each message once, as it
// first came by (storage.transcripts: all). The session's mutex guards it.
type journal struct {
	seen    map[message.Fingerprint]bool
	pending []redact.Text
}

// note puts the messages down that never came by before. Our own summaries,
// notices and placeholders are no messages of the session.
func (c *call) note() {
	if c.m.cfg.Storage.Transcripts != "all" || c.q.dry {
		return
	}
	var fresh []message.Message
	for i := range c.history {
		if fp := c.history[i].Fingerprint(); c.s.firstSeen(fp) && !c.s.ours(&c.history[i], fp) {
			fresh = append(fresh, c.history[i])
		}
	}
	c.s.study(fresh)
	for i := range fresh {
		line := c.s.line(fresh[i])
		c.s.mu.Lock()
		c.s.journal.pending = append(c.s.journal.pending, line)
		c.s.mu.Unlock()
	}
}

// ours reports whether a message is one that compactions of the session made,
// or edited.
func (s *session) ours(m *message.Message, fp message.Fingerprint) bool {
	_, notice := policy.ParseNotice(*m)
	return notice || policy.IsSummary(*m) || len(s.known(fp)) > 0
}

func (s *session) firstSeen(fp message.Fingerprint) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal.seen == nil {
		s.journal.seen = map[message.Fingerprint]bool{}
	}
	if s.journal.seen[fp] {
		return false
	}
	s.journal.seen[fp] = true
	return true
}

// readJournal learns what other processes have put down.
func (s *session) readJournal(ctx context.Context) error {
	for line, err := range s.log.JournalLines(ctx) {
		if err != nil {
			return err
		}
		var fp message.Fingerprint
		if fp.UnmarshalText([]byte(metaOf(line).fp)) == nil {
			s.firstSeen(fp)
		}
	}
	return nil
}

// writeJournal appends the lines that wait; the caller holds s.flush.
func (s *session) writeJournal(ctx context.Context) error {
	s.mu.Lock()
	lines := s.journal.pending
	s.journal.pending = nil
	s.mu.Unlock()
	if len(lines) == 0 {
		return nil
	}
	if err := s.log.Journal(ctx, lines); err != nil {
		s.mu.Lock()
		s.journal.pending = append(lines, s.journal.pending...)
		s.mu.Unlock()
		return err
	}
	return nil
}
