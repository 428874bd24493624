package replay

import (
	"math"
	"slices"

	"github.com/agentcompact/compact/message"
)

// A NeedRate holds the number of later calls that need a message of one kind again
// after the message has reached an age. A call needs a message if it uses an identifier
// and the message is the newest message that contains this identifier. A call counts
// once per message.
type NeedRate struct {
	Age      int     // turns
	Messages int     // messages that reached this age
	Rate     float64 // later calls per message
	Error    float64 // standard error of Rate, over sessions
	Out      float64 // error of the rate for a project that is left out of the count, averaged over messages, as a share of Rate
}

// Needs holds the counts for the rates, by session.
type Needs struct {
	ages     []int
	sessions []needCounts
}

// needCounts holds the counts of one session, by kind (results first) and age.
type needCounts struct {
	project string
	reached [2][]int
	needed  [2][]int
}

// NewNeeds counts at these ages, in turns, ascending.
func NewNeeds(ages ...int) *Needs { return &Needs{ages: ages} }

// Add counts a session.
func (n *Needs) Add(s *Session) {
	c := needCounts{project: Project(s.Name)}
	for k := range c.reached {
		c.reached[k], c.needed[k] = make([]int, len(n.ages)), make([]int, len(n.ages))
	}
	turn := make([]int, len(s.Messages))
	turns := 0
	for i := range s.Messages {
		turn[i] = turns
		if s.Messages[i].Role == message.RoleAssistant {
			turns++
		}
	}
	for i := range s.Messages {
		n.count(c.reached[kindOf(&s.Messages[i])], turns-turn[i])
	}
	needs := newNeeds(s.Messages)
	for at, ids := range needs.uses {
		newest := map[int]bool{}
		for _, id := range ids {
			holds := needs.holds[id]
			if k, _ := slices.BinarySearch(holds, at); k > 0 {
				newest[holds[k-1]] = true
			}
		}
		for i := range newest {
			n.count(c.needed[kindOf(&s.Messages[i])], turn[at]-turn[i])
		}
	}
	n.sessions = append(n.sessions, c)
}

// count adds one for every age up to this one.
func (n *Needs) count(to []int, age int) {
	for k, a := range n.ages {
		if age >= a {
			to[k]++
		}
	}
}

// kindOf returns 0 for messages with tool results, 1 for others.
func kindOf(m *message.Message) int {
	if m.Has(message.KindToolResult) {
		return 0
	}
	return 1
}

// Sessions returns the number of counted sessions.
func (n *Needs) Sessions() int { return len(n.sessions) }

// Results returns the rates of messages with tool results.
func (n *Needs) Results() []NeedRate { return n.rates(0) }

// Said returns the rates of all other messages.
func (n *Needs) Said() []NeedRate { return n.rates(1) }

func (n *Needs) rates(kind int) []NeedRate {
	out := make([]NeedRate, len(n.ages))
	for k := range out {
		needed, reached := n.sums(kind, k, func(*needCounts) bool { return true })
		r := NeedRate{Age: n.ages[k], Messages: int(reached), Rate: ratio(needed, reached)}
		r.Error, r.Out = n.spread(kind, k, r.Rate, reached), n.out(kind, k, r.Rate, reached)
		out[k] = r
	}
	return out
}

func (n *Needs) sums(kind, k int, of func(*needCounts) bool) (needed, reached float64) {
	for i := range n.sessions {
		if s := &n.sessions[i]; of(s) {
			needed += float64(s.needed[kind][k])
			reached += float64(s.reached[kind][k])
		}
	}
	return needed, reached
}

// spread returns the standard error of a ratio over sessions.
func (n *Needs) spread(kind, k int, rate, reached float64) float64 {
	sum := 0.0
	for i := range n.sessions {
		d := float64(n.sessions[i].needed[kind][k]) - rate*float64(n.sessions[i].reached[kind][k])
		sum += d * d
	}
	m := float64(len(n.sessions))
	if m < 2 || reached == 0 {
		return 0
	}
	return math.Sqrt(sum*m/(m-1)) / reached
}

// out measures the error of the rate for each project by leaving that project
// out.
func (n *Needs) out(kind, k int, rate, reached float64) float64 {
	seen, sum := map[string]bool{}, 0.0
	for i := range n.sessions {
		p := n.sessions[i].project
		if seen[p] {
			continue
		}
		seen[p] = true
		in, inReached := n.sums(kind, k, func(s *needCounts) bool { return s.project == p })
		rest, restReached := n.sums(kind, k, func(s *needCounts) bool { return s.project != p })
		sum += math.Abs(in - ratio(rest, restReached)*inReached)
	}
	return ratio(sum, rate*reached)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
