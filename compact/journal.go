package compact

import (
	"context"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// note puts the messages down that never came by before. Our own summaries,
// notices and placeholders are no messages of the session.
func (c *call) note() {
	if c.m.cfg.Storage.Transcripts != "all" || c.q.dry || c.q.observe {
		return
	}
	var fresh []message.Message
	for i := range c.history {
		if !c.s.audit.room() {
			break
		}
		if fp := c.history[i].Fingerprint(); c.s.firstSeen(fp) && !c.s.ours(&c.history[i], fp) {
			fresh = append(fresh, c.history[i])
		}
	}
	c.s.study(fresh)
	for i := range fresh {
		if fp := fresh[i].Fingerprint(); !c.s.audit.addJournal(journalLine{fp, c.s.line(fresh[i])}) {
			c.s.unsee(fp)
		}
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
	if s.seen == nil {
		s.seen = map[message.Fingerprint]bool{}
	}
	if s.seen[fp] {
		return false
	}
	s.seen[fp] = true
	return true
}

// seeWaiting learns what this process has put down and not written yet.
func (s *session) seeWaiting() {
	s.audit.mu.Lock()
	defer s.audit.mu.Unlock()
	for i := range s.audit.journal {
		s.firstSeen(s.audit.journal[i].fp)
	}
}

// readJournal learns what other processes have put down.
func (s *session) readJournal(ctx context.Context) error {
	for line, err := range s.log.JournalLines(ctx) {
		if err != nil {
			return err
		}
		var fp message.Fingerprint
		if fp.UnmarshalText([]byte(metaOf(line).fp)) == nil {
			for _, with := range s.ring().All() { // the line does not say which it is
				s.firstSeen(message.Fingerprint(with.Open(fp)))
			}
		}
	}
	return nil
}

// unsee forgets that a message came by: the journal could not take it.
func (s *session) unsee(fp message.Fingerprint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, fp)
}
