// Package splicetest tests the promises of the wires of package splice, in addition to
// the promises of every wire.
package splicetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// Any tests the promises about arbitrary input: no panic, untouched bytes
// stay the same, and an edited text is read back.
func Any(t *testing.T, f wire.Format, data []byte) {
	t.Helper()
	one(t, f, data)
	r, err := f.ParseRequest(data, nil)
	if (err == nil) && !json.Valid(data) {
		t.Fatalf("no JSON was accepted: %q", data)
	}
	if err != nil {
		return
	}
	msgs, all := r.Messages(), wiretest.Sources(len(r.Messages()))
	r.Check(msgs, all)
	out, err := r.Write(msgs, all)
	if err != nil || !bytes.Contains(data, []byte(`"meta"`)) && !bytes.Equal(out, data) {
		t.Fatalf("%q is written back as %q: %v", data, out, err)
	}
	for i := range msgs {
		one(t, f, msgs[i].Raw())
		for p := range msgs[i].Parts {
			edit(t, r, i, p)
		}
	}
}

// one reads a message, writes it and reads it again.
func one(t *testing.T, f wire.Format, raw []byte) {
	t.Helper()
	m, err := f.ParseMessage(raw)
	if err != nil {
		return
	}
	again, err := f.ParseMessage(f.AppendMessage(nil, m))
	if err != nil || again.Fingerprint() != m.Fingerprint() || again.Role != m.Role || len(again.Parts) != len(m.Parts) {
		t.Fatalf("%q: %v, and read again: %+v, want %+v", raw, err, again, m)
	}
}

func edit(t *testing.T, r wire.Request, i, p int) {
	t.Helper()
	text := "edited \"\\\n"
	view := slices.Clone(r.Messages())
	if view[i].Replaceable(p) { // a text in place of media has another form
		text = message.MediaText(view[i].Parts[p].Kind, 7, 900, "3f9a2c1b70de")
	}
	m, err := view[i].WithPartText(p, text)
	if err != nil {
		return
	}
	view[i] = m
	out, err := r.Write(view, wiretest.Sources(len(view)))
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.Format().ParseRequest(out, nil)
	if err != nil {
		t.Fatalf("part %d of message %d: %v: %q", p, i, err, out)
	}
	back := again.Messages()
	if len(back) == len(view) && r.Messages()[i].Replaceable(p) { // the empty part that answers the call disappears beside a text
		if back[i].Fingerprint() == m.Fingerprint() && strings.Contains(back[i].Text()+"\n"+back[i].ResultText(), text) {
			return
		}
	}
	if len(back) != len(view) || len(back[i].Parts) != len(m.Parts) || back[i].Parts[p].Text != text {
		t.Fatalf("part %d of message %d was edited, and is read as %+v in %q", p, i, back, out)
	}
}

// Views tests random views of a body, which are always the same for a seed. A
// view that is written and read back must be the same conversation and break
// the same rules. relative names the checks that compare with the request.
func Views(t *testing.T, f wire.Format, body []byte, seed uint64, relative ...string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	r, err := f.ParseRequest(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		view, sources := randomView(r, rng)
		out, err := r.Write(view, sources)
		if err != nil {
			t.Fatal(err)
		}
		again, err := f.ParseRequest(out, nil)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		back := again.Messages()
		if len(back) != len(view) {
			t.Fatalf("%d messages of a view of %d: %s", len(back), len(view), out)
		}
		for i := range back {
			if back[i].Fingerprint() != view[i].Fingerprint() {
				t.Fatalf("message %d is read as %s %+v, want %s %+v", i, back[i].Role, back[i].Parts, view[i].Role, view[i].Parts)
			}
		}
		want := found(r.Check(view, sources), relative)
		if diff := cmp.Diff(want, found(again.Check(back, wiretest.Sources(len(back))), nil)); diff != "" {
			t.Fatalf("a view breaks other rules than the body written from it: %s\n%s", diff, out)
		}
	}
}

// randomView removes, adds and edits messages, mostly in the order of the
// request. The system prompt stays.
func randomView(r wire.Request, rng *rand.Rand) (view []message.Message, sources []int) {
	for i, m := range r.Messages() {
		if !m.Protected && rng.IntN(6) == 0 { // the system prompt is always the first
			made := []message.Message{message.Assistant(message.SummaryText(1, "s")), message.System(message.NoticeText(3)), message.User("u"),
				message.Assistant("a", message.Call("made", "f", "{}"))}[rng.IntN(4)]
			view, sources = append(view, made), append(sources, -1)
		}
		if !m.Protected && rng.IntN(5) == 0 {
			continue
		}
		for p := range m.Parts {
			if rng.IntN(4) == 0 && m.Editable(p) {
				m, _ = m.WithPartText(p, "edited") // the part is editable, so there is no error
			}
		}
		view, sources = append(view, m), append(sources, i)
	}
	if n := len(view); n > 2 && rng.IntN(4) == 0 {
		a, b := rng.IntN(n), rng.IntN(n)
		if !view[a].Protected && !view[b].Protected {
			view[a], view[b] = view[b], view[a]
			sources[a], sources[b] = sources[b], sources[a]
		}
	}
	return view, sources
}

// found returns the failed checks with their positions, in order.
func found(vs []wire.Violation, without []string) []string {
	out := []string{}
	for _, v := range vs {
		if !slices.Contains(without, v.Check) {
			out = append(out, fmt.Sprintf("%s at %d", v.Check, v.Index))
		}
	}
	slices.Sort(out)
	return out
}
