package compact

import (
	"slices"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// memo caches the replay of a lane's last history, for histories that continue
// it. It changes no outcome: it holds exactly the result of a replay of the
// ledger.
type memo struct {
	history []message.Message
	steps   int // number of the session's steps when it was made
	edits   int // number of the lane's edits between steps
	now     replayed

	origins    int // number of known edited messages
	studied    int // number of leading messages that were searched for secrets
	recognized int // number of leading messages of the conversation that were looked up among the edited ones
}

// inCommon returns the number of leading messages that are the same in two histories,
// byte for byte.
func inCommon(a, b []message.Message) int {
	for i := range min(len(a), len(b)) {
		if !message.Identical(a[i], b[i]) {
			return i
		}
	}
	return min(len(a), len(b))
}

// unstudied returns the messages of the history that were not searched for
// secrets.
func (m *memo) unstudied(history []message.Message) []message.Message {
	from := min(m.studied, len(history))
	m.studied = len(history)
	return history[from:]
}

// grow extends the memo to a longer history. The longer history must begin, byte for
// byte, with the remembered history, and no further step can apply to it. For any other
// history it returns false and changes nothing.
func (m *memo) grow(history []message.Message) bool {
	known := len(m.history)
	more := len(history) - known
	if more > m.now.room || inCommon(m.history, history) < known {
		return false
	}
	m.now.room -= more
	m.now.conv = m.now.conv.Append(history[known:])
	m.history = append(m.history, history[known:]...)
	return true
}

// viewCache caches the costs and the view of a replayed conversation. Values that
// depend on the model are recomputed for another model.
type viewCache struct {
	ep       *epoch
	costs    []int        // tokens of the messages of the history
	observed int          // tokens of messages with tool results
	view     *policy.View // view of the conversation, or of its beginning
}

// A replayed conversation is the history with the edits of earlier steps.
type replayed struct {
	conv  *reduce.Conversation
	chain *reduce.Chain // chain of conv
	last  *ledger.Step  // newest compaction whose edits conv has; nil = none
	edits int           // number of edits that were applied
	made  []Earlier     // settings of the compactions whose edits conv has; never modified in place
	room  int           // number of messages that can be appended before another step can apply
	seen  *viewCache
}

// await records a step whose prefix is longer than the history, so that it is
// unknown whether the step applies.
func (r *replayed) await(t *reduce.Trail, l reduce.Link) {
	if ahead := l.N - t.Len() - 1; ahead >= 0 {
		r.room = min(r.room, ahead)
	}
}

// went records a step whose edits are in the conversation: they were applied now, or
// the incoming history had them already.
func (r *replayed) went(step *ledger.Step) {
	if step.Kind == ledger.KindTidy {
		return // tidy steps are not compactions
	}
	r.last = step
	by := Earlier{Preset: step.Preset, Strategy: step.Strategy, Window: step.Window}
	at := slices.IndexFunc(r.made, func(m Earlier) bool {
		return m.Preset == by.Preset && m.Strategy == by.Strategy && m.Window == by.Window
	})
	made := slices.Clone(r.made)
	if at < 0 {
		at, made = len(made), append(made, by)
	}
	if step.Step > 0 {
		made[at].Steps++
		made[at].Last = step.Step
	}
	r.made = made
}
