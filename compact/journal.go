package compact

import (
	"context"
	"fmt"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/record"
)

// note adds new messages to the journal. The manager's own summaries, notices
// and placeholders are not messages of the session.
func (c *call) note() {
	if c.m.cfg.Storage.Transcripts != "all" || c.q.dry || c.q.observe {
		return
	}
	var fresh []message.Message
	for i := range c.history {
		if !c.s.audit.room() {
			break
		}
		if fp := c.history[i].Fingerprint(); c.s.firstSeen(fp) && !c.s.reads.Ours(&c.history[i], fp) {
			fresh = append(fresh, c.history[i])
		}
	}
	c.s.study(fresh)
	for i := range fresh {
		line := c.s.line(fresh[i])
		if line.Len() > record.MaxLogLine {
			c.res.Warnings = append(c.res.Warnings, fmt.Sprintf("a message of %d bytes is too long for the journal (storage.transcripts: all), which leaves it out; a compaction that removes the message stores it", line.Len()))
			continue
		}
		if fp := fresh[i].Fingerprint(); !c.s.audit.addJournal(journalLine{fp, line}) {
			c.s.unsee(fp)
		}
	}
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

// seeWaiting marks the messages in this process's unwritten journal lines as
// seen.
func (s *session) seeWaiting() {
	s.audit.mu.Lock()
	defer s.audit.mu.Unlock()
	for i := range s.audit.journal {
		s.firstSeen(s.audit.journal[i].fp)
	}
}

// readJournal marks the messages in the stored journal as seen.
func (s *session) readJournal(ctx context.Context) error {
	for line, err := range s.log.JournalLines(ctx) {
		if err != nil {
			return err
		}
		var fp message.Fingerprint
		if fp.UnmarshalText([]byte(ledger.MetaOf(line).FP)) == nil {
			for _, with := range s.keys.All() { // the line does not name the key
				s.firstSeen(message.Fingerprint(with.Open(fp)))
			}
		}
	}
	return nil
}

// unsee marks a message as not seen, because the journal had no room for it.
func (s *session) unsee(fp message.Fingerprint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, fp)
}
