package policy

// origins is what is known of the parts of a message from before edits. Nearly
// all messages have one such part, which is kept and found without a map.
type origins struct {
	part int
	one  Origin
	all  map[int]Origin // of more than one; shared, never modified
}

func originsOf(all map[int]Origin) *origins {
	o := &origins{}
	for o.part, o.one = range all {
		break
	}
	if len(all) > 1 {
		o.all = all
	}
	return o
}

// of returns what is known of part p; o may be nil.
func (o *origins) of(p int) (Origin, bool) {
	if o == nil {
		return Origin{}, false
	}
	if o.part == p {
		return o.one, true
	}
	one, ok := o.all[p]
	return one, ok
}

// with returns the origins with more of them in their place.
func (o *origins) with(more map[int]Origin) *origins {
	if o == nil {
		return originsOf(more)
	}
	all := make(map[int]Origin, len(more)+1)
	all[o.part] = o.one
	for p, one := range o.all {
		all[p] = one
	}
	for p, one := range more {
		all[p] = one
	}
	return originsOf(all)
}
