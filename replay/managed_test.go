package replay

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A preset that counts in another unit has the same window, converted to that unit. It
// does not compact at a quarter of the size at which the others compact, nor at four
// times that size.
func TestPresetsConvertTheWindowToTheirUnit(t *testing.T) {
	msgs := []message.Message{message.System("You are an agent."), message.User("Go on.")}
	for range 90 {
		msgs = append(msgs, message.Assistant("I go on."), message.User(strings.Repeat("the quick fox ", 70))) // 3.5 letters a token and more
	}
	s := &Session{Name: "words", Messages: msgs}
	for _, name := range []string{"history-reducer", "gateway"} {
		rep := run(t, Options{Policies: []Policy{preset(t, name)}, Windows: []int{12_000}}, s)
		if rep.Err() != nil {
			t.Fatal(rep.Err())
		}
		if got := rep.Rows[0].Largest; got < 4000 || got > 15_000 {
			t.Errorf("under %s the largest prompt has %d tokens, with a window of 12,000", name, got)
		}
	}
}
