package bpe

// The pattern of o200k_base, alternatives in order of preference:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+

// nextO200K returns the end of the piece that begins at b[i]; i < len(b).
func nextO200K(c *classes, b []byte, i int) int {
	cls, size := c.at(b, i)
	after := i + size
	switch {
	case cls&number != 0:
		return c.numbers(b, after)
	case cls&newline != 0:
		return c.whitespace(b, i)
	}
	if end := c.word(b, i, after, cls); end > 0 {
		return end + contraction(b, end)
	}
	if cls&space != 0 {
		if b[i] != ' ' || after == len(b) {
			return c.whitespace(b, i)
		}
		if next, _ := c.at(b, after); next&visible != 0 {
			return c.whitespace(b, i)
		}
	}
	return newlines(b, c.symbols(b, after), '/')
}

// word returns the end of a word that begins at b[i], or 0 if there is none. The first character
// has class cls and ends at b[after]. If it is not a letter, it may precede the word; otherwise it
// is part of it.
func (c *classes) word(b []byte, i, after int, cls class) int {
	if cls&letter != 0 {
		after = i
	}
	if end := c.lowered(b, after); end > 0 {
		return end
	}
	if cls&(letter|upper) == upper { // a mark
		return c.lowered(b, i)
	}
	return c.raised(b, after)
}

// lowered matches the first alternative from b[i] on, without the optional first character: upper
// characters, as many as possible with a lower one after them, and then all lower ones. It returns
// the end of the word, or 0 if there is no word.
func (c *classes) lowered(b []byte, i int) int {
	both := 0 // the end of the last character that is both upper and lower
	for i < len(b) {
		cls, size := c.at(b, i)
		if cls&upper == 0 {
			if cls&lower != 0 {
				return c.run(b, i+size, lower)
			}
			break
		}
		i += size
		if cls&lower != 0 {
			both = i
		}
	}
	return both
}

// raised matches the second alternative, only upper characters, if the first does not match.
func (c *classes) raised(b []byte, i int) int {
	if end := c.run(b, i, upper); end > i {
		return end
	}
	return 0
}
