package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
)

// Definition of the measure.
const (
	CutShare    = 0.85 // share of the window at which a session is cut
	RecentTurns = 6    // number of assistant turns before the cut that stay
)

// A Split is a session cut in two.
type Split struct {
	Session
	Pinned  []message.Message
	Evicted []message.Message
	Recent  []message.Message
	After   []message.Message
	Needed  []string // identifiers, in the order in which they are needed

	reading *reading
	kept    *names // identifiers in pinned and recent messages
	facts   Facts
	fits    bool // the typed text fits into the user's words
}

// Cut cuts a session where it first exceeds CutShare of the window, which is in tokens.
// count returns the cost of a message. ok is false if the session never exceeds the share,
// evicts nothing or ends at the cut.
func Cut(s Session, window int, count func(message.Message) int) (split Split, ok bool) {
	return literal().cut(s, window, count)
}

func (r *reading) cut(s Session, window int, count func(message.Message) int) (split Split, ok bool) {
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
	split.Session, split.After, split.reading = s, s.Messages[cut:], r
	split.arrange(s.Messages[:cut])
	if len(split.Evicted) == 0 {
		return Split{}, false
	}
	split.Needed = split.needed()
	return split, true
}

// arrange sorts the messages before the cut into pinned, recent and evicted.
func (s *Split) arrange(before []message.Message) {
	start, anchor := lastTurns(before, RecentTurns), message.Anchor(before)
	s.kept = s.reading.names()
	for i, m := range before {
		switch {
		case m.Role == message.RoleSystem || m.Role == message.RoleDeveloper:
			s.Pinned = append(s.Pinned, m)
		case i >= start || i == anchor:
			s.Recent = append(s.Recent, m)
		default:
			s.Evicted = append(s.Evicted, m)
			continue
		}
		s.kept.message(m)
	}
}

// lastTurns returns the index at which the last n assistant turns begin.
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

// needed returns the identifiers that the rest of the session uses before it
// shows them again.
func (s *Split) needed() []string {
	evicted, shown, used := s.reading.names(s.Evicted...), s.reading.names(), map[string]bool{}
	var out []string
	for _, m := range s.After {
		if m.Role != message.RoleAssistant {
			shown.message(m)
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(s.reading.names(m).ids)) {
			if !used[id] && evicted.have(id) && !shown.have(id) {
				out = append(out, id)
			}
			used[id] = true
		}
	}
	return out
}

// InView returns how many of the needed identifiers the view names if text
// replaces the evicted messages.
func (s *Split) InView(text string) int {
	in := s.reading.names()
	in.add(text)
	in.add(strings.Join(inFolders(text), "\n"))
	n := 0
	for _, id := range s.Needed {
		if s.kept.have(id) || in.have(id) {
			n++
		}
	}
	return n
}

// masked returns the evicted text with observations masked, except in the last
// ten turns before the cut.
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
