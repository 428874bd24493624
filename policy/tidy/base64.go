package tidy

import (
	"fmt"

	"github.com/agentcompact/compact/policy"
)

// leastBase64 is the length of the shortest run of base64 characters that counts
// as data.
const leastBase64 = 256

// base64 replaces base64 data in a text by its size.
func base64(d *draft, _ *Result, _ int) verdict {
	found := 0
	for i := range d.lines {
		l := &d.lines[i]
		if len(l.text) < leastBase64 {
			continue
		}
		var segs []policy.Segment
		at := 0
		for _, s := range dataIn(l.text) {
			segs = append(append(segs, l.piece(at, s[0])...), policy.Segment{Lit: fmt.Sprintf("[base64, %d bytes]", s[1]-s[0])})
			at = s[1]
			found++
		}
		if segs != nil {
			*l = l.rewritten(d.text, append(segs, l.piece(at, len(l.text))...)...)
		}
	}
	if found == 0 {
		return pass
	}
	d.what = "without base64"
	return did
}

// dataIn returns the ranges of base64 data in text.
func dataIn(text string) (out [][2]int) {
	to := len(text)
	for i := 0; i < to; {
		if !isBase64(text[i]) {
			i++
			continue
		}
		start, upper, lower, digits, marks := i, 0, 0, 0, 0
		for ; i < to && isBase64(text[i]); i++ {
			switch c := text[i]; {
			case isDigit(c):
				digits++
			case c >= 'a' && c <= 'z':
				lower++
			case c >= 'A' && c <= 'Z':
				upper++
			default:
				marks++
			}
		}
		for i < to && text[i] == '=' {
			i++
		}
		n := i - start
		// A path has many marks, a name or a word has few digits, and a hash has
		// no capitals.
		if n >= leastBase64 && upper > n/8 && lower > n/8 && digits > n/32 && marks < n/8 {
			out = append(out, [2]int{start, i})
		}
	}
	return out
}

func isBase64(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '+' || c == '/' || c == '-' || c == '_'
}
