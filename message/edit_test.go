package message

import (
	"errors"
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
		t.Fatalf("got %s and error %v, want only the text replaced", edited.Raw(), err)
	}
	if room := cap(edited.Raw()); room > 256 {
		t.Errorf("the raw form of %d bytes has a capacity of %d, want at most 256", len(edited.Raw()), room)
	}
}

// Several calls share a message. Marking more of its parts as replaceable, or replacing one of
// them, must not change it.
func TestReplaceablePartsBelongToOneMessage(t *testing.T) {
	raw := []byte(`{"role":"user","content":["a","b"]}`)
	media := Part{Kind: KindImage, Media: &Media{URL: "u"}}
	m := FromWire(Message{Role: RoleUser, Parts: []Part{media, media}}, "w", raw, []Span{{Start: 26, End: 29}, {Start: 30, End: 33}})
	slot := Slot{Before: `{"text":`, After: "}"}
	one := m.Slotted(map[int]Slot{0: slot})
	both := one.Slotted(map[int]Slot{1: slot})
	if _, err := m.WithPartText(0, "x"); !errors.Is(err, ErrNotText) {
		t.Errorf("a picture that no text may replace: %v, want ErrNotText", err)
	}
	edited, err := both.WithPartText(0, "x")
	if err != nil || string(edited.Raw()) != `{"role":"user","content":[{"text":"x"},"b"]}` {
		t.Fatalf("got %s and error %v, want only the first part replaced", edited.Raw(), err)
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

// Messages made in Go are identical if every field that is sent is the same.
func TestIdenticalComparesEveryField(t *testing.T) {
	part := Part{Kind: KindText, Text: "a", CallID: "1", Name: "f", Args: []byte(`{}`), Media: &Media{URL: "u"}}
	base := Message{Role: RoleUser, Name: "n", Parts: []Part{part}}
	with := func(change func(m *Message, p *Part)) Message {
		media := *part.Media
		m := Message{Role: base.Role, Name: base.Name, Parts: []Part{part}}
		m.Parts[0].Media = &media
		change(&m, &m.Parts[0])
		return m
	}
	if !Identical(base, with(func(*Message, *Part) {})) {
		t.Error("a copy is not identical")
	}
	for name, other := range map[string]Message{
		"role":      with(func(m *Message, _ *Part) { m.Role = RoleAssistant }),
		"name":      with(func(m *Message, _ *Part) { m.Name = "o" }),
		"protected": with(func(m *Message, _ *Part) { m.Protected = true }),
		"parts":     with(func(m *Message, p *Part) { m.Parts = append(m.Parts, *p) }),
		"kind":      with(func(_ *Message, p *Part) { p.Kind = KindReasoning }),
		"text":      with(func(_ *Message, p *Part) { p.Text = "b" }),
		"call":      with(func(_ *Message, p *Part) { p.CallID = "2" }),
		"tool":      with(func(_ *Message, p *Part) { p.Name = "g" }),
		"arguments": with(func(_ *Message, p *Part) { p.Args = []byte(`{ }`) }),
		"sealed":    with(func(_ *Message, p *Part) { p.Sealed = true }),
		"media":     with(func(_ *Message, p *Part) { p.Media.URL = "v" }),
		"no media":  with(func(_ *Message, p *Part) { p.Media = nil }),
	} {
		if Identical(base, other) || Identical(other, base) {
			t.Errorf("%s: messages that differ are identical", name)
		}
	}
}
