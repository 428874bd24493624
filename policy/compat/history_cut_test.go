package compat_test

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
)

// ofRoles returns messages of ten words each, one for each role: s, u, a; "c" is a call with its
// result, "r" a result without call, "n" the notice of seven messages.
func ofRoles(roles string) (msgs []message.Message) {
	for i, role := range roles {
		id := string(rune('A' + i))
		switch role {
		case 's':
			msgs = append(msgs, message.System(text(10)))
		case 'u':
			msgs = append(msgs, message.User(text(10)))
		case 'a':
			msgs = append(msgs, message.Assistant(text(10)))
		case 'c':
			msgs = append(msgs, message.Assistant("", message.Call(id, "read", "{}")), message.ToolResult(id, text(10)))
		case 'r':
			msgs = append(msgs, message.ToolResult(id, text(10)))
		case 'n':
			msgs = append(msgs, policy.NewNotice(7))
		}
	}
	return msgs
}

// removed returns the messages that a cut removes, and where the recent span begins.
func removed(t *testing.T, s policy.Stage, v *policy.View) (at []int, recent int) {
	t.Helper()
	p, err := s.Propose(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Groups) == 0 {
		return nil, 0
	}
	c := p.Groups[len(p.Groups)-1][0].Cut
	return c.Removed, c.Recent
}

// However small the limit is, the request, the newest round and pinned messages stay, and the
// floor of the view knows that.
func TestHistoryKeepsTheRequestAndTheNewestRound(t *testing.T) {
	for name, c := range map[string]struct {
		roles  string
		pinned int // -1 = none
		since  func(*policy.View) int
		want   []int
		recent int
	}{
		"the request before its rounds":  {"auccc", -1, nil, []int{0, 2, 3, 4, 5}, 6},
		"no request":                     {"aaa", -1, nil, []int{0, 1}, 2},
		"a pinned answer":                {"aaau", 1, nil, []int{0, 2}, 3},
		"a notice of an earlier cut":     {"naau", -1, nil, []int{0, 1, 2}, 3},
		"the work on the request":        {"auacc", -1, compat.AfterRequest, []int{0}, 1},
		"one round before the request":   {"aua", -1, func(*policy.View) int { return 1 }, nil, 0},
		"only the system prompt":         {"s", -1, nil, nil, 0},
		"nothing before the request":     {"sau", -1, func(*policy.View) int { return 0 }, nil, 0},
		"a result without call, removed": {"raau", -1, nil, []int{0, 1, 2}, 3},
	} {
		msgs := ofRoles(c.roles)
		if c.pinned >= 0 {
			msgs[c.pinned].Protected = true
		}
		v := policy.NewView(msgs, pins, words{})
		v.Budget = budget(1_000)
		stage := compat.History{MaxTokens: 1, Since: c.since}
		got, recent := removed(t, stage, v)
		if !slices.Equal(got, c.want) || recent != c.recent {
			t.Errorf("%s: %v are removed, the rest begins at %d, want %v and %d", name, got, recent, c.want, c.recent)
		}
		takes := stage.Takes(v)
		if slices.Sort(takes); !slices.Equal(takes, c.want) {
			t.Errorf("%s: the floor is without %v, want %v", name, takes, c.want)
		}
	}
}

// A cut that costs as much as it saves is not made.
func TestHistoryIsNotCutIfTheNoticeCostsAsMuch(t *testing.T) {
	notice := words{}.Message(policy.NewNotice(1))
	for size, want := range map[int]int{notice - 1: 0, notice: 0, notice + 1: 1} {
		v := policy.NewView([]message.Message{message.Assistant(text(size - 2)), message.User("now")}, pins, words{})
		v.Budget = budget(1_000)
		if got, _ := removed(t, compat.History{MaxTokens: 1}, v); len(got) != want {
			t.Errorf("%d tokens, the notice costs %d: %v are removed, want %d", size, notice, got, want)
		}
	}
}

