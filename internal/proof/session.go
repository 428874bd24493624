package proof

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/replay"
)

// Sessions returns the fixed set: two sessions of each kind of work, each above
// 60,000 tokens.
func Sessions() []*replay.Session {
	var all []*replay.Session
	for _, w := range []work{coding(), support(), research()} {
		for n := range 2 {
			all = append(all, w.session(n+1))
		}
	}
	return all
}

// work is one kind of work: the form of its results, and the sentences about them.
type work struct {
	name   string
	system string
	asks   []string // requests of the user, one after another; %s is a name from the session
	tools  []tool
	says   []string // texts of the agent before a call; %s has the same meaning
}

// tool makes a result that contains new names, and the arguments of its call.
type tool struct {
	name   string
	arg    string // the argument whose value is an earlier name
	result func(w *writer) (text string, names []string)
}

// writer makes one session.
type writer struct {
	*rand.Rand
	work  work
	msgs  []message.Message
	names []string // names so far, oldest first
	calls int
}

const (
	rounds     = 48
	askEvery   = 12   // rounds
	fromBefore = 0.35 // share of the names in an answer that are old
)

// session writes session n of a kind.
func (k work) session(n int) *replay.Session {
	w := &writer{Rand: rand.New(rand.NewPCG(uint64(n), uint64(len(k.name)))), work: k} //nolint:gosec // the seed makes the session repeatable
	w.msgs = append(w.msgs, message.System(k.system))
	for i := range rounds {
		if i%askEvery == 0 {
			w.say(message.User(w.filled(k.asks[i/askEvery%len(k.asks)])))
		}
		w.round(k.tools[w.IntN(len(k.tools))])
		if i%askEvery == askEvery-1 {
			w.say(message.Assistant(w.filled("Done so far. What matters: %s, then %s; %s stays as it is.")))
		}
	}
	return &replay.Session{Name: fmt.Sprintf("%s-%d", k.name, n), Messages: w.msgs}
}

func (w *writer) say(m message.Message) { w.msgs = append(w.msgs, m) }

// round is a call and its result; the result contains names for later rounds.
func (w *writer) round(t tool) {
	w.calls++
	id := fmt.Sprintf("call_%03d", w.calls)
	args, _ := json.Marshal(map[string]any{t.arg: w.known(), "limit": 20 + w.IntN(80)}) // texts and numbers: no error
	w.say(message.Assistant(w.filled(w.work.says[w.IntN(len(w.work.says))]), message.Call(id, t.name, string(args))))
	text, names := t.result(w)
	w.say(message.ToolResult(id, text))
	w.names = append(w.names, names...)
}

// known picks an earlier name: mostly a recent name, sometimes an old one.
func (w *writer) known() string {
	if len(w.names) == 0 {
		return w.work.name + "/README"
	}
	if w.Float64() < fromBefore {
		return w.names[w.IntN(len(w.names))]
	}
	return w.names[len(w.names)-1-w.IntN(min(len(w.names), 12))]
}

func (w *writer) filled(text string) string {
	for strings.Contains(text, "%s") {
		text = strings.Replace(text, "%s", w.known(), 1)
	}
	return text
}

// hex returns an id of n digits.
func (w *writer) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[w.IntN(16)]
	}
	return string(b)
}

func (w *writer) pick(list []string) string { return list[w.IntN(len(list))] }
