package replay

import (
	"errors"
	"slices"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A source is read to its end. A session with a flaw is returned, and the error names the
// flaw; a session of the minimum size is not skipped.
func TestReadAllTellsWhatIsMissing(t *testing.T) {
	flaw, unreadable := errors.New("cut off"), errors.New("unreadable")
	calls := func(name string, n int, flaw error) *Session {
		s := &Session{Name: name, Flaw: flaw, Messages: []message.Message{message.User("go on")}}
		for range n {
			s.Messages = append(s.Messages, message.Assistant("Yes."), message.User("go on"))
		}
		return s
	}
	all := []*Session{calls("flawed", 2, flaw), calls("whole", 3, nil), nil, calls("short", 1, errors.New("of a short one")), calls("silent", 0, nil)}
	next := 0
	from := func() (*Session, bool, error) {
		if next == len(all) {
			return nil, false, nil
		}
		s := all[next]
		if next++; s == nil {
			return nil, true, unreadable
		}
		return s, true, nil
	}
	got, err := ReadAll(from, "gpt-4o", AtLeast{Calls: 2})
	var names []string
	for _, s := range got {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"flawed", "whole"}) || !errors.Is(err, flaw) || !errors.Is(err, unreadable) {
		t.Errorf("%q, %v", names, err)
	}
	if want := "cut off\nunreadable\nsilent: it has no answer, so there is no call to replay"; err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
