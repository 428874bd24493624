package eval

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/ident"
)

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

	kept set // what pinned and recent messages name
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
	start := lastTurns(before, RecentTurns)
	s.kept = set{}
	for i, m := range before {
		switch {
		case m.Role == message.RoleSystem || m.Role == message.RoleDeveloper:
			s.Pinned = append(s.Pinned, m)
		case i >= start:
			s.Recent = append(s.Recent, m)
		default:
			s.Evicted = append(s.Evicted, m)
			continue
		}
		s.kept.message(m)
	}
}

// lastTurns returns where the last n assistant turns begin.
func lastTurns(msgs []message.Message, n int) int {
	start := len(msgs)
	for i := len(msgs) - 1; i >= 0 && n > 0; i-- {
		if msgs[i].Role == message.RoleAssistant {
			start = i
			n--
		}
	}
	return start
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
	ident.Scan(id, func(k ident.Kind, _, _ int) {
		ok = ok || k != ident.Version && k != ident.Code && k != ident.Email
	})
	return ok
}

// InView returns how many of the needed identifiers the view names when text
// stands for what was evicted.
func (s *Split) InView(text string) int {
	have := set{}
	have.text(text)
	n := 0
	for _, id := range s.Needed {
		if s.kept[id] || have[id] {
			n++
		}
	}
	return n
}

// masked is what was evicted with the observations of all but the last ten
// turns masked.
func (s *Split) masked() string {
	visible := lastTurns(s.Evicted, max(maskingWindow-RecentTurns, 0))
	var b strings.Builder
	for i, m := range s.Evicted {
		for _, p := range m.Parts {
			if p.Kind == message.KindToolResult && i < visible {
				b.WriteString("[observation masked]\n")
				continue
			}
			b.WriteString(p.Text + "\n")
			if len(p.Args) > 0 {
				b.WriteString(strings.Join(arguments(p.Args), " ") + "\n")
			}
		}
	}
	return b.String()
}
