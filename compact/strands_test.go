package compact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
)

// Two agents that call under one name are reported once; agents with names are not, and
// neither is an agent that goes back and retries.
func TestUnnamedAgentsAreReported(t *testing.T) {
	first, second := turns(3, 50), append([]message.Message{message.User("You are the reviewer.")}, turns(2, 40)...)
	grown := func(h []message.Message, i int) []message.Message {
		return append(slices.Clone(h), message.User(fmt.Sprint("And now ", i)), message.Assistant(fmt.Sprint("Done ", i)))
	}
	told := func(run func(r *rig, warned func(res *compact.Result))) (n int) {
		run(newRig(t, compact.Config{}), func(res *compact.Result) {
			for _, w := range res.Warnings {
				if strings.Contains(w, "WithAgent") {
					n++
				}
			}
		})
		return n
	}
	if n := told(func(r *rig, warned func(*compact.Result)) {
		a, b := first, second
		for i := range 20 {
			a, b = grown(a, i), grown(b, i)
			warned(r.preflight(a))
			warned(r.preflight(b))
		}
	}); n != 1 {
		t.Errorf("without names the alternation is reported %d times", n)
	}
	if n := told(func(r *rig, warned func(*compact.Result)) {
		for i := range 2 * 5 { // conversations that have ended
			warned(r.preflight([]message.Message{message.User(fmt.Sprint("A question ", i))}))
		}
		a, b := first, second
		for i := range 5 {
			a, b = grown(a, i), grown(b, i)
			warned(r.preflight(a))
			warned(r.preflight(b))
		}
	}); n != 1 {
		t.Errorf("after other conversations the alternation is reported %d times", n)
	}
	if n := told(func(r *rig, warned func(*compact.Result)) {
		a, b := first, second
		for i := range 20 {
			a, b = grown(a, i), grown(b, i)
			warned(r.preflight(a, compact.WithAgent("one")))
			warned(r.preflight(b, compact.WithAgent("two")))
		}
	}); n != 0 {
		t.Errorf("with names the alternation is reported %d times", n)
	}
	if n := told(func(r *rig, warned func(*compact.Result)) {
		a := first
		for i := range 20 { // several tries from one point, then the last one continues
			warned(r.preflight(grown(a, 2*i)))
			warned(r.preflight(grown(a, 2*i+1)))
			if i%5 == 4 {
				a = grown(a, 2*i)
			}
		}
	}); n != 0 {
		t.Errorf("for an agent that goes back the alternation is reported %d times", n)
	}
	if n := told(func(r *rig, warned func(*compact.Result)) {
		for i := range 20 { // one conversation after the other
			a := []message.Message{message.User(fmt.Sprint("Task ", i))}
			for k := range 3 {
				a = grown(a, k)
				warned(r.preflight(a))
			}
		}
	}); n != 0 {
		t.Errorf("for consecutive conversations the alternation is reported %d times", n)
	}
}
