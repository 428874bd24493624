package policy

// undo takes back edits that were made to a conversation in place. A nil undo
// notes nothing.
type undo struct{ log []undone }

// undone is one thing that was changed: the decision on an input message, a
// message, or, by a cut, which messages there are.
type undone struct {
	src  int // of a fate, from 1
	fate fate

	at int   // of a message, from 1
	it *item // as it was

	items *list[item] // before a cut
}

func (u *undo) decided(d *Conversation, src int) {
	if u != nil && src >= 0 {
		u.log = append(u.log, undone{src: src + 1, fate: *d.fates.at(src)})
	}
}

func (u *undo) edited(d *Conversation, i int) {
	if u != nil {
		it := *d.items.at(i)
		u.log = append(u.log, undone{at: i + 1, it: &it})
	}
}

func (u *undo) cut(d *Conversation) {
	if u != nil {
		items := d.items
		u.log = append(u.log, undone{items: &items})
	}
}

// back takes everything back, the newest first.
func (u *undo) back(d *Conversation) {
	for k := len(u.log) - 1; k >= 0; k-- {
		switch n := &u.log[k]; {
		case n.src > 0:
			*d.fates.edit(n.src - 1) = n.fate
		case n.at > 0:
			*d.items.edit(n.at - 1) = *n.it
		default:
			d.items = *n.items
		}
	}
	u.log = nil
}
