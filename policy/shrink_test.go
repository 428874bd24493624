package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A builtRound describes a round made by a test. A user message belongs to the turn of the
// model's answer.
type builtRound struct {
	turn, pairs, cost int
	user              bool
}

// built returns a random conversation of complete turns, and its rounds without the system
// message.
func built(rng *rand.Rand) (msgs []message.Message, rounds []builtRound) {
	msgs = []message.Message{message.System("You fix bugs.")}
	turn := 0
	add := func(pairs int, of ...message.Message) {
		it := builtRound{turn: turn, pairs: pairs, user: of[0].Role == message.RoleUser}
		for _, m := range of {
			it.cost += byWords{}.Message(m)
		}
		if msgs, rounds = append(msgs, of...), append(rounds, it); !it.user {
			turn++
		}
	}
	words := func() string { return strings.TrimSpace(strings.Repeat("word ", 1+rng.IntN(40))) }
	for n := range 2 + rng.IntN(6) {
		add(0, message.User(words()))
		for k := range rng.IntN(4) {
			calls, results := []message.Part(nil), []message.Message(nil)
			for c := range 1 + rng.IntN(2) {
				id := fmt.Sprint(n, "-", k, "-", c)
				calls, results = append(calls, message.Call(id, "read", `{}`)), append(results, message.ToolResult(id, words()))
			}
			add(len(calls), append([]message.Message{message.Assistant(words(), calls...)}, results...)...)
		}
		add(0, message.Assistant(words()))
	}
	return msgs, rounds
}

// stays returns the remaining part of a conversation that keeps its last turns, the rounds
// of its last tool pairs and its last user message.
func stays(system int, rounds []builtRound, turns, pairs int) int {
	last, n, asked := rounds[len(rounds)-1].turn, system, false
	for r := len(rounds) - 1; r >= 0; r-- {
		it := rounds[r]
		byPair := it.pairs > 0 && pairs > 0
		if byPair {
			pairs -= it.pairs
		}
		if it.turn > last-turns || byPair || it.user && !asked {
			n += it.cost
		}
		asked = asked || it.user
	}
	return n
}

// Shrink lowers the keep counts alternately, turns first, until the view fits, and no
// further. It reverts decrements that free nothing.
func TestShrinkLowersTheKeepCountsOnlyAsNeeded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	fits := map[bool]int{}
	for n := range 4000 {
		msgs, rounds := built(rng)
		v := NewView(msgs, Pins{message.RoleSystem}, byWords{})
		v.Keep = Keep{Turns: 1 + rng.IntN(5), Pairs: 1 + rng.IntN(6)}
		v.Rigid = rng.IntN(10) == 0
		system, reserve := v.Tokens[0], rng.IntN(30)
		v.Budget.Cap = system + reserve + rng.IntN(v.Total())
		room := v.Budget.Cap
		if rng.IntN(3) == 0 {
			v.Budget.shrinkTo = 1 + rng.IntN(2*v.Budget.Cap)
			room = min(room, v.Budget.shrinkTo)
		}
		if rng.IntN(3) == 0 { // at the bound
			room = stays(system, rounds, 1+rng.IntN(v.Keep.Turns), 1+rng.IntN(v.Keep.Pairs)) + reserve - rng.IntN(2)
			v.Budget.Cap, v.Budget.shrinkTo = room, 0
		}
		left := func(k Keep) int { return stays(system, rounds, k.Turns, k.Pairs) }
		want, turn := v.Keep, true
		for !v.Rigid && left(want)+reserve > room && want != (Keep{Turns: 1, Pairs: 1}) {
			switch {
			case want.Pairs == 1, turn && want.Turns > 1:
				want.Turns--
			default:
				want.Pairs--
			}
			turn = !turn
		}
		size := left(want)
		for want.Turns < v.Keep.Turns && left(Keep{want.Turns + 1, want.Pairs}) == size {
			want.Turns++
		}
		for want.Pairs < v.Keep.Pairs && left(Keep{want.Turns, want.Pairs + 1}) == size {
			want.Pairs++
		}
		fits[size+reserve <= room]++
		if got := v.Shrink(reserve); got != want {
			t.Fatalf("conversation %d: %+v of %+v, want %+v: room %d, reserve %d, rigid %v, %+v", n, got, v.Keep, want, room, reserve, v.Rigid, rounds)
		}
		gone := 0
		for _, i := range v.Partition(want).Remainder {
			gone += v.Tokens[i]
		}
		if v.Total()-gone != size {
			t.Fatalf("conversation %d: %d tokens stay, want %d", n, v.Total()-gone, size)
		}
	}
	if fits[true] < 500 || fits[false] < 500 {
		t.Errorf("%v of the budgets fit, want at least 500 that fit and 500 that do not", fits)
	}
}

