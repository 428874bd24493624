package token

import "unicode/utf8"

// A Counter counts the tokens of a text.
type Counter interface {
	// Count returns the number of tokens. It may be called concurrently. The
	// result depends only on the text, and is 0 for the empty text. Spellings of
	// special tokens such as <|endoftext|> count as ordinary text.
	Count(text string) int
}

// Counters that need no vocabulary.
var (
	// Bytes4 counts UTF-8 bytes, divided by four and rounded down.
	Bytes4 Counter = bytes4{}

	// Chars counts Unicode code points; a byte that is not valid UTF-8 counts as one.
	Chars Counter = chars{}

	// UTF16 counts UTF-16 code units, as the length of a JavaScript string
	// does; a byte that is not valid UTF-8 counts as one.
	UTF16 Counter = utf16{}
)

type bytes4 struct{}

func (bytes4) Count(text string) int { return len(text) / 4 }

type chars struct{}

func (chars) Count(text string) int { return utf8.RuneCountInString(text) }

type utf16 struct{}

func (utf16) Count(text string) int {
	n := utf8.RuneCountInString(text)
	for i := 0; i < len(text); i++ {
		if text[i] < 0xF0 {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(text[i:]); r > 0xFFFF {
			n++
		}
	}
	return n
}
