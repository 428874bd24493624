package replay

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

// A Standing counts the content of one kind and age in the prompts of all
// calls: its tokens and its use.
type Standing struct {
	Kind   string `json:"kind"`   // system, typed, said, calls, results, edited results, summaries
	Age    int    `json:"age"`    // lower bound, in turns; the next of ages is the upper bound
	Tokens int    `json:"tokens"` // over all calls
	Used   int    `json:"used"`   // number of needed identifiers whose newest message in the prompt has this kind and age
}

// A Loss counts needed identifiers of one sort that the views did not hold.
type Loss struct {
	// decision on the newest message with the identifier: summarized, dropped, masked, truncated,
	// reduced by a reducer, or gone (unknown)
	Fate    string `json:"fate"`
	Kind    string `json:"kind"`    // kind of that message
	Age     int    `json:"age"`     // age of that message in turns, as in Standing
	Form    string `json:"form"`    // of the identifier: path, URL, number, hash, name
	Missing int    `json:"missing"` // number of identifiers
}

// ages are the lower bounds of the classes of age, in turns.
var ages = [...]int{0, 2, 6, 12, 24, 48}

// whereCounts counts, for one session, the identifiers in the views and the missing ones.
type whereCounts struct {
	count    *token.Estimator
	needs    *needs
	turn     []int // of each message so far
	turns    int
	standing map[Standing]*Standing // by kind and age
	lost     map[Loss]int           // by the other fields
}

func newWhere(count *token.Estimator, n *needs) *whereCounts {
	return &whereCounts{count: count, needs: n, standing: map[Standing]*Standing{}, lost: map[Loss]int{}}
}

// call adds one call: the content of its view, and the identifiers that it
// lacks.
func (w *whereCounts) call(at int, history []message.Message, v *View, whole []bool, missing []string) {
	for i := len(w.turn); i < len(history); i++ {
		w.turn = append(w.turn, w.turns)
		w.turns += one(history[i].Role == message.RoleAssistant)
	}
	place := make([]*Standing, len(history)) // the Standing of each message that the view contains unchanged
	var changed []changedAt
	for k := range v.Messages {
		src := v.Sources[k]
		s := w.at(kindIn(&v.Messages[k], src, whole), w.age(src))
		s.Tokens += w.count.Message(v.Messages[k])
		if src >= 0 && whole[src] {
			place[src] = s
		} else {
			changed = append(changed, changedAt{w.needs.of(&v.Messages[k], src < 0), s, src})
		}
	}
	for _, id := range w.needs.uses[at] {
		if slices.Contains(missing, id) {
			i := w.holder(id, at)
			w.lost[Loss{Fate: v.fate(i), Kind: kindIn(&history[i], i, nil), Age: w.age(i), Form: idForm(id)}]++
			continue
		}
		if s := w.newest(id, at, place, changed); s != nil {
			s.Used++
		}
	}
}

// A changedAt is a message of a view that is not an unchanged message of the
// history.
type changedAt struct {
	holds map[string]bool
	in    *Standing
	src   int
}

// newest returns the Standing of the newest message in a view that contains an
// identifier.
func (w *whereCounts) newest(id string, at int, place []*Standing, changed []changedAt) (best *Standing) {
	src := -2
	for _, i := range w.needs.holds[id] {
		if i < at && place[i] != nil {
			best, src = place[i], i
		}
	}
	for _, c := range changed {
		if c.src > src && c.holds[id] {
			best, src = c.in, c.src
		}
	}
	return best
}

// holder returns the index of the newest message before an answer that contains
// an identifier.
func (w *whereCounts) holder(id string, at int) int {
	holds := w.needs.holds[id]
	k, _ := slices.BinarySearch(holds, at)
	return holds[k-1]
}

func (w *whereCounts) at(kind string, age int) *Standing {
	key := Standing{Kind: kind, Age: age}
	if w.standing[key] == nil {
		w.standing[key] = &Standing{Kind: kind, Age: age}
	}
	return w.standing[key]
}

// age returns the class of a message's age. Messages of the policy have age 0.
func (w *whereCounts) age(src int) int {
	if src < 0 {
		return 0
	}
	k, _ := slices.BinarySearch(ages[:], w.turns-w.turn[src]+1)
	return ages[k-1]
}

// kindIn names the kind of a message. For a message of the history, whole is nil.
func kindIn(m *message.Message, src int, whole []bool) string {
	switch {
	case src < 0:
		return "summaries"
	case m.Has(message.KindToolResult) && whole != nil && !whole[src]:
		return "edited results"
	case m.Has(message.KindToolResult):
		return "results"
	case m.Has(message.KindToolCall):
		return "calls"
	case m.Role == message.RoleAssistant:
		return "said"
	case m.IsUser():
		return "typed"
	}
	return "system"
}

// fate returns the decision on a message of the history; "gone" if the policy does not
// name one.
func (v *View) fate(i int) string {
	if i < len(v.Fates) && v.Fates[i] != "" {
		return v.Fates[i]
	}
	return "gone"
}

// idForm names the form of an identifier.
func idForm(id string) string {
	switch {
	case strings.Contains(id, "://"):
		return "URL"
	case strings.Trim(id, "0123456789.,:-_/#@") == "":
		return "number"
	case strings.Contains(id, "/"):
		return "path"
	case len(id) >= 7 && strings.Trim(id, "0123456789abcdef-") == "":
		return "hash"
	}
	return "name"
}

// sorted returns the counts in a fixed order.
func (w *whereCounts) sorted() (standing []Standing, lost []Loss) {
	for _, s := range w.standing {
		standing = append(standing, *s)
	}
	for l, n := range w.lost {
		l.Missing = n
		lost = append(lost, l)
	}
	slices.SortFunc(standing, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Age, b.Age))
	})
	slices.SortFunc(lost, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(a.Fate, b.Fate), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Age, b.Age), cmp.Compare(a.Form, b.Form))
	})
	return standing, lost
}

// addWhere returns the sums over sessions.
func addWhere(rows []*Row) ([]Standing, []Loss) {
	w := newWhere(nil, nil)
	for _, r := range rows {
		for _, s := range r.Standing {
			to := w.at(s.Kind, s.Age)
			to.Tokens += s.Tokens
			to.Used += s.Used
		}
		for _, l := range r.Lost {
			n := l.Missing
			l.Missing = 0
			w.lost[l] += n
		}
	}
	return w.sorted()
}
