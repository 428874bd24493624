package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

// A line has the form of its wire, and a text in each slot of its turn.
func TestLineHasATextForEachSlot(t *testing.T) {
	line := `{"role":"assistant","content":"say","reasoning_content":"think","tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
	l, err := ParseLine([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	for slot, want := range map[turnindex.Slot]string{turnindex.Reasoning: "think", turnindex.Action: "say\nls {}", turnindex.Request: "", turnindex.Observation: ""} {
		if got := l.SlotText(slot); got != want {
			t.Errorf("slot %v: %q, want %q", slot, got, want)
		}
	}
	for body, ok := range map[string]bool{
		`{"role":"user","content":[{"type":"text","text":"a"}],"meta":{"wire":"anthropic","other":["x"],"refs":7}}`: true,
		`{"role":"user","parts":[{"text":"a"}],"meta":{"wire":"gemini"}}`:                                           true,
		`{"role":"user","content":"a","meta":{"wire":"unknown"}}`:                                                   true,
		`{"role":7,"meta":{"fp":"ffffffffffff","refs":["aaaaaaaaaaaa"]}}`:                                           false,
		`{"role":`: false,
	} {
		l, err := ParseLine([]byte(body))
		if (err == nil) != ok || ok && l.Text() != "a" || len(l.Refs) > 0 && ok {
			t.Errorf("%s: %q, %v", body, l.Text(), err)
		}
		if got, found := InLine([]byte(body), "aaaaaaaaaaaa"); found {
			t.Errorf("%s holds %q", body, got)
		}
	}
	for name, marked := range map[string]bool{"openai": false, "responses": true, "anthropic": true, "gemini": true, "other": false} {
		mark, ok := WireMark(name)
		if format := FormatOf(name).Name(); ok != marked || ok && (mark.String() != name || format != name) || !ok && format != "openai" {
			t.Errorf("%s: mark %q, %v, format %s", name, mark, ok, format)
		}
	}
}

// A media part is described, unless the model gave it a text.
func TestPartTextPrefersTheTextOfMedia(t *testing.T) {
	for want, p := range map[string]message.Part{
		"words":                                {Kind: message.KindAudio, Text: "words"},
		"[image, 30 by 20 pixels, 9 bytes; it": {Kind: message.KindImage, Media: &message.Media{Width: 30, Height: 20, Bytes: 9}},
		"":                                     {Kind: message.KindText},
		"ls {}":                                {Kind: message.KindToolCall, Name: "ls", Args: []byte("{}"), Text: "x"},
	} {
		if got := PartText(p); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A turn index has references as bytes. What is no hex digit counts as 0.
func TestRawRefsAreBytes(t *testing.T) {
	m := Meta{Refs: []string{"0123456789af", "", "a", "/:`g@G0001ff", "0123456789afff"}}
	want := [][6]byte{{1, 0x23, 0x45, 0x67, 0x89, 0xaf}, {}, {0xa0}, {0, 0, 0, 0, 1, 0xff}, {1, 0x23, 0x45, 0x67, 0x89, 0xaf}}
	if got := m.RawRefs(); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

// A stored ledger has the number of its file. A changed one has nothing else.
func TestStoredLedgerHasTheNumberOfItsFile(t *testing.T) {
	changed := &storage.ChangedError{File: "x"}
	for name, c := range map[string]struct {
		from record.Ledger
		ok   bool
		want Step
	}{
		"as stored":  {record.Ledger{Step: 7, Data: []byte(`{"v":1,"step":3,"note":"n"}`)}, true, Step{V: 1, Step: 7, Note: "n"}},
		"changed":    {record.Ledger{Step: 7, Data: []byte(`{"v":1,"note":"n"}`), Changed: changed}, true, Step{Step: 7, Changed: changed}},
		"unreadable": {record.Ledger{Step: 7, Data: []byte(`{"v":99}`)}, false, Step{}},
		"no JSON":    {record.Ledger{Step: 7, Data: []byte(`{"v":1,"note":`)}, false, Step{}},
	} {
		got, err := NewReader().Stored(c.from)
		if (err == nil) != c.ok || c.ok && fmt.Sprint(got) != fmt.Sprint(c.want) || err != nil && !strings.Contains(err.Error(), "step 7") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A step knows its edits, and proves the lines of the messages that it took away.
func TestStepKnowsItsEditsAndTheirPlaces(t *testing.T) {
	line := []byte("a line")
	sum := sha256.Sum256(line)
	fp := message.Fingerprint{1, 2}
	s := Step{Archive: "a", In: reduce.Link{N: 2}, Out: reduce.Link{N: 1}, Forms: policy.Forms{"f": "x"}, Recipes: []reduce.Recipe{
		{Texts: make([]reduce.TextRecipe, 2)}, {Cut: &reduce.CutRecipe{}}, {Copies: make([]reduce.CopyRecipe, 3)},
	}, Evicted: []Eviction{{FP: fp, Off: 3, SHA256: hex.EncodeToString(sum[:])}, {File: "b", Off: 3}}}
	if n := s.CountEdits(); n != 4 || !s.Cuts() || (&Step{Recipes: s.Recipes[:1]}).Cuts() {
		t.Errorf("%d edits, want 4; the step cuts: %v", n, s.Cuts())
	}
	at := s.Evictions()
	if len(at) != 2 || at[Place{"a", 3}] != &s.Evicted[0] || at[Place{"b", 3}] != &s.Evicted[1] {
		t.Errorf("evictions %v", at)
	}
	if trail := s.Trail(); trail.In != s.In || trail.Out != s.Out || len(trail.Recipes) != 3 || trail.Forms["f"] != "x" {
		t.Errorf("trail %+v", trail)
	}
	e := &s.Evicted[0]
	if d := e.Differs("f", []byte("other")); !e.Proves(line) || e.Proves([]byte("other")) || d.File != "f" || d.Want != e.SHA256 || d.Have == d.Want || len(d.Have) != 64 || !strings.Contains(d.Detail, fp.String()[:12]) {
		t.Errorf("the line is proven: %v; another one: %+v", e.Proves(line), d)
	}
}

// A wanted message is found by its fingerprint and its parts, and all messages of its turn
// by the turn: in each slot, one after the other.
func TestAddRowsIndexesTheTurnOfAWantedMessage(t *testing.T) {
	text, call := message.Part{Kind: message.KindText}, message.Part{Kind: message.KindToolCall}
	rows := []Row{
		{Role: message.RoleUser, Parts: []message.Part{text}, FP: message.Fingerprint{9, 1}, Refs: [][6]byte{{1}}, Turn: 1, File: "f", Off: 10, Len: 5, Shown: turnindex.Masked},
		{Role: message.RoleAssistant, Parts: []message.Part{text, call}, FP: message.Fingerprint{9, 2}, Refs: [][6]byte{{2}, {3}}, Turn: 1, File: "f", Off: 20, Len: 6, Want: true},
		{Role: message.RoleAssistant, Parts: []message.Part{text}, FP: message.Fingerprint{9, 3}, Refs: [][6]byte{{4}}, Turn: 1, File: "f", Off: 30, Len: 7},
		{Role: message.RoleUser, Parts: []message.Part{text}, FP: message.Fingerprint{9, 4}, Refs: [][6]byte{{5}}, Turn: 2, File: "f", Off: 40, Len: 8},
		{Role: message.RoleSystem, Parts: []message.Part{text}, FP: message.Fingerprint{9, 5}, Refs: [][6]byte{{6}}, File: "f", Off: 50, Len: 9, Want: true},
	}
	var set turnindex.Set
	if err := AddRows(&set, rows); err != nil {
		t.Fatal(err)
	}
	table, err := turnindex.Open(t.Context(), turnindex.Bytes(set.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		key  turnindex.Key
		want string
	}{
		"turn 1":               {turnindex.Turn(1), fmt.Sprint([]string{row(turnindex.Request, 0, 10), row(turnindex.Action, 0, 20), row(turnindex.Action, 1, 30)})},
		"turn 2, not wanted":   {turnindex.Turn(2), "[]"},
		"no turn":              {turnindex.Turn(0), "[]"},
		"the wanted message":   {turnindex.Message(message.Fingerprint{9, 2}), fmt.Sprint([]string{row(turnindex.Other, 0, 20)})},
		"its call":             {turnindex.Part([6]byte{3}), fmt.Sprint([]string{row(turnindex.Action, 1, 20)})},
		"a message beside it":  {turnindex.Message(message.Fingerprint{9, 1}), "[]"},
		"a message of no turn": {turnindex.Message(message.Fingerprint{9, 5}), fmt.Sprint([]string{row(turnindex.Other, 0, 50)})},
		"the part of no turn":  {turnindex.Part([6]byte{6}), fmt.Sprint([]string{row(turnindex.Other, 0, 50)})},
	} {
		found, err := table.Lookup(t.Context(), c.key.Query())
		got := []string{}
		for _, r := range found {
			got = append(got, row(r.Slot, r.Ord, r.Off))
			if want := turnindex.InFull; r.Off == 10 && r.Shown != turnindex.Masked || r.Off != 10 && r.Shown != want {
				t.Errorf("%s: shown %v", name, r.Shown)
			}
		}
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, c.want)
		}
	}
}

func row(slot turnindex.Slot, ord int, off int64) string { return fmt.Sprint(slot, "/", ord, "@", off) }
