package wire

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
)

func TestCacheParsesTheSameBytesOnce(t *testing.T) {
	c, calls := NewCache(0), 0
	parse := func(raw []byte) ([]message.Message, error) {
		calls++
		return []message.Message{message.User(string(raw))}, nil
	}
	body := []byte(`{"a":1}`)
	first, _ := c.Messages("x", body, parse)
	body[5] = '2' // the kept data is a copy
	for range 2 {
		again, err := c.Messages("x", []byte(`{"a":1}`), parse)
		if err != nil || &again[0] != &first[0] {
			t.Fatalf("read again: %v, %v", again, err)
		}
	}
	_, _ = c.Messages("y", []byte(`{"a":1}`), parse)
	_, _ = c.Messages("x", body, parse)
	if calls != 3 {
		t.Errorf("%d calls for one text, another format and another text; want 3", calls)
	}
	if _, err := (*Cache)(nil).Messages("x", body, parse); err != nil || calls != 4 {
		t.Errorf("no cache: %v, %d calls; want no error and 4", err, calls)
	}
}

func TestCacheKeepsNoErrors(t *testing.T) {
	c, bad := NewCache(0), errors.New("bad")
	fail := func([]byte) ([]message.Message, error) { return nil, bad }
	if _, err := c.Messages("x", []byte(`1`), fail); !errors.Is(err, bad) {
		t.Fatal(err)
	}
	ok := func([]byte) ([]message.Message, error) { return []message.Message{message.User("u")}, nil }
	if got, err := c.Messages("x", []byte(`1`), ok); err != nil || len(got) != 1 {
		t.Errorf("got %v and error %v", got, err)
	}
}

func TestCacheForgetsUnusedEntries(t *testing.T) {
	c, calls := NewCache(1000), map[string]int{}
	read := func(s string) {
		_, _ = c.Messages("x", []byte(s), func(raw []byte) ([]message.Message, error) {
			calls[s]++
			return nil, nil
		})
	}
	for i := range 200 {
		read("always")
		read(fmt.Sprintf("%0100d", i))
	}
	read(fmt.Sprintf("%0100d", 0))
	if calls["always"] != 1 || calls[fmt.Sprintf("%0100d", 0)] != 2 {
		t.Errorf("a text that is used again and again was parsed %d times, want 1; a text that is used twice, %d times, want 2", calls["always"], calls[fmt.Sprintf("%0100d", 0)])
	}
	if n := len(c.now) + len(c.old); n > 20 {
		t.Errorf("a cache of ten has %d entries, want at most 20", n)
	}
}

func TestNewViolationsExcludeThoseOfTheInput(t *testing.T) {
	v := func(check, id string) Violation { return Violation{Check: check, ID: id} }
	before := []Violation{v("pair", "a"), v("pair", "b")}
	after := []Violation{v("pair", "a"), v("pair", "a"), v("order", "a")}
	if diff := cmp.Diff([]Violation{v("pair", "a"), v("order", "a")}, New(before, after)); diff != "" {
		t.Error(diff)
	}
	if got := New(before, nil); got != nil {
		t.Errorf("got %v, want none", got)
	}
}

// An error in an element of a list names the whole path of its field.
func TestErrorsNameTheWholeField(t *testing.T) {
	cut := errors.New("cut off")
	for want, err := range map[string]error{
		`field "messages[3].role": is missing`:            In("messages", 3, &FieldError{Field: "role", Reason: "is missing"}),
		`field "messages[0]": is no object`:               In("messages", 0, &FieldError{Reason: "is no object"}),
		`field "input[1].content[2].text": is not a text`: In("input", 1, fmt.Errorf("x: %w", In("content", 2, &FieldError{Field: "text", Reason: "is not a text"}))),
		`field "input[1]": cut off`:                       In("input", 1, cut),
		"is empty":                                        &FieldError{Reason: "is empty"},
	} {
		if err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := In("input", 1, cut); !errors.Is(err, cut) {
		t.Error(err)
	}
}
