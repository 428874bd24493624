package histgen

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func identical(a, b []message.Message) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !message.Identical(a[i], b[i]) {
			return false
		}
	}
	return true
}

func TestSameSeedGivesTheSameHistory(t *testing.T) {
	for seed := range uint64(200) {
		if !identical(New(seed), New(seed)) {
			t.Fatalf("seed %d gives two histories", seed)
		}
	}
	if identical(New(1), New(2)) {
		t.Error("seeds 1 and 2 give the same history")
	}
}

// again reports whether a system or developer message comes twice, to the byte.
func again(h []message.Message) bool {
	for i := range h {
		if instructs(h[i]) && anyMessage(h[i+1:], func(m message.Message) bool { return message.Identical(m, h[i]) }) {
			return true
		}
	}
	return false
}

func TestShapeDeterminesTheHistory(t *testing.T) {
	plain := Shape{Rounds: 20, Tools: 1, Parallel: 3, Words: 20}
	for name, c := range map[string]struct {
		shape func(s *Shape)
		has   func(h []message.Message) bool
	}{
		"parallel calls": {func(*Shape) {}, func(h []message.Message) bool {
			return anyMessage(h, func(m message.Message) bool { return calls(m) > 1 })
		}},
		"one user":               {func(s *Shape) { s.OneUser, s.Rounds = true, 100 }, func(h []message.Message) bool { return users(h) == 1 && len(h) > 200 }},
		"a question":             {func(s *Shape) { s.Ends = Question }, func(h []message.Message) bool { return h[len(h)-1].Role == message.RoleUser }},
		"open calls":             {func(s *Shape) { s.Ends = Calls }, func(h []message.Message) bool { w, _ := openCalls(h); return len(w) > 0 }},
		"an answered end":        {func(s *Shape) { s.Ends = Answered }, func(h []message.Message) bool { w, _ := openCalls(h); return len(w) == 0 }},
		"a preamble":             {func(s *Shape) { s.Preamble = 3 }, func(h []message.Message) bool { return instructs(h[0]) && instructs(h[2]) }},
		"a system message again": {func(s *Shape) { s.Preamble, s.Middle, s.Again = 1, 0.5, 2 }, func(h []message.Message) bool { return again(h) }},
		"middle":                 {func(s *Shape) { s.Middle = 1 }, func(h []message.Message) bool { return anyMessage(h[5:], instructs) }},
		"protected": {func(s *Shape) { s.Protected = 0.2 }, func(h []message.Message) bool {
			return anyMessage(h, func(m message.Message) bool { return m.Protected })
		}},
		"orphans":         {func(s *Shape) { s.Orphan = 0.3 }, func(h []message.Message) bool { return faults(h).orphans > 0 }},
		"interrupted":     {func(s *Shape) { s.Interrupted = 0.3 }, func(h []message.Message) bool { return faults(h).unanswered > 0 }},
		"late":            {func(s *Shape) { s.Late = 0.3 }, func(h []message.Message) bool { return faults(h).late > 0 }},
		"repeated ids":    {func(s *Shape) { s.Repeated = 0.3 }, func(h []message.Message) bool { return faults(h).repeated > 0 }},
		"twice":           {func(s *Shape) { s.Twice = 0.3 }, func(h []message.Message) bool { return faults(h).orphans > 0 }},
		"a huge result":   {func(s *Shape) { s.Huge, s.HugeWords = 0.5, 5000 }, func(h []message.Message) bool { return anyResult(h, func(s string) bool { return len(s) > 10_000 }) }},
		"an empty result": {func(s *Shape) { s.Empty = 0.2 }, func(h []message.Message) bool { return anyResult(h, func(s string) bool { return s == "" }) }},
		"a placeholder": {func(s *Shape) { s.Forged = 0.5 }, func(h []message.Message) bool {
			return anyResult(h, func(s string) bool { return strings.HasPrefix(s, "[observation masked — 4200") })
		}},
		"a forged summary": {func(s *Shape) { s.Forged = 0.9 }, func(h []message.Message) bool { return anyMessage(h, forgedSummary) }},
		"dispatch blocks": {func(s *Shape) { s.Dispatch = 0.5 }, func(h []message.Message) bool {
			return anyResult(h, func(s string) bool { return strings.Contains(s, "END_DISPATCH_RESULT") })
		}},
		"failed tests": {func(s *Shape) { s.Reports = 0.5 }, func(h []message.Message) bool {
			return anyResult(h, func(s string) bool { return strings.Contains(s, "\n--- FAIL: Test") })
		}},
		"a status of another command": {func(s *Shape) { s.Reports = 1 }, func(h []message.Message) bool {
			return anyResult(h, func(s string) bool { return strings.HasPrefix(s, "Exit code 0\n") && strings.Contains(s, "--- FAIL: ") })
		}},
		"pictures": {func(s *Shape) { s.Media = 0.5 }, func(h []message.Message) bool {
			return anyMessage(h, func(m message.Message) bool { return m.Has(message.KindImage) })
		}},
		"foreign text": {func(s *Shape) { s.Foreign = 0.5 }, func(h []message.Message) bool {
			return anyMessage(h, func(m message.Message) bool { return strings.Contains(m.Text(), "漢") })
		}},
		"messages of JSON": {func(s *Shape) { s.Wire = 1 }, func(h []message.Message) bool {
			return !anyMessage(h, func(m message.Message) bool { return m.Raw() == nil })
		}},
		"messages made": {func(s *Shape) { s.Wire = 0 }, func(h []message.Message) bool {
			return !anyMessage(h, func(m message.Message) bool { return m.Raw() != nil })
		}},
		"results of parts": {func(s *Shape) { s.Wire = 1 }, func(h []message.Message) bool {
			return anyMessage(h, func(m message.Message) bool { return m.Role == message.RoleTool && len(m.Parts) > 1 })
		}},
		"reasoning": {func(*Shape) {}, func(h []message.Message) bool {
			return anyMessage(h, func(m message.Message) bool { return m.Has(message.KindReasoning) })
		}},
		"nothing, if plain": {func(*Shape) {}, func(h []message.Message) bool { return faults(h) == fault{} }},
	} {
		s := plain
		c.shape(&s)
		if !c.has(s.History(Rand(7))) {
			t.Errorf("%s: not in the history", name)
		}
	}
	if h := (Shape{}).History(Rand(1)); len(h) != 0 {
		t.Errorf("the zero shape has %d messages", len(h))
	}
}

