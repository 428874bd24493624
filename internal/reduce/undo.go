package reduce

// An undo logs edits made to a conversation in place, and can revert them. A nil
// undo logs nothing.
type undo struct{ log []undoRecord }

// An undoRecord holds the state before one change: a decision, a message or, for a cut, the
// list of messages.
type undoRecord struct {
	src  int // index of a fate, from 1
	fate fate

	at int   // index of a message, from 1
	it *item // the message before the edit

	items *list[item] // the messages before a cut
}

func (u *undo) decided(d *Conversation, src int) {
	if u != nil && src >= 0 {
		u.log = append(u.log, undoRecord{src: src + 1, fate: *d.fates.at(src)})
	}
}

func (u *undo) edited(d *Conversation, i int) {
	if u != nil {
		it := *d.items.at(i)
		u.log = append(u.log, undoRecord{at: i + 1, it: &it})
	}
}

func (u *undo) cut(d *Conversation) {
	if u != nil {
		items := d.items
		u.log = append(u.log, undoRecord{items: &items})
	}
}

// revert reverts all logged edits, the newest first.
func (u *undo) revert(d *Conversation) {
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
