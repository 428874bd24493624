package policy

import (
	"errors"
	"maps"
	"sync"

	"github.com/agentcompact/compact/message"
)

// A Trail is a history on which the steps of a ledger are made again, one
// after the other and in place. A step costs what it touches: what no step has
// reached yet is not looked at, and the chain goes on from the first change. It
// is not safe for concurrent use.
type Trail struct {
	conv   *Conversation     // what steps have reached, on its way to the whole
	rest   []message.Message // what none has
	known  func(message.Fingerprint) map[int]Origin
	anchor int // input message: the last user message; -1 = none

	left  int // messages of rest that are not pinned
	index []int
	chain Chain
	tools func() tools
}

// NewTrail begins with the history as it came in. known, which may be nil, maps
// the fingerprint of an edited message to what its parts were before.
func NewTrail(history []message.Message, pins Pins, forms Forms, known func(message.Fingerprint) map[int]Origin) *Trail {
	t := &Trail{
		conv: &Conversation{pins: pins, forms: forms},
		rest: history, known: known, anchor: message.Anchor(history), chain: newChain(),
		tools: sync.OnceValue(func() tools { return toolsOf(history) }),
	}
	for i := range history {
		t.conv.fates.add(fate{})
		if !pins.Pinned(&history[i]) {
			t.left++
		}
	}
	return t
}

// Len returns how many messages are not pinned.
func (t *Trail) Len() int { return len(t.index) + t.left }

// Has reports whether the conversation, as it is now, begins with a prefix.
func (t *Trail) Has(l Link) bool {
	if l.N <= 0 || l.N > t.Len() {
		return false
	}
	t.reach(l.N)
	return t.chain.at(t.conv, l.N) == l.Hash
}

// Whole returns the link of the whole conversation, as it is now.
func (t *Trail) Whole() Link {
	t.reach(t.Len())
	return t.chain.At(t.conv, t.Len())
}

// reach takes messages in until n of those that are not pinned are there.
func (t *Trail) reach(n int) {
	for len(t.index) < n && len(t.rest) > 0 {
		t.take()
	}
}

// take takes the next message in.
func (t *Trail) take() {
	c := t.conv
	it := item{m: t.rest[0], src: c.fates.len() - len(t.rest), pinned: c.pins.Pinned(&t.rest[0])}
	t.rest = t.rest[1:]
	if t.known != nil {
		if o := t.known(it.m.Fingerprint()); len(o) > 0 {
			it.remember(originsOf(o))
		}
	}
	if !it.pinned {
		t.index = append(t.index, c.items.len())
		t.left--
	}
	c.items.add(it)
}

// A TrailStep is what a ledger says of one compaction.
type TrailStep struct {
	In, Out Link
	Recipes []Recipe
	Forms   Forms // that its marks are rendered with, besides those of the trail
}

// ErrReplay: the edits of a step lead to another conversation than they did, or
// would take out the last user message of this one.
var ErrReplay = errors.New("policy: the edits of the ledger lead to another view than they did")

// Make makes the edits of a step whose In the trail has, and returns how many
// they were. On an error nothing is changed. legal, which may be nil, is asked
// about the outcome.
func (t *Trail) Make(s TrailStep, legal func([]message.Message, []int) error) (edits int, err error) {
	t.reach(s.In.N)
	for len(t.rest) > 0 && t.conv.pins.Pinned(&t.rest[0]) {
		t.take() // it may belong to what is cut
	}
	forms := t.conv.forms
	t.conv.forms = merged(forms, s.Forms)
	u := &undo{}
	if edits, err = t.make(s.Recipes, u); err == nil {
		err = t.holds(s.Out, legal)
	}
	if err != nil {
		u.back(t.conv)
		t.conv.forms = forms
		t.moved(0)
	}
	return edits, err
}

func (t *Trail) make(recipes []Recipe, u *undo) (n int, err error) {
	for k := range recipes {
		edits, err := t.conv.edits(&recipes[k], t.index)
		if err != nil {
			return n, err
		}
		before, cut := t.conv.items, recipes[k].Removes()
		from := firstEdited(edits, before.len())
		if err := t.conv.edit(edits, u, t.tools); err != nil {
			return n, err
		}
		if cut {
			from = min(from, differ(&before, &t.conv.items))
		}
		if t.chain.Cut(from); cut || t.pinned(edits) {
			t.moved(from)
		}
		n += len(edits)
	}
	return n, nil
}

// pinned reports whether a text edit made a pinned message of one that was not:
// of a notice, say.
func (t *Trail) pinned(edits []Edit) bool {
	for k := range edits {
		if e := edits[k].Text; e != nil && t.conv.items.at(e.Index).pinned {
			return true
		}
	}
	return false
}

// firstEdited returns the first message whose text edits change.
func firstEdited(edits []Edit, none int) int {
	for k := range edits {
		if t := edits[k].Text; t != nil {
			none = min(none, t.Index)
		}
	}
	return none
}

// differ returns where a cut changed which messages there are.
func differ(before, after *list[item]) int {
	n := min(before.len(), after.len())
	for i := range n {
		was, is := before.at(i), after.at(i)
		if was.src != is.src || is.src < 0 && !message.Same(was.m, is.m) {
			return i
		}
	}
	return n
}

// moved takes note that other messages stand from a place on.
func (t *Trail) moved(from int) {
	n := len(t.index)
	for n > 0 && t.index[n-1] >= from {
		n--
	}
	t.index = t.index[:n]
	for i := from; i < t.conv.items.len(); i++ {
		if !t.conv.items.at(i).pinned {
			t.index = append(t.index, i)
		}
	}
	t.chain.Cut(from)
}

// holds returns an error where the outcome of a step is not what it was, or
// must not be.
func (t *Trail) holds(out Link, legal func([]message.Message, []int) error) error {
	if out.N > 0 && !t.Has(out) { // N is 0 where nothing stands for what went
		return ErrReplay
	}
	if t.anchor >= 0 && !t.conv.Holds(t.anchor) {
		return ErrReplay // a rewound history, whose last user message was summarized since
	}
	if legal == nil {
		return nil
	}
	all := t.conv.messages(t.rest)
	sources := t.conv.Sources()
	for i := range t.rest {
		sources = append(sources, t.conv.fates.len()-len(t.rest)+i)
	}
	return legal(all, sources)
}

// End returns the conversation, and its chain. The trail must not be used
// after that.
func (t *Trail) End() (*Conversation, *Chain) {
	for len(t.rest) > 0 {
		t.take()
	}
	return t.conv, &t.chain
}

// merged returns forms with more of them.
func merged(forms, more Forms) Forms {
	if len(more) == 0 {
		return forms
	}
	out := Forms{}
	maps.Copy(out, forms)
	maps.Copy(out, more)
	return out
}