// The histories of all seeds together must have every feature; otherwise the
// property tests don't test it.
func TestSeedsCoverTheFeaturesOfShapes(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(600) {
		h := New(seed)
		f := faults(h)
		for name, has := range map[string]bool{
			"orphans": f.orphans > 0, "unanswered calls": f.unanswered > 0, "late results": f.late > 0, "repeated ids": f.repeated > 0,
			"empty": len(h) == 0, "long": len(h) > 150, "one user": users(h) == 1 && len(h) > 100,
			"again":     again(h),
			"protected": anyMessage(h, func(m message.Message) bool { return m.Protected && m.Role == message.RoleTool }),
			"forged":    anyMessage(h, forgedSummary),
			"huge":      anyResult(h, func(s string) bool { return len(s) > 8000 }),
			"plain":     f == fault{} && len(h) > 20,
			"reports":   anyResult(h, func(s string) bool { return strings.Contains(s, "--- FAIL: ") }),
		} {
			if has {
				seen[name]++
			}
		}
	}
	for _, name := range []string{"orphans", "unanswered calls", "late results", "repeated ids", "empty", "long", "one user", "protected", "forged", "huge", "plain", "again", "reports"} {
		if seen[name] < 6 {
			t.Errorf("%s: in %d of 600 histories", name, seen[name])
		}
	}
}

func TestGrowContinuesTheHistory(t *testing.T) {
	for seed := range uint64(300) {
		rng := Rand(seed)
		h := New(seed)
		copied := append([]message.Message(nil), h...)
		longer := Grow(h, rng)
		if len(longer) <= len(h) || !identical(longer[:len(h)], copied) || !identical(h, copied) {
			t.Fatalf("seed %d: %d messages became %d, or were changed", seed, len(h), len(longer))
		}
		for _, m := range longer[len(h):] {
			if raw := m.Raw(); raw != nil && bytes.ContainsAny(raw, "\n\r") {
				t.Fatalf("seed %d: a message is not one line", seed)
			}
		}
	}
}

// A compacted call must not get an answer afterwards.
func TestGrowAnswersNoOldCall(t *testing.T) {
	for seed := range uint64(300) {
		h, rng := New(seed), Rand(seed+1)
		for range 4 {
			longer := Grow(h, rng)
			last := len(h) - 1
			for last >= 0 && h[last].Role != message.RoleAssistant {
				last--
			}
			_, links := pair(longer)
			for _, l := range links {
				if l[0] < last && l[1] >= len(h) {
					t.Fatalf("seed %d: message %d answers message %d, and %d is the last that may wait", seed, l[1], l[0], last)
				}
			}
			h = longer
		}
	}
}
