package reduce

// indexMap maps each input message to its index in a conversation, counted from 1; 0 means
// that the message is not in the conversation.
type indexMap []int32

func places(c *Conversation) indexMap {
	at := make(indexMap, c.fates.len())
	for i := range c.items.len() {
		if src := c.items.at(i).src; src >= 0 {
			at[src] = int32(i) + 1
		}
	}
	return at
}

// index returns the index of input message src. It returns false if the message is not
// in the conversation, or if src is -1, which stands for a message made by a stage.
func (p indexMap) index(src int) (int, bool) {
	if src < 0 || src >= len(p) || p[src] == 0 {
		return 0, false
	}
	return int(p[src]) - 1, true
}
