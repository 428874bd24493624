// Package wiretest tests the promises of every wire: untouched bytes stay the
// same, and an edit changes nothing else.
package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// Body checks every promise of a wire with one valid body. No message of the body
// may have two members of the same name.
func Body(t *testing.T, f wire.Format, body []byte) {
	t.Helper()
	was := bytes.Clone(body)
	r, err := f.ParseRequest(body, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	identity(t, r, body)
	cached(t, f, body, r.Messages())
	edits(t, r, body)
	removals(t, r, body)
	Messages(t, f, r.Messages())
	if !bytes.Equal(body, was) {
		t.Fatal("the body was modified")
	}
}

// identity tests that Write returns the same slice for a view that is equal to
// Messages.
func identity(t *testing.T, r wire.Request, body []byte) {
	t.Helper()
	out, err := r.Write(slices.Clone(r.Messages()), Sources(len(r.Messages())))
	if err != nil || !bytes.Equal(out, body) {
		t.Fatalf("written back as\n%s\nof\n%s\n%v", out, body, err)
	}
	if len(body) > 0 && &out[0] != &body[0] {
		t.Errorf("an unchanged body was copied")
	}
}

// cached tests that a parse with the cache returns the same messages as a parse without
// it.
func cached(t *testing.T, f wire.Format, body []byte, want []message.Message) {
	t.Helper()
	c := wire.NewCache(0)
	for range 2 {
		again := bytes.Clone(body)
		r, err := f.ParseRequest(again, c)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, r.Messages(), want)
		identity(t, r, again)
	}
}

func equal(t *testing.T, got, want []message.Message) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i := range got {
		if !message.Identical(got[i], want[i]) || !reflect.DeepEqual(got[i].Parts, want[i].Parts) {
			t.Fatalf("message %d is\n%s %+v\nwant\n%s %+v", i, got[i].Raw(), got[i].Parts, want[i].Raw(), want[i].Parts)
		}
	}
}

// replacement is the new text of every edit.
const replacement = "replaced \"\u00e9\"\n"

// edits tests that an edit changes one string and nothing else, and that sealed
// parts refuse it. Protected messages are never edited, and a wire may refuse to
// write an edited one.
func edits(t *testing.T, r wire.Request, body []byte) {
	t.Helper()
	for i, m := range r.Messages() {
		for p := range m.Parts {
			if m.Replaceable(p) {
				media(t, r, i, p)
				continue
			}
			edited, err := m.WithPartText(p, replacement)
			switch {
			case m.Parts[p].Sealed && !errors.Is(err, message.ErrSealed):
				t.Fatalf("part %d of message %d is sealed, but an edit says %v", p, i, err)
			case m.Editable(p) != (err == nil):
				t.Fatalf("part %d of message %d: editable %v, but %v", p, i, m.Editable(p), err)
			case err == nil && !m.Protected:
				view := slices.Clone(r.Messages())
				view[i] = edited
				edit(t, r, body, view, i, p)
			}
		}
	}
}

// media tests that a text replaces a picture, a sound or a file. Every byte
// outside of that part stays the same, and the data is no longer in the body.
func media(t *testing.T, r wire.Request, i, p int) {
	t.Helper()
	m := r.Messages()[i]
	edited, err := m.WithPartText(p, message.MediaText(m.Parts[p].Kind, 7, 900, "3f9a2c1b70de"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Protected {
		return
	}
	view := slices.Clone(r.Messages())
	view[i] = edited
	out, err := r.Write(view, Sources(len(view)))
	if err != nil || !json.Valid(out) {
		t.Fatalf("%v: %s", err, out)
	}
	at, was, is := m.TextSpan(p), m.Raw(), edited.Raw()
	rest := len(was) - at.End
	if len(is) < at.Start+rest || !bytes.Equal(was[:at.Start], is[:at.Start]) || !bytes.Equal(was[at.End:], is[len(is)-rest:]) {
		t.Fatalf("the text for part %d of message %d changed other bytes too:\n%s\n%s", p, i, was, is)
	}
	if got, want := edited.Parts[p].CallID, m.Parts[p].CallID; got != want || edited.Parts[p].Media != nil {
		t.Fatalf("part %d of message %d is %+v, want a text of the call %q", p, i, edited.Parts[p], want)
	}
	reread(t, r.Format(), out, view)
}

func edit(t *testing.T, r wire.Request, body []byte, view []message.Message, i, p int) {
	t.Helper()
	out, err := r.Write(view, Sources(len(view)))
	if err != nil {
		t.Fatal(err)
	}
	if n := differences(decode(t, body), decode(t, out)); n != 1 && view[i].Parts[p].Text != r.Messages()[i].Parts[p].Text {
		t.Fatalf("the edit of part %d of message %d changed %d values:\n%s\n%s", p, i, n, body, out)
	}
	quoted := jsonscan.AppendQuote(nil, replacement)
	at := common(body, out)
	from := max(0, at-len(quoted))
	if at < len(out) && !bytes.Contains(out[from:min(len(out), at+len(quoted))], quoted) {
		t.Fatalf("the edit of part %d of message %d changed other bytes too:\n%s\n%s", p, i, body, out)
	}
	reread(t, r.Format(), out, view)
}

func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func decode(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v
}

// differences counts the leaves at which two values differ.
func differences(a, b any) int {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return 1 << 20
		}
		n := 0
		for k := range x {
			n += differences(x[k], y[k])
		}
		return n
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return 1 << 20
		}
		n := 0
		for i := range x {
			n += differences(x[i], y[i])
		}
		return n
	}
	if !reflect.DeepEqual(a, b) {
		return 1
	}
	return 0
}

