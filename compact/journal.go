package compact

import (
	"context"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
)

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
