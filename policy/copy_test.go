package policy

import (
	"reflect"
	"testing"

	"github.com/agentcompact/compact/internal/running"
	"github.com/agentcompact/compact/message"
)

// plainCost counts one token per byte.
type plainCost struct{}

func (plainCost) Text(s string) int             { return len(s) }
func (plainCost) Message(m message.Message) int { return len(m.Text()) + len(m.ResultText()) }

// A stage may change its copy of a view, and read it after the run: the copy answers like
// the view, and the view does not change.
func TestCopyAnswersAloneLikeTheView(t *testing.T) {
	before := []message.Message{message.User("go"), message.Assistant("", message.Call("a", "bash", `{"cmd":"ls"}`)), message.ToolResult("a", "what it was"), message.Assistant("ok")}
	now := append([]message.Message{}, before...)
	now[2] = message.ToolResult("a", "[observation masked — 11 chars]")
	v := NewView(now, Pins{message.RoleUser}, plainCost{})
	v.Sent = func(*message.Message) bool { return true }
	origin, bound := Origin{Chars: 11, Masked: true}, true
	v.Origins = func(i, p int) (Origin, bool) {
		if !bound {
			t.Error("the copy asks the run")
		}
		return origin, i == 2 && p == 0
	}
	v.Bind(running.Run{
		Before: func(i int) message.Message { return before[i] },
		Masks:  func(int, int) (bool, bool) { t.Error("the copy asks the run"); return false, false },
	})
	w := v.Copy()
	bound = false
	before[2] = message.ToolResult("a", "changed later")
	for i := range now {
		if !message.Identical(w.Messages[i], now[i]) || w.TurnOf(i) != v.TurnOf(i) || w.RoundOf(i) != v.RoundOf(i) || w.HasResult(i) != v.HasResult(i) {
			t.Errorf("message %d differs in the copy", i)
		}
		if o, known := w.Known(i, 0); known != (i == 2) || known && o != origin || w.Masked(i, 0) != known {
			t.Errorf("message %d of the copy has the origin %+v, %v", i, o, known)
		}
	}
	if name, _, _, ok := w.Call(2, 0); !ok || name != "bash" || w.Unedited(2).ResultText() != "what it was" || w.Sent != nil {
		t.Errorf("the copy knows the call %q and the result %q", name, w.Unedited(2).ResultText())
	}
	want := []any{append([]int{}, v.Tokens...), append([]bool{}, v.Pinned...), append([]message.Round{}, v.Rounds...), append([]message.Turn{}, v.Turns...)}
	w.Messages[0].Parts[0].Text, w.Tokens[0], w.Pinned[0], w.Rounds[0].End, w.Turns[0].First = "x", -1, false, 9, 9
	w.Extend(append(w.Messages, message.User("more")), nil, func(int) int { return 1 })
	if got := []any{v.Tokens, v.Pinned, v.Rounds, v.Turns}; !reflect.DeepEqual(got, want) || v.Messages[0].Text() != "go" || v.RoundOf(3) != 2 {
		t.Errorf("the view has changed: %v, want %v", got, want)
	}
	if bare := NewView(now, nil, plainCost{}).Copy(); bare.Origins != nil || bare.Unedited(2).ResultText() != now[2].ResultText() {
		t.Error("the copy of a view without a run knows one")
	}
}

// The stages that leave the last messages need to know their number.
func TestCheckWantsTheMessagesThatStay(t *testing.T) {
	for _, c := range []struct {
		stages []string
		keep   int
		want   string
	}{
		{[]string{"mask", "local"}, 0, "policy.keep_recent_messages must be >= 1 with the stage local in policy.stages (got 0)"},
		{[]string{"fallback"}, 0, "policy.keep_recent_messages must be >= 1 with the stage fallback in policy.stages (got 0)"},
		{[]string{"local", "fallback"}, 1, ""},
		{[]string{"mask"}, 0, ""},
	} {
		err := Config{Stages: c.stages, KeepRecentMessages: c.keep}.Check()
		if got := ""; err != nil {
			got = err.Error()
			if got != c.want {
				t.Errorf("%v, %d: %s, want %s", c.stages, c.keep, got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("%v, %d: no error", c.stages, c.keep)
		}
	}
}
