package main

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestSessionIDStaysForAGrownTranscript(t *testing.T) {
	a := &app{}
	msgs := []message.Message{message.System("s"), message.User("hi"), message.Assistant("hello"), message.User("bye")}
	id := a.session(&transcript{msgs: msgs})
	if got := a.session(&transcript{msgs: append(msgs[:4:4], message.Assistant("more"))}); got != id {
		t.Errorf("the id of a grown transcript is %s, want the earlier id %s", got, id)
	}
	other := append([]message.Message{message.System("s"), message.User("ho")}, msgs[2:]...)
	if got := a.session(&transcript{msgs: other}); got == id {
		t.Error("another request has the same id")
	}
	if got := a.session(&transcript{msgs: msgs[:1]}); len(got) != 16 {
		t.Errorf("a transcript without an answer is %q", got)
	}
	var long []message.Message // without an answer among the first messages
	for range 20 {
		long = append(long, message.User("go on"))
	}
	id = a.session(&transcript{msgs: long})
	for i, same := range map[int]bool{maxHashed - 1: false, maxHashed: true, 15: true} {
		changed := slices.Clone(long)
		changed[i] = message.Assistant("an answer")
		if got := a.session(&transcript{msgs: changed}); (got == id) != same {
			t.Errorf("with another message %d the id is %s, want the earlier id %s", i+1, got, id)
		}
	}
	a.input.session = "mine"
	if got := a.session(&transcript{msgs: msgs}); got != "mine" {
		t.Errorf("the given id is %q", got)
	}
}
