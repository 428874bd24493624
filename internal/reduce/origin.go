package reduce

import (
	"math"

	"github.com/agentcompact/compact/policy"
)

// origins holds the origins of the edited parts of a message. Almost always only one
// part was edited; its origin is found without a map.
type origins struct {
	part int
	one  policy.Origin
	all  map[int]policy.Origin // set if there are several parts; shared, never modified
}

// A maskState holds the data that every call of the hook needs about every message. It
// is stored in the item itself, which is faster to reach in memory than the origins.
type maskState struct {
	part  int16 // the edited part, from 1; 0 = none or several, see origins
	whole bool  // the part is masked, not only truncated
	chars int32 // original characters of a masked part
}

// remember sets the origins of the message and its mask state.
func (it *item) remember(o *origins) {
	it.origins, it.mask = o, maskState{}
	if o == nil || o.all != nil || o.part >= math.MaxInt16 || o.one.Chars > math.MaxInt32 {
		return
	}
	it.mask = maskState{part: int16(o.part + 1), whole: o.one.Masked}
	if o.one.Masked && !o.one.Media {
		it.mask.chars = int32(o.one.Chars)
	}
}

// masks reports whether part p is masked. known is false if part p was never
// edited.
func (it *item) masks(p int) (masked, known bool) {
	if it.mask.part != 0 {
		return it.mask.whole && int(it.mask.part) == p+1, int(it.mask.part) == p+1
	}
	o, known := it.origins.get(p)
	return o.Masked, known
}

// MaskedChars returns the number of original characters of the masked parts of
// message i. Media do not count.
func (c *Conversation) MaskedChars(i int) (n int) {
	it := c.items.at(i)
	if it.mask.part != 0 || it.origins == nil {
		return int(it.mask.chars)
	}
	for p := range it.m.Parts {
		if o, ok := it.origins.get(p); ok && o.Masked && !o.Media {
			n += o.Chars
		}
	}
	return n
}

func originsOf(all map[int]policy.Origin) *origins {
	o := &origins{}
	for o.part, o.one = range all {
		break
	}
	if len(all) > 1 {
		o.all = all
	}
	return o
}

// get returns the origin of part p. o may be nil.
func (o *origins) get(p int) (policy.Origin, bool) {
	if o == nil {
		return policy.Origin{}, false
	}
	if o.part == p {
		return o.one, true
	}
	one, ok := o.all[p]
	return one, ok
}

// with returns o with the origins in more added or replaced. o may be nil.
func (o *origins) with(more map[int]policy.Origin) *origins {
	if o == nil {
		return originsOf(more)
	}
	all := make(map[int]policy.Origin, len(more)+1)
	all[o.part] = o.one
	for p, one := range o.all {
		all[p] = one
	}
	for p, one := range more {
		all[p] = one
	}
	return originsOf(all)
}
