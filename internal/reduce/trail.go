package reduce

import (
	"errors"
	"maps"
	"sync"

	"github.com/agentcompact/compact/internal/toolcall"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// A Trail repeats the steps of a ledger on a history, one after the other and in place.
// The cost of a step depends only on the messages that it changes: a trail does not read
// messages that no step has reached, and recomputes the chain only from the first change
// on. A Trail is not safe for concurrent use.
type Trail struct {
	conv   *Conversation     // the part that steps have reached
	rest   []message.Message // messages that no step has reached
	known  func(message.Fingerprint) map[int]policy.Origin
	anchor int // input index of the last user message; -1 = none
	newest int // input index of the last message if it is a tool result; -1 = it is not one

	left  int // number of unpinned messages in rest
	index []int
	chain Chain
	calls func() toolcall.Index
}

// NewTrail returns a trail over the unedited history. known, which may be nil,
// maps the fingerprint of an edited message to the origins of its parts.
func NewTrail(history []message.Message, pins policy.Pins, forms policy.Forms, known func(message.Fingerprint) map[int]policy.Origin) *Trail {
	t := &Trail{
		conv: &Conversation{pins: pins, forms: forms},
		rest: history, known: known, anchor: message.Anchor(history), newest: newestResult(history), chain: newChain(),
		calls: sync.OnceValue(func() toolcall.Index { return toolcall.Of(history) }),
	}
	for i := range history {
		t.conv.fates.add(fate{})
		if !pins.Pinned(&history[i]) {
			t.left++
		}
	}
	return t
}

// newestResult returns the index of the last message if it is a tool result, else -1: the
// next answer is the first one to read it.
func newestResult(history []message.Message) int {
	last := len(history) - 1
	if last >= 0 && history[last].Role == message.RoleTool {
		return last
	}
	return -1
}

// Len returns the number of unpinned messages.
func (t *Trail) Len() int { return len(t.index) + t.left }

// Has reports whether the current conversation begins with the prefix l.
func (t *Trail) Has(l Link) bool {
	if l.N <= 0 || l.N > t.Len() {
		return false
	}
	t.reach(l.N)
	return t.chain.at(t.conv, l.N) == l.Hash
}

// Whole returns the link of the whole current conversation.
func (t *Trail) Whole() Link {
	t.reach(t.Len())
	return t.chain.At(t.conv, t.Len())
}

// reach moves messages from rest into the conversation until the conversation has n
// unpinned messages.
func (t *Trail) reach(n int) {
	for len(t.index) < n && len(t.rest) > 0 {
		t.take()
	}
}

// take moves the next message from rest into the conversation.
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

// A TrailStep is the record of one compaction in a ledger.
type TrailStep struct {
	In, Out Link
	Recipes []Recipe
	Forms   policy.Forms // forms of the marks that the recipes make, in addition to the forms of the trail
}

// ErrReplay means that the edits of a step lead to a conversation that differs from the
// recorded one, or would remove the last user message or a result that ends the history.
var ErrReplay = errors.New("policy: replaying the ledger gives another view than the recorded one, or removes the last user message or result")

// Make applies the edits of a step and returns their number. The conversation must begin
// with s.In (see [Trail.Has]). legal, which may be nil, checks the outcome. On an error,
// nothing is changed and the number is 0.
func (t *Trail) Make(s TrailStep, legal func([]message.Message, []int) error) (edits int, err error) {
	t.reach(s.In.N)
	for len(t.rest) > 0 && t.conv.pins.Pinned(&t.rest[0]) {
		t.take() // pinned messages right after the prefix may belong to a round that the step cuts
	}
	forms := t.conv.forms
	t.conv.forms = merged(forms, s.Forms)
	u := &undo{}
	if edits, err = t.make(s.Recipes, u); err == nil {
		err = t.verify(s.Out, legal)
	}
	if err != nil {
		u.revert(t.conv)
		t.conv.forms = forms
		t.reindex(0)
		return 0, err
	}
	return edits, nil
}

func (t *Trail) make(recipes []Recipe, u *undo) (n int, err error) {
	for k := range recipes {
		edits, anchor, err := t.conv.edits(&recipes[k], t.index)
		if err != nil {
			return n, err
		}
		before, cut := t.conv.items, recipes[k].Removes()
		from := firstEdited(edits, before.len())
		if err := t.conv.edit(edits, anchor, u, t.calls); err != nil {
			return n, err
		}
		if cut {
			from = min(from, differ(&before, &t.conv.items))
		}
		t.chain.Cut(from)
		if cut || t.pinned(edits) {
			t.reindex(from)
		}
		n += len(edits)
	}
	return n, nil
}

// pinned reports whether a text edit turned an unpinned message, such as a
// notice, into a pinned one.
func (t *Trail) pinned(edits []policy.Edit) bool {
	for k := range edits {
		if e := edits[k].Text; e != nil && t.conv.items.at(e.Index).pinned {
			return true
		}
	}
	return false
}

// firstEdited returns the smallest index of a message with a text edit, or the value none
// if there is no text edit.
func firstEdited(edits []policy.Edit, none int) int {
	for k := range edits {
		if t := edits[k].Text; t != nil {
			none = min(none, t.Index)
		}
	}
	return none
}

// differ returns the first index at which a cut changed the sequence of messages.
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

// reindex updates the index and the chain after the messages from index from on
// have changed.
func (t *Trail) reindex(from int) {
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

// verify returns an error if the outcome of a step differs from the recorded outcome or
// is not legal.
func (t *Trail) verify(out Link, legal func([]message.Message, []int) error) error {
	if out.N > 0 && !t.Has(out) { // N is 0 if no message of the prefix is left
		return ErrReplay
	}
	if t.anchor >= 0 && !t.conv.Holds(t.anchor) {
		return ErrReplay // the history may have been rewound to a message that a later summary covered
	}
	if t.newest >= 0 && !t.conv.Holds(t.newest) {
		return ErrReplay // the same, for a result that no answer of the model has followed yet
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

// End returns the conversation and its chain. The trail must not be used
// afterwards.
func (t *Trail) End() (*Conversation, *Chain) {
	for len(t.rest) > 0 {
		t.take()
	}
	return t.conv, &t.chain
}

// merged returns the union of forms and over; entries of over take precedence.
func merged(forms, over policy.Forms) policy.Forms {
	if len(over) == 0 {
		return forms
	}
	out := policy.Forms{}
	maps.Copy(out, forms)
	maps.Copy(out, over)
	return out
}
