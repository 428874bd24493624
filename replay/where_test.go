package replay

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

func estimator(t *testing.T) *token.Estimator {
	t.Helper()
	counter, err := token.ForModel("gpt-4o")
	if err != nil {
		t.Fatal(err)
	}
	count, err := token.NewEstimator("gpt-4o", counter, nil)
	if err != nil {
		t.Fatal(err)
	}
	return count
}

func TestWhereAccountsForEveryTokenAndEveryIdentifier(t *testing.T) {
	o := Options{Policies: []Policy{preset(t, "graduated"), DropOldest(3)}, Windows: []int{8000}, Gap: time.Second, Where: true}
	rep := run(t, o, session("a", 60), session("b", 70))
	count := estimator(t)
	for _, row := range rep.Rows {
		tokens, used, missing := row.Calls*count.Reply(), 0, 0
		for _, s := range row.Standing {
			tokens += s.Tokens
			used += s.Used
		}
		for _, l := range row.Lost {
			missing += l.Missing
		}
		if row.Missing() == 0 {
			t.Fatalf("%s under %s has no missing identifiers, so the test proves nothing", row.Session, row.Policy)
		}
		if tokens != row.Sent || used != row.Held || missing != row.Missing() {
			t.Errorf("%s under %s: %d tokens of %d, %d identifiers held of %d, %d missing of %d",
				row.Session, row.Policy, tokens, row.Sent, used, row.Held, missing, row.Missing())
		}
	}
	o.Where = false
	if row := run(t, o, session("a", 60)).Rows[0]; row.Standing != nil || row.Lost != nil {
		t.Error("the places are printed without the option")
	}
}

func TestWhereNamesTheDecisionOnTheNewestHolder(t *testing.T) {
	history := []message.Message{
		message.User("Look at pkg/old.go, please."),
		message.Assistant("I do.", message.Part{Kind: message.KindToolCall, CallID: "c", Name: "read", Args: []byte(`{"path":"pkg/old.go"}`)}),
		message.ToolResult("c", "It imports pkg/dep.go and has 4711 lines."),
		message.Assistant("Then I say something else."),
		message.User("Well?"),
		message.Assistant("In pkg/dep.go and pkg/old.go, of 4711 lines."),
	}
	masked := message.ToolResult("c", "[16 tokens; it has 4711 lines]")
	for _, c := range []struct {
		name string
		view View
		want []Loss
		used map[string]int
	}{
		{"whole", View{Messages: history[:5], Sources: identity(5)}, nil, map[string]int{"results": 2, "calls": 1}},
		{
			"masked",
			View{Messages: []message.Message{history[0], history[1], masked, history[3], history[4]}, Sources: identity(5), Fates: []string{2: "masked", 4: ""}},
			[]Loss{{"masked", "results", 0, "path", 1}},
			map[string]int{"calls": 1, "edited results": 1},
		},
		{
			"summarized",
			View{Messages: []message.Message{message.User("The user wanted work on pkg/old.go done."), history[4]}, Sources: []int{-1, 4}, Fates: []string{"summarized", "summarized", "summarized", "summarized", ""}},
			[]Loss{{"summarized", "results", 0, "number", 1}, {"summarized", "results", 0, "path", 1}},
			map[string]int{"summaries": 1},
		},
		{
			"nobody says",
			View{Messages: history[4:5], Sources: []int{4}},
			[]Loss{{"gone", "calls", 2, "path", 1}, {"gone", "results", 0, "number", 1}, {"gone", "results", 0, "path", 1}},
			nil,
		},
	} {
		n := newNeeds(history)
		w, whole := newWhere(estimator(t), n), inFull(history[:5], &c.view)
		_, missing := n.at(5, &c.view, whole)
		w.call(5, history[:5], &c.view, whole, missing)
		standing, lost := w.sorted()
		used := map[string]int{}
		for _, s := range standing {
			if s.Used > 0 {
				used[s.Kind] += s.Used
			}
		}
		if c.used == nil {
			c.used = map[string]int{}
		}
		if d := cmp.Diff(c.want, lost) + cmp.Diff(c.used, used); d != "" {
			t.Errorf("%s:\n%s", c.name, d)
		}
	}
}

func TestWhereIsPrinted(t *testing.T) {
	var b strings.Builder
	lost := []Loss{{"masked", "results", 12, "path", 3}, {"summarized", "calls", 48, "name", 1}}
	standing := []Standing{{"results", 0, 1000, 2}, {"results", 48, 2000, 1}, {"summaries", 0, 1000, 5}}
	writeWhere(&b, []Total{{Policy: "silent"}, {Policy: "p", Standing: standing, Lost: lost, Kept: Kept{Needed: 40, Held: 36}}})
	for _, want := range []string{"75.0%  1000", "25.0%  5000", "50.0% 500", "masked             75.0%       7.5%", "12-23 turns old", "48+ turns old", "a path"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "silent") {
		t.Error("the table has a policy whose fates are unknown")
	}
}

// The rows of a report have the same order in each run.
func TestLossesHaveAFixedOrder(t *testing.T) {
	var want []Loss
	for _, fate := range []string{"gone", "masked"} {
		for _, age := range []int{0, 6} {
			for _, form := range []string{"URL", "hash", "name", "number", "path"} {
				want = append(want, Loss{fate, "results", age, form, 1})
			}
		}
	}
	for range 10 {
		if _, got := addWhere([]*Row{{Lost: want}}); !cmp.Equal(got, want) {
			t.Fatalf("the losses are %v, want %v", got, want)
		}
	}
}
