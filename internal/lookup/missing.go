package lookup

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/storage/turnindex"
)

// Missing is the error for a reference that is not in the archive.
type Missing struct {
	Ref   string
	There string // the existing turns or messages, as the end of a sentence; "" = unknown
}

func (e *Missing) Error() string { return ErrNotFound.Error() + ": " + e.Ref + e.There }

func (e *Missing) Unwrap() error { return ErrNotFound }

// otherSlots names the slots that the archive has of a turn without the slot of q. The result is ""
// if the archive has nothing of the turn.
func (s *Session) otherSlots(ctx context.Context, q Ref) string {
	if !q.Query.IsTurn() || q.Slot == turnindex.Other {
		return ""
	}
	var has []string
	for slot := turnindex.Request; slot <= turnindex.Observation; slot++ {
		of := q
		of.Slot = slot
		if _, found, err := s.Find(ctx, of); found && err == nil {
			has = append(has, slot.String())
		}
	}
	if len(has) == 0 {
		return ""
	}
	turn, _, _ := strings.Cut(strings.TrimPrefix(q.Text, "turn:"), ":")
	return fmt.Sprintf("; of turn %s it has %s", turn, strings.Join(has, ", "))
}

// thereAre describes the existing turns or messages, for the error about a missing one.
func (s *Session) thereAre(q Ref) string {
	steps := s.book.Steps()
	what, of := "turns %d to %d", func(_ *ledger.Step, e *ledger.Eviction) int { return int(e.Turn) }
	switch {
	case q.First > 0:
		meant := q.numbers(steps)
		what, of = "s%d to s%d", func(step *ledger.Step, e *ledger.Eviction) int {
			if !meant(step, e) {
				return 0
			}
			return int(e.Number)
		}
	case !q.Query.IsTurn():
		return ""
	}
	if len(steps) == 0 {
		return "; no compaction of this session is stored"
	}
	first, last := 0, 0
	for k := range steps {
		for i := range steps[k].Evicted {
			if n := of(&steps[k], &steps[k].Evicted[i]); n > 0 {
				first, last = cmp.Or(min(first, n), n), max(last, n)
			}
		}
	}
	if last == 0 {
		return ""
	}
	return "; " + fmt.Sprintf(what, first, last) + " were removed"
}
