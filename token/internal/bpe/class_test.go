package bpe

import (
	"testing"
	"unicode"
)

func TestClassesEqualThoseOfPackageUnicode(t *testing.T) {
	t.Logf("Unicode %s", unicode.Version)
	c := unicodeClasses()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		var want class
		for _, is := range []struct {
			holds bool
			class class
		}{
			{unicode.IsLetter(r), letter}, {unicode.IsNumber(r), number}, {unicode.IsSpace(r), space}, {r == '\n' || r == '\r', newline},
			{unicode.In(r, unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M), upper},
			{unicode.In(r, unicode.Ll, unicode.Lm, unicode.Lo, unicode.M), lower},
		} {
			if is.holds {
				want |= is.class
			}
		}
		got, size := c.at([]byte(string(r)), 0)
		if got != want || size != len(string(r)) {
			if string(r) == "\ufffd" && r != '\ufffd' {
				continue // half of a surrogate pair is not text
			}
			t.Fatalf("%U: class %b of %d bytes, want %b", r, got, size, want)
		}
	}
}
