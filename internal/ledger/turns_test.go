package ledger

import (
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
)

// Turns without a number, such as a summary, have no number at any place of their run.
func TestNumberingReturnsTheNumberOfEachTurn(t *testing.T) {
	numbers := []uint32{0, 0, 0, 3, 4, 5, 0, 1, 9, 1} // a number can be equal to the length of the run before it
	n := Numbered(numbers)
	for i, want := range numbers {
		if got, ok := n.At(i); !ok || got != want {
			t.Errorf("turn %d has number %d, %v, want %d", i, got, ok, want)
		}
	}
	if got, ok := n.At(len(numbers)); ok {
		t.Errorf("the turn after the last one has number %d", got)
	}
	if len(n) != 6 {
		t.Errorf("%v: want one run for each sequence", n)
	}
}

// A changed ledger does not say whose step it is. The step belongs to no agent, not even to
// the agent without a name.
func TestChangedStepHasNoOwner(t *testing.T) {
	for _, of := range []Owner{{}, {"a", ""}, {"a", "x"}} {
		step := Step{Agent: of.Agent, Branch: of.Branch}
		if got := step.Owner(); got != of {
			t.Errorf("%+v has the owner %+v", of, got)
		}
		step.Changed = &storage.ChangedError{}
		if got := step.Owner(); got == of || got == (Owner{}) {
			t.Errorf("a changed step of %+v has the owner %+v", of, got)
		}
	}
}

// Messages after the last answer are a turn of their own, and without any there is none.
func TestTurnsOfMessages(t *testing.T) {
	msgs := []message.Message{message.User("a"), message.Assistant("b"), message.User("c"), message.Assistant("d"), message.User("e")}
	for n, want := range []int{0, 1, 1, 2, 2, 3} {
		of, count := TurnsOf(msgs[:n])
		if count != want || n > 0 && of[n-1] != want-1 {
			t.Errorf("%d messages: %d turns %v, want %d", n, count, of, want)
		}
	}
}