// A cut may remove a summary made by a stage, however recent it is, and the recent span
// begins after it. The last message of a user or an agent is never mistaken for such a
// summary, even if it has the form of one. A pinned message in the middle is in the recent
// span.
func TestPartitionPlacesSummariesAndPins(t *testing.T) {
	const summary = "<COMPACT-SUMMARY v1>\nThe goal is to ship.\n</COMPACT-SUMMARY>"
	system, said := message.System("You fix bugs."), message.Assistant("I did.")
	for name, c := range map[string]struct {
		msgs      []message.Message
		turns     int
		remainder string
		recent    string
		start     int
	}{
		"a summary in front":                      {[]message.Message{system, message.Assistant(summary), message.User("go"), said}, 9, "[1]", "[2 3]", 2},
		"a summary as a message of the user":      {[]message.Message{system, message.User(summary), message.Assistant("ok"), message.User("go"), said}, 9, "[1]", "[2 3 4]", 2},
		"the last words of a user":                {[]message.Message{system, message.User("go"), said, message.User(summary), said}, 1, "[1 2]", "[3 4]", 3},
		"a message of the user without an answer": {[]message.Message{system, message.User("go"), said, message.User(summary), message.User("and go on")}, 1, "[]", "[1 2 3 4]", 1},
		"an instruction in the middle":            {[]message.Message{system, message.User("go"), said, system, message.User("more"), said}, 1, "[1 2]", "[4 5]", 3},
		"an instruction at the end":               {[]message.Message{system, message.User("go"), said, message.User("more"), system, said}, 2, "[]", "[1 2 3 5]", 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := NewView(c.msgs, Pins{message.RoleSystem}, byWords{}).Partition(Keep{Turns: c.turns})
			if fmt.Sprint(p.Remainder) != c.remainder || fmt.Sprint(p.Recent) != c.recent || p.Start != c.start {
				t.Errorf("%+v, want remainder %s, recent messages %s, from %d", p, c.remainder, c.recent, c.start)
			}
		})
	}
}

// Copies of an instruction are removed before any turn.
func TestShrinkKeepsATurnIfRemovingCopiesIsEnough(t *testing.T) {
	rule := message.System("Always " + strings.Repeat("be careful ", 20))
	msgs := []message.Message{message.System("You fix bugs."), rule}
	for range 3 {
		msgs = append(msgs, message.User("go on"), message.Assistant("I did."), rule)
	}
	v := NewView(append(msgs, message.User("go on"), message.Assistant("I did.")), Pins{message.RoleSystem}, byWords{})
	v.Keep = Keep{Turns: 4, Pairs: 1}
	v.Budget.Cap = v.Total() - 3*v.Tokens[1]
	if got := v.Shrink(0); got != v.Keep {
		t.Errorf("%+v with room for all but the copies, want an unchanged keep", got)
	}
	v.Budget.Cap--
	if got := v.Shrink(0); got.Turns != 3 {
		t.Errorf("%+v with one token less, want 3 turns", got)
	}
	v.Budget.Cap = v.Total() - 1
	if got := v.Shrink(0); got != v.Keep {
		t.Errorf("%+v with more room, want an unchanged keep", got)
	}
}
