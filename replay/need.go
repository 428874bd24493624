package replay

import (
	"slices"
	"strings"
	"sync"

	"github.com/agentcompact/compact/message"
)

// needs holds, for one session, the identifiers of each message and the
// identifiers that each answer uses. All replays of the session share it.
type needs struct {
	holds map[string][]int // identifier → the messages that contain it, ascending
	uses  map[int][]string // assistant message → the identifiers of earlier messages that it uses

	mu   sync.Mutex
	made map[message.Fingerprint]map[string]bool
}

func newNeeds(msgs []message.Message) *needs {
	n := &needs{holds: map[string][]int{}, uses: map[int][]string{}, made: map[message.Fingerprint]map[string]bool{}}
	for i := range msgs {
		seen := map[string]bool{}
		read(&msgs[i], func(text string) {
			identifiers(text, func(id string) { seen[strings.Clone(id)] = true })
		})
		if msgs[i].Role == message.RoleAssistant {
			n.uses[i] = n.known(seen)
		}
		for id := range seen {
			n.holds[id] = append(n.holds[id], i)
		}
	}
	return n
}

// known returns the identifiers that an earlier message contains, sorted.
func (n *needs) known(ids map[string]bool) []string {
	var out []string
	for id := range ids {
		if len(n.holds[id]) > 0 {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// inFull reports, for each message of the history, whether a view contains it
// unchanged.
func inFull(history []message.Message, v *View) []bool {
	whole := make([]bool, len(history))
	for k, src := range v.Sources {
		if src >= 0 && message.Identical(v.Messages[k], history[src]) {
			whole[src] = true
		}
	}
	return whole
}

// at returns the number of identifiers that the answer at index call needs, and how
// many of them are not in the view. An unchanged message contains its original
// identifiers. An edited message contains the identifiers of its new text, and so does
// a message that the policy made; in the latter, only readable lines count.
func (n *needs) at(call int, v *View, whole []bool) (needed int, missing []string) {
	uses := n.uses[call]
	if len(uses) == 0 {
		return 0, nil
	}
	var changed []map[string]bool
	for k := range v.Messages {
		if src := v.Sources[k]; src < 0 || !whole[src] {
			changed = append(changed, n.of(&v.Messages[k], src < 0))
		}
	}
	for _, id := range uses {
		if !n.held(id, whole, changed) {
			missing = append(missing, id)
		}
	}
	return len(uses), missing
}

func (n *needs) held(id string, whole []bool, changed []map[string]bool) bool {
	for _, i := range n.holds[id] {
		if i >= len(whole) {
			break
		}
		if whole[i] {
			return true
		}
	}
	return slices.ContainsFunc(changed, func(ids map[string]bool) bool { return ids[id] })
}

// of returns the identifiers of a message that is not in the history, or is
// edited there. If made is set, the policy made it, and only readable lines
// count.
func (n *needs) of(m *message.Message, made bool) map[string]bool {
	fp := m.Fingerprint()
	n.mu.Lock()
	ids, ok := n.made[fp]
	n.mu.Unlock()
	if ok {
		return ids
	}
	ids = map[string]bool{}
	read(m, func(text string) {
		for line := range strings.SplitSeq(text, "\n") {
			if !made || isReadable(line) {
				identifiers(line, func(id string) { ids[strings.Clone(id)] = true })
			}
		}
	})
	n.mu.Lock()
	n.made[fp] = ids
	n.mu.Unlock()
	return ids
}
