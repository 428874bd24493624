package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

func TestRecallReturnsTextThatAManagerRemoved(t *testing.T) {
	rep := run(t, Options{Policies: []Policy{preset(t, "masking"), DropOldest(3)}, Windows: []int{8000}}, session("a", 60))
	ours, dropped := rep.Totals[0], rep.Totals[1]
	if ours.Kept.Missing() == 0 || ours.Kept.Recalled != ours.Kept.Missing() {
		t.Errorf("%d of %d missing identifiers come back; each is in one archived result, so all must come back", ours.Kept.Recalled, ours.Kept.Missing())
	}
	if ours.Recall == nil || ours.Recall.Value != 1 {
		t.Errorf("the share that a recall brings is %+v, want 1", ours.Recall)
	}
	if dropped.Recall != nil || dropped.Kept.Recalled != 0 || dropped.Kept.Missing() == 0 {
		t.Errorf("messages that drop removed are recalled: %+v", dropped.Kept)
	}
}

// shelf is a policy that keeps parts by their reference.
type shelf struct {
	Runner
	texts map[string]string
	asked int
}

var errLocked = errors.New("the archive is locked")

func (s *shelf) Recall(_ context.Context, arguments json.RawMessage) (string, error) {
	s.asked++
	var q struct {
		Ref, Pattern string
		Context      int
	}
	if err := json.Unmarshal(arguments, &q); err != nil {
		return "", err
	}
	text, ok := s.texts[q.Ref]
	switch {
	case !ok:
		return "", errLocked
	case q.Pattern == "":
		return text, nil
	}
	var out []string
	for i, l := range strings.Split(text, "\n") {
		if regexp.MustCompile(q.Pattern).MatchString(l) {
			out = append(out, fmt.Sprintf("%d:%s", i+1, l))
		}
	}
	return strings.Join(out, "\n"), nil
}

func (*shelf) Ref(p message.Part) string { return p.Fingerprint().Ref() }

func recallsOf(t *testing.T, s *shelf, history []message.Message) *recalls {
	t.Helper()
	counter, err := token.ForModel("gpt-4o")
	if err != nil {
		t.Fatal(err)
	}
	count, err := token.NewEstimator("gpt-4o", counter, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.texts = map[string]string{}
	for _, m := range history {
		for _, p := range m.Parts {
			s.texts[p.Fingerprint().Ref()] = p.Text
		}
	}
	return &recalls{from: s, count: count, needs: newNeeds(history), known: map[string]map[string]bool{}}
}

func TestTheBestRecallIsFound(t *testing.T) {
	far := strings.Repeat("a line of the log\n", 2000) // some 10,000 tokens
	history := []message.Message{
		message.ToolResult("a", "pkg/one.go"),
		message.ToolResult("b", "pkg/one.go and pkg/two.go"),
		message.ToolResult("c", far+"pkg/three.go pkg/four.go pkg/five.go\n"+far+"pkg/six.go"),
		message.User("pkg/seven.go"),
	}
	for _, tc := range []struct {
		name    string
		missing []string
		want    int
	}{
		{"all of a part", []string{"pkg/one.go", "pkg/two.go"}, 2},
		{"lines that match, beyond the first tokens", []string{"pkg/five.go", "pkg/four.go", "pkg/one.go", "pkg/three.go", "pkg/six.go"}, 3},
		{"one of two places", []string{"pkg/seven.go", "pkg/two.go"}, 1},
		{"nowhere", []string{"pkg/eight.go"}, 0},
	} {
		s := &shelf{}
		r := recallsOf(t, s, history)
		for range 2 {
			if got, err := r.best(t.Context(), history, tc.missing); err != nil || got != tc.want {
				t.Errorf("%s: %d come back, %v; want %d", tc.name, got, err, tc.want)
			}
		}
		if s.asked > 10 {
			t.Errorf("%s: %d recalls", tc.name, s.asked)
		}
	}
}

func TestOnlyTheFirstTokensOfAnAnswerCount(t *testing.T) {
	// one line, so that a pattern returns the same text
	history := []message.Message{message.ToolResult("a", strings.Repeat("word ", recallTokens)+"pkg/one.go")}
	if got, err := recallsOf(t, &shelf{}, history).best(t.Context(), history, []string{"pkg/one.go"}); got != 0 || err != nil {
		t.Errorf("%d are returned, %v; the text comes after the first %d tokens", got, err, recallTokens)
	}
	history[0] = message.ToolResult("a", strings.Repeat("word ", recallTokens-100)+"pkg/one.go")
	if got, _ := recallsOf(t, &shelf{}, history).best(t.Context(), history, []string{"pkg/one.go"}); got != 1 {
		t.Error("the identifier is within the first tokens, but does not come back")
	}
}

func TestAnArchiveThatFailsEndsTheSession(t *testing.T) {
	history := []message.Message{message.ToolResult("a", "pkg/one.go")}
	r := recallsOf(t, &shelf{}, history)
	r.from.(*shelf).texts = nil
	if _, err := r.best(t.Context(), history, []string{"pkg/one.go"}); !errors.Is(err, errLocked) {
		t.Errorf("the error is %v", err)
	}
}
