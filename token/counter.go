package token

import "unicode/utf8"

// A Counter says what a text costs.
type Counter interface {
	// Count may be called from many goroutines at once. It depends on the text
	// alone: the same text always costs the same, the empty text costs 0, and
	// special-token spellings such as <|endoftext|> are counted as the ordinary
	// text they are.
	Count(text string) int
}

// Counters that need no vocabulary.
var (
	// Bytes4 counts the UTF-8 bytes divided by four, rounded down.
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
