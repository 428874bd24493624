// Package eval measures summaries on recorded sessions by what counts: whether
// the identifiers that the rest of the session needed are still in the view.
//
// A session is cut where it first passes 85 % of the window. The last six
// assistant turns before the cut are recent, system and developer messages are
// pinned, everything else is evicted and summarised. An identifier is needed
// when assistant text or tool arguments after the cut use it, the evicted part
// had it, and no user message or result after the cut showed it again before
// that use. The score, future-need recall, is the share of the needed
// identifiers that the view still holds.
package eval

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/ident"
)

// A Session is a recorded conversation.
type Session struct {
	Name     string
	Source   string // where it comes from: sessions of one source are reported together
	Messages []message.Message
}

// Definition of the measure.
const (
	CutShare    = 0.85 // of the window: where a session is cut
	RecentTurns = 6    // assistant turns before the cut that stay
)

// A Split is a session cut in two.
type Split struct {
	Session
	Pinned  []message.Message
	Evicted []message.Message
	Recent  []message.Message
	After   []message.Message
	Needed  []string // identifiers, in the order in which they are needed
}

// Cut cuts a session at a window of that many tokens; count says what a
// message costs. ok is false for a session that never gets there, evicts
// nothing or ends at the cut.
func Cut(s Session, window int, count func(message.Message) int) (split Split, ok bool) {
	total, cut := 0, -1
	limit := CutShare * float64(window)
	for i, m := range s.Messages {
		if total += count(m); float64(total) > limit {
			cut = i + 1
			break
		}
	}
	if cut < 0 || cut == len(s.Messages) {
		return Split{}, false
	}
	split.Session, split.After = s, s.Messages[cut:]
	split.arrange(s.Messages[:cut])
	if len(split.Evicted) == 0 {
		return Split{}, false
	}
	split.Needed = split.needed()
	return split, true
}

// arrange sorts what stands before the cut.
func (s *Split) arrange(before []message.Message) {
	start, turns := len(before), 0
	for i := len(before) - 1; i >= 0 && turns < RecentTurns; i-- {
		if before[i].Role == message.RoleAssistant {
			start, turns = i, turns+1
		}
	}
	for i, m := range before {
		switch {
		case m.Role == message.RoleSystem || m.Role == message.RoleDeveloper:
			s.Pinned = append(s.Pinned, m)
		case i >= start:
			s.Recent = append(s.Recent, m)
		default:
			s.Evicted = append(s.Evicted, m)
		}
	}
}

// needed finds what the rest of the session uses without being shown it again.
func (s *Split) needed() []string {
	evicted := set{}
	for _, m := range s.Evicted {
		evicted.message(m)
	}
	known := set{} // used or shown after the cut
	var out []string
	for _, m := range s.After {
		seen := set{}
		seen.message(m)
		for _, id := range seen.order() {
			if known[id] {
				continue
			}
			known[id] = true
			if m.Role == message.RoleAssistant && evicted[id] && countable(id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// countable leaves out the kinds that the measure does not count.
func countable(id string) bool {
	ok := false
	ident.Scan(id, func(k ident.Kind, _, _ int) { ok = ok || k != ident.Version && k != ident.Code && k != ident.Email })
	return ok
}

// InView returns how many of the needed identifiers the view holds when
// summary stands for what was evicted.
func (s *Split) InView(summary string) int {
	have := set{}
	for _, m := range s.Pinned {
		have.message(m)
	}
	for _, m := range s.Recent {
		have.message(m)
	}
	have.text(summary)
	n := 0
	for _, id := range s.Needed {
		if have[id] {
			n++
		}
	}
	return n
}
