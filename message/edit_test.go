package message

import (
	"strings"
	"testing"
)

// A placeholder for a megabyte is small: its raw form does not keep the old raw form in
// memory.
func TestEditedMessageHasTheSizeOfItsText(t *testing.T) {
	raw := []byte(`{"role":"tool","content":"` + strings.Repeat("x", 1<<20) + `"}`)
	m := FromWire(Message{Role: RoleTool, Parts: []Part{{Kind: KindToolResult, Text: strings.Repeat("x", 1<<20)}}}, "w", raw,
		[]Span{{Start: 25, End: len(raw) - 1}})
	edited, err := m.WithPartText(0, "gone")
	if err != nil || string(edited.Raw()) != `{"role":"tool","content":"gone"}` {
		t.Fatalf("%s: %v", edited.Raw(), err)
	}
	if room := cap(edited.Raw()); room > 256 {
		t.Errorf("%d bytes have room for %d", len(edited.Raw()), room)
	}
}

// A message is shared by calls: marking more of its parts as replaceable, and replacing one of
// them, leaves the message as it is.
func TestReplaceablePartsBelongToOneMessage(t *testing.T) {
	raw := []byte(`{"role":"user","content":["a","b"]}`)
	media := Part{Kind: KindImage, Media: &Media{URL: "u"}}
	m := FromWire(Message{Role: RoleUser, Parts: []Part{media, media}}, "w", raw, []Span{{Start: 26, End: 29}, {Start: 30, End: 33}})
	slot := Slot{Before: `{"text":`, After: "}"}
	one := m.Slotted(map[int]Slot{0: slot})
	both := one.Slotted(map[int]Slot{1: slot})
	edited, err := both.WithPartText(0, "x")
	if err != nil || string(edited.Raw()) != `{"role":"user","content":[{"text":"x"},"b"]}` {
		t.Fatalf("%s: %v", edited.Raw(), err)
	}
	for name, c := range map[string]struct {
		m    Message
		want [2]bool
	}{
		"the message": {m, [2]bool{}}, "one part": {one, [2]bool{true, false}}, "both parts": {both, [2]bool{true, true}}, "one replaced": {edited, [2]bool{false, true}},
	} {
		if got := [2]bool{c.m.Replaceable(0), c.m.Replaceable(1)}; got != c.want {
			t.Errorf("%s: replaceable %v, want %v", name, got, c.want)
		}
	}
}
