package redact

import (
	"encoding/hex"
	"strings"
	"unsafe"
)

// Text is text that a [Redactor] has seen, or a constant of the program. Only this
// package can make a Text from data, so code that stores unredacted text does not
// compile. The zero value is the empty text.
type Text struct{ s string }

// String returns the redacted text.
func (t Text) String() string { return t.s }

// Len returns its length in bytes.
func (t Text) Len() int { return len(t.s) }

// constant makes [Lit] safe: outside of this package, only an untyped string constant
// converts to it.
type constant string

// Lit returns a string constant of the program as a Text.
func Lit(s constant) Text { return Text{string(s)} }

// In returns the text with the memory of raw if both hold the same bytes, which
// saves a copy of text without secrets; otherwise it returns t. raw must not be
// modified while the text is in use.
func (t Text) In(raw []byte) Text {
	if t.s == "" || t.s != string(raw) {
		return t
	}
	return Text{unsafe.String(&raw[0], len(raw))}
}

// Join concatenates texts.
func Join(texts ...Text) Text {
	n := 0
	for _, t := range texts {
		n += len(t.s)
	}
	var b strings.Builder
	b.Grow(n)
	for _, t := range texts {
		b.WriteString(t.s)
	}
	return Text{b.String()}
}

// Digest returns a hash in lower-case hex, for fingerprints, which do not
// reveal their content. It accepts only arrays with the sizes of hashes, so
// that no text can be passed by a conversion.
func Digest[Sum ~[16]byte | ~[32]byte](sum Sum) Text {
	raw := make([]byte, len(sum))
	for i := range raw {
		raw[i] = sum[i]
	}
	return Text{hex.EncodeToString(raw)}
}

// Ref returns the first 12 digits of [Digest], by which placeholders identify a
// text.
func Ref[Sum ~[16]byte | ~[32]byte](sum Sum) Text { return Text{Digest(sum).s[:12]} }

// TrimSuffix returns t without the constant suffix, or t itself if it does not
// end with the suffix.
func (t Text) TrimSuffix(suffix constant) Text {
	return Text{strings.TrimSuffix(t.s, string(suffix))}
}

// Cut is [strings.Cut] for a Text.
func (t Text) Cut(sep string) (before, after Text, found bool) {
	b, a, found := strings.Cut(t.s, sep)
	return Text{b}, Text{a}, found
}
