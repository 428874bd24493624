package policy

// placed says where each input message stands in a conversation: its index
// from 1, 0 = nowhere.
type placed []int32

func places(c *Conversation) placed {
	at := make(placed, c.fates.len())
	for i := range c.items.len() {
		if src := c.items.at(i).src; src >= 0 {
			at[src] = int32(i) + 1
		}
	}
	return at
}

// of returns the index of input message src, and whether it is there. A
// message that was made here (-1) is no input.
func (p placed) of(src int) (int, bool) {
	if src < 0 || src >= len(p) || p[src] == 0 {
		return 0, false
	}
	return int(p[src]) - 1, true
}
