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