// removals tests that after the removal of whole rounds, the other messages are
// read back unchanged, with the same bytes.
func removals(t *testing.T, r wire.Request, body []byte) {
	t.Helper()
	msgs := r.Messages()
	rounds := message.Rounds(msgs)
	for cut := range rounds {
		var view []message.Message
		var from []int
		for k, round := range rounds {
			for i := round.Start; i < round.End; i++ {
				if k != cut || msgs[i].Protected {
					view, from = append(view, msgs[i]), append(from, i)
				}
			}
		}
		out, err := r.Write(view, from)
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.Format().ParseRequest(out, nil)
		if err != nil {
			t.Fatalf("%v: without round %d, the body\n%s\nbecame\n%s", err, cut, body, out)
		}
		sameContent(t, again.Messages(), view)
	}
}

// sameContent compares part by part, because on a wire without messages, neighbors
// may have become one after the items between them were removed.
func sameContent(t *testing.T, got, want []message.Message) {
	t.Helper()
	g, w := flat(got), flat(want)
	if len(g) != len(w) {
		t.Fatalf("%d parts, want %d", len(g), len(w))
	}
	for i := range g {
		if g[i] != w[i] {
			t.Fatalf("part %d is %+v, want %+v", i, g[i], w[i])
		}
	}
}

type flatPart struct {
	role message.Role
	name string
	fp   message.Fingerprint
}

// flat lists the parts of messages; a message without parts counts as one part.
func flat(msgs []message.Message) (parts []flatPart) {
	for _, m := range msgs {
		for _, p := range m.Parts {
			parts = append(parts, flatPart{m.Role, m.Name, p.Fingerprint()})
		}
		if len(m.Parts) == 0 {
			parts = append(parts, flatPart{role: m.Role, name: m.Name})
		}
	}
	return parts
}

// Messages tests that AppendMessage writes one JSON object, which ParseMessage
// reads as the same message.
func Messages(t *testing.T, f wire.Format, msgs []message.Message) {
	t.Helper()
	for i, m := range msgs {
		raw := f.AppendMessage(nil, m)
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err != nil || object == nil {
			t.Fatalf("message %d is written as %s: %v", i, raw, err)
		}
		back, err := f.ParseMessage(raw)
		if err != nil {
			t.Fatalf("message %d: %v: %s", i, err, raw)
		}
		if back.Wire() != f.Name() || back.Role != m.Role || back.Fingerprint() != m.Fingerprint() {
			t.Fatalf("message %d is read again as\n%s %+v\nwant\n%s %+v\nin %s", i, back.Role, back.Parts, m.Role, m.Parts, raw)
		}
		if !reflect.DeepEqual(content(back), content(m)) {
			t.Fatalf("message %d is read again as\n%+v\nwant\n%+v\nin %s", i, back.Parts, m.Parts, raw)
		}
	}
}

// content returns the parts of a message, which every wire must keep.
func content(m message.Message) (parts []message.Part) {
	for _, p := range m.Parts {
		p.Args = bytes.Clone(p.Args)
		parts = append(parts, p)
	}
	return parts
}
