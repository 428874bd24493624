package reduce

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// A list behaves like a slice, and its clones do not see each other's changes.
func TestListClonesAreIndependent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type both struct {
		l    list[int]
		want []int
		done bool // the list was cloned and may only be appended to
	}
	all := []*both{{}}
	for step := range 20_000 {
		b := all[r.IntN(len(all))]
		switch op := r.IntN(10); {
		case op < 5:
			b.l.add(step)
			b.want = append(b.want, step)
		case op < 8 && len(b.want) > 0 && !b.done:
			i := r.IntN(len(b.want))
			*b.l.edit(i) = -step
			b.want[i] = -step
		case op == 8 && r.IntN(20) == 0 && !b.done:
			n := len(b.want) - r.IntN(len(b.want)/8+1)
			b.l.cut(n)
			b.want = b.want[:n]
		case op == 9 && len(all) < 40 && r.IntN(20) == 0:
			b.done = true
			all = append(all, &both{l: b.l.clone(), want: slices.Clone(b.want)})
		}
	}
	for k, b := range all {
		if b.l.len() != len(b.want) {
			t.Fatalf("list %d has %d elements, want %d", k, b.l.len(), len(b.want))
		}
		for i := range b.want {
			if *b.l.at(i) != b.want[i] {
				t.Fatalf("list %d has %d at %d, want %d", k, *b.l.at(i), i, b.want[i])
			}
		}
	}
}

// A clone copies one word for each page, and a change copies one page.
func TestListCopiesOnlyChangedPages(t *testing.T) {
	var l list[[64]byte]
	for range 100 * pageLen {
		l.add([64]byte{})
	}
	c := l.clone()
	c.edit(5)[0] = 1
	copied := 0
	for p := range 100 {
		if !l.shares(&c, p*pageLen) {
			copied++
		}
	}
	if copied != 1 {
		t.Errorf("%d pages were copied, want 1", copied)
	}
	if n := testing.AllocsPerRun(10, func() { d := l.clone(); d.edit(7)[0] = 1 }); n > 3 {
		t.Errorf("a clone and a change make %v allocations, want at most 3", n)
	}
}

func TestSharedCountsWholePages(t *testing.T) {
	var history []message.Message
	for i := range 3 * pageLen {
		history = append(history, message.ToolResult(fmt.Sprint(i), strings.Repeat("x", 100+i)))
	}
	c := NewConversation(history, nil, nil)
	d, err := c.Apply([]policy.Edit{{Text: &policy.TextEdit{Index: pageLen + 5, Segments: []policy.Segment{{Lit: "short"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := c.Shared(d); n != pageLen {
		t.Errorf("shared with the edited conversation: %d, want %d", n, pageLen)
	}
	if n := c.Shared(c.Append(history[:1])); n != c.Len() {
		t.Errorf("shared with the longer conversation: %d, want %d", n, c.Len())
	}
	if n := NewConversation(history, nil, nil).Shared(c); n != 0 {
		t.Errorf("shared with another conversation of the same messages: %d, want 0", n)
	}
}
