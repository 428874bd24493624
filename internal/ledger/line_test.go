package ledger

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/turnindex"
)

// A reference finds the part that it names, and the fingerprint the whole message. An
// entry of refs that can't be read names no part, and the entries after it still name
// their own parts.
func TestInLineFindsThePartThatAReferenceNames(t *testing.T) {
	const said = `{"role":"assistant","content":"one","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}],"meta":{"fp":"ffffffffffffffffffffffffffffffff","refs":[`
	for _, c := range []struct{ refs, ref, want string }{
		{`"aaaaaaaaaaaa","bbbbbbbbbbbb"`, "bbbbbbbbbbbb", "ls {}"},
		{`"aaaaaaaaaaaa","bbbbbbbbbbbb"`, "bbbbbbbbbbbbcccccccc", "ls {}"},
		{`"aaaaaaaaaaaa","bbbbbbbbbbbb"`, "bbbbbbbb", "ls {}"},
		{`"aaaaaaaaaaaa","bbbbbbbbbbbb"`, "ffffffffffff", "one\nls {}"},
		{`"aaaaaaaaaaaa","bbbbbbbbbbbb"`, "cccccccccccc", ""},
		{`7,"bbbbbbbbbbbb"`, "bbbbbbbbbbbb", "ls {}"},
		{`7,"bbbbbbbbbbbb"`, "ffffffffffff", "one\nls {}"},
		{`"aaaaaaaaaaaa","bbbbbbbbbbbb","dddddddddddd"`, "dddddddddddd", ""},
	} {
		got, ok := InLine([]byte(said+c.refs+`]}}`), c.ref)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s in [%s]: %q, %v, want %q", c.ref, c.refs, got, ok, c.want)
		}
	}
}

// If any message of a turn is a placeholder of ours, the turn is not indexed by its number.
func TestATurnWithAPlaceholderIsNotIndexed(t *testing.T) {
	row := func(turn uint32, ours bool) Row {
		return Row{Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindText}}, Refs: [][6]byte{{1}}, Turn: turn, File: "f", Ours: ours, Want: !ours}
	}
	var set turnindex.Set
	if err := AddRows(&set, []Row{row(1, true), row(1, false), row(2, false), row(2, true), row(3, false), row(3, false)}); err != nil {
		t.Fatal(err)
	}
	table, err := turnindex.Open(t.Context(), turnindex.Bytes(set.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	for turn, want := range map[uint32]int{1: 0, 2: 0, 3: 2} {
		if got, err := table.Lookup(t.Context(), turnindex.Turn(turn).Query()); len(got) != want || err != nil {
			t.Errorf("turn %d: %v, %v, want %d records", turn, got, err, want)
		}
	}
}

// A recall returns a text for media of unknown size.
func TestPartTextDescribesMediaWithoutFacts(t *testing.T) {
	got := PartText(message.Part{Kind: message.KindImage})
	if want := "[image; it can't be returned as text: the archive has it, see compactctl archive export]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// An index that cannot hold a line is an error. Otherwise nobody could find the line, or
// notice that it is missing.
func TestAddRowsReportsARowThatTheIndexCannotHold(t *testing.T) {
	for name, want := range map[string]bool{"wanted itself": true, "of a wanted turn": false} {
		rows := []Row{
			{Turn: 1, File: "f", Want: true},
			{Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindText}}, Turn: 1, File: "f", Len: 1 << 40, Want: want},
		}
		if err := AddRows(new(turnindex.Set), rows); !errors.Is(err, turnindex.ErrLimit) {
			t.Errorf("a row %s: %v", name, err)
		}
	}
}

// A recall describes a picture by what is known of it.
func TestPartTextDescribesMedia(t *testing.T) {
	got := PartText(message.Part{Kind: message.KindImage, Media: &message.Media{MIME: "image/png", Name: "a.png", Bytes: 9}})
	if want := `[image, image/png, "a.png", 9 bytes; it`; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Only the object "meta" holds metadata. Members of the message can have the same names.
func TestMetaOfIgnoresTheMembersOfTheMessage(t *testing.T) {
	for line, want := range map[string]string{`{"meta":{"fp":"aa"},"function_call":{"fp":"bb"}}`: "aa", `{"function_call":{"fp":"bb"}}`: "", `{"meta":7}`: ""} {
		if got := MetaOf([]byte(line)).FP; got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestSlotOfAPart(t *testing.T) {
	for want, parts := range map[turnindex.Slot]map[message.Role]message.Kind{
		turnindex.Reasoning:   {message.RoleAssistant: message.KindReasoning},
		turnindex.Observation: {message.RoleTool: message.KindText, message.RoleUser: message.KindToolResult},
		turnindex.Action:      {message.RoleAssistant: message.KindText},
		turnindex.Request:     {message.RoleUser: message.KindText},
		turnindex.Other:       {message.RoleSystem: message.KindText},
	} {
		for role, kind := range parts {
			if got := SlotOf(role, &message.Part{Kind: kind}); got != want {
				t.Errorf("%s of %s: slot %v, want %v", kind, role, got, want)
			}
		}
	}
}
