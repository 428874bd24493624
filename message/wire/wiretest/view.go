package wiretest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// Parse parses a valid body.
func Parse(t *testing.T, f wire.Format, body string) wire.Request {
	t.Helper()
	r, err := f.ParseRequest([]byte(body), nil)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return r
}

// Sources returns the sources of a view with n unmoved messages.
func Sources(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// LastCounts compares a body in which fields occur twice with a body that has
// only the last occurrences, as a provider reads it. Both must hold the same
// conversation and break the same rules, and an edit must change the last
// field.
func LastCounts(t *testing.T, f wire.Format, twice, once string) {
	t.Helper()
	a, b := Parse(t, f, twice), Parse(t, f, once)
	if diff := cmp.Diff(Outline(b.Messages()), Outline(a.Messages())); diff != "" {
		t.Errorf("%s is read as another conversation than %s: %s", twice, once, diff)
		return
	}
	all := Sources(len(a.Messages()))
	if diff := cmp.Diff(Broken(b.Check(b.Messages(), all)), Broken(a.Check(a.Messages(), all))); diff != "" {
		t.Errorf("%s breaks other rules than %s: %s", twice, once, diff)
	}
	for i, m := range a.Messages() {
		other := b.Messages()[i]
		if m.Protected != other.Protected || !reflect.DeepEqual(m.Parts, other.Parts) {
			t.Errorf("%s: message %d is %+v, protected %v, want %+v", twice, i, m.Parts, m.Protected, other.Parts)
		}
		for p := range m.Parts {
			if m.Editable(p) != other.Editable(p) {
				t.Errorf("%s: part %d of message %d can be edited: %v", twice, p, i, m.Editable(p))
			}
			if edited, err := m.WithPartText(p, replacement); err == nil {
				view := slices.Clone(a.Messages())
				view[i] = edited
				out, err := a.Write(view, all)
				if err != nil {
					t.Fatal(err)
				}
				reread(t, f, out, view)
			}
		}
	}
}

// reread reads the body that was written for a view: it must hold the same
// conversation.
func reread(t *testing.T, f wire.Format, out []byte, view []message.Message) {
	t.Helper()
	back := Parse(t, f, string(out)).Messages()
	if len(back) != len(view) {
		t.Fatalf("%d messages of a view of %d: %s", len(back), len(view), out)
	}
	for i := range back {
		if back[i].Fingerprint() != view[i].Fingerprint() {
			t.Fatalf("message %d is read again as\n%+v\nwant\n%+v\nin %s", i, back[i].Parts, view[i].Parts, out)
		}
	}
}

// Outline returns a description of each message and its parts.
func Outline(msgs []message.Message) []string {
	var out []string
	for _, m := range msgs {
		s := string(m.Role) + ":"
		for _, p := range m.Parts {
			s += " " + p.Kind.String()
			if p.CallID != "" {
				s += "(" + p.CallID + ")"
			}
		}
		out = append(out, s)
	}
	return out
}

// Notice is the source of a new notice for [View].
const Notice = -2

// View returns a view made from these sources, and its final sources. The source -1 is
// a new summary. replace holds other messages for some positions of the view.
func View(msgs []message.Message, sources []int, replace map[int]message.Message) ([]message.Message, []int) {
	view, from := make([]message.Message, len(sources)), slices.Clone(sources)
	for k, src := range sources {
		m, replaced := replace[k]
		switch {
		case replaced:
			view[k] = m
		case src == Notice:
			view[k], from[k] = message.System(message.NoticeText(2)), -1
		case src == -1:
			view[k] = message.Assistant(message.SummaryText(1, "s"))
		default:
			view[k] = msgs[src]
		}
	}
	return view, from
}

// Edited returns a message whose first part has the text s.
func Edited(t *testing.T, m message.Message, s string) message.Message {
	t.Helper()
	m, err := m.WithPartText(0, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Broken returns the checks that fail, each with the id of its violation, sorted.
func Broken(vs []wire.Violation) (out []string) {
	for _, v := range vs {
		out = append(out, v.Check+" "+v.ID)
	}
	slices.Sort(out)
	return out
}

// Counted fails the test if a violation does not count the messages of the view from 1,
// as all texts for people do. Index counts from 0.
func Counted(t *testing.T, vs []wire.Violation) {
	t.Helper()
	for _, v := range vs {
		var n int
		if _, err := fmt.Sscanf(v.Detail, "message %d", &n); err == nil && n != v.Index+1 {
			t.Errorf("message %d of the view, from 0: %s", v.Index, v.Detail)
		}
	}
}