// Pinned messages, the request and the open round stay, in whatever group they are. The floor
// is without the groups that can go.
func TestGroupsThatStay(t *testing.T) {
	open := append(ofRoles("ucc"), message.Assistant("", message.Call("x", "read", "{}"), message.Call("y", "read", "{}")), message.ToolResult("x", text(10)))
	for name, c := range map[string]struct {
		msgs   []message.Message
		pinned int
		want   []int
	}{
		"all but the last":                   {ofRoles("uccc"), 0, []int{1, 2, 3, 4}},
		"a pinned result":                    {ofRoles("uccc"), 2, []int{3, 4}},
		"a result without call":              {ofRoles("ucrrcc"), 0, []int{1, 2, 3, 4, 5, 6}},
		"one group":                          {ofRoles("uc"), 0, nil},
		"no group":                           {ofRoles("ua"), 0, nil},
		"an open round":                      {open, 0, []int{1, 2, 3, 4}},
		"a message between groups":           {ofRoles("ucacc"), 0, []int{1, 2, 4, 5}},
		"answers of one model without calls": {ofRoles("uaaa"), 0, nil},
	} {
		c.msgs[c.pinned].Protected = true
		v := policy.NewView(c.msgs, pins, words{})
		got, _ := removed(t, compat.Groups{}, v)
		if takes := (compat.Groups{}).Takes(v); !slices.Equal(got, c.want) || !slices.Equal(takes, c.want) {
			t.Errorf("%s: %v are removed, the floor is without %v, want %v", name, got, takes, c.want)
		}
	}
}

// Window removes as few messages as the limit requires. Pinned messages and notices do not
// count, and without a limit it is 1000.
func TestWindowLimitsTheNumberOfMessages(t *testing.T) {
	long := ""
	for range 1001 {
		long += "a"
	}
	for name, c := range map[string]struct {
		roles string
		limit int
		want  int
	}{
		"at the limit":               {"saaau", 4, 0},
		"above the limit":            {"saaau", 3, 1},
		"two above the limit":        {"saaau", 2, 2},
		"a notice does not count":    {"snaau", 3, 0},
		"a notice is replaced":       {"snaau", 2, 2},
		"as few as possible":         {"saaau", -1, 3},
		"a limit that nothing meets": {"saaac", 1, 3},
		"no limit":                   {long + "u", 0, 2},
		"no limit, 1000 messages":    {long[1:], 0, 0},
	} {
		v := policy.NewView(ofRoles(c.roles), pins, words{})
		v.Budget = budget(1_000_000)
		if got, _ := removed(t, compat.Window{Messages: c.limit}, v); len(got) != c.want {
			t.Errorf("%s: %v are removed, want %d", name, got, c.want)
		}
	}
}

// Each further cut of Fallback removes more. The final one leaves the newest round only, and
// removes notices, too.
func TestFallbackOffersLargerAndLargerCuts(t *testing.T) {
	v := policy.NewView(ofRoles("snaaaau"), pins, words{})
	p, err := compat.Fallback{Messages: 3}.Propose(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, group := range p.Groups {
		got = append(got, len(group[0].Cut.Removed))
	}
	if want := []int{2, 3, 4, 5}; !slices.Equal(got, want) || !p.Alternatives || p.Summary == nil || p.Summary.Input != 5 {
		t.Errorf("cuts of %v messages, %+v, want %v", got, p.Summary, want)
	}
	if takes := (compat.Fallback{}).Takes(v); len(takes) != 5 {
		t.Errorf("the floor is without %v, want five messages", takes)
	}
	answered := policy.NewView(ofRoles("snuaaaa"), pins, words{})
	p, err = compat.Fallback{Messages: 2}.Propose(t.Context(), answered)
	if err != nil || len(p.Groups) != 3 || !slices.Equal(p.Groups[2][0].Cut.Removed, []int{1, 3, 4, 5}) {
		t.Errorf("an answer at the end: %+v, %v, want three cuts, the last without messages 1, 3, 4 and 5", p.Groups, err)
	}
	small := policy.NewView(ofRoles("u"), pins, words{})
	if p, err := (compat.Fallback{}).Propose(t.Context(), small); err != nil || len(p.Groups) > 0 || p.Summary != nil {
		t.Errorf("one message: %+v, %v", p, err)
	}
	if takes := (compat.Fallback{}).Takes(policy.NewView(nil, pins, words{})); len(takes) > 0 {
		t.Errorf("no message: %v", takes)
	}
}
