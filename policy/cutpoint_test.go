package policy

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
)

// bytesCost counts one token per byte.
type bytesCost struct{}

func (bytesCost) Text(s string) int             { return len(s) }
func (bytesCost) Message(m message.Message) int { return len(m.Text()) + len(m.ResultText()) }

func TestPrefixAndSuffixReturnTheLongestFittingText(t *testing.T) {
	long := strings.Repeat("0123456789", 500)
	for _, tc := range []struct {
		text       string
		room       int
		head, tail int // bytes
	}{
		{"", 5, 0, 0}, {"abc", 0, 0, 0}, {"abc", -1, 0, 0}, {"abc", 2, 2, 2}, {"abc", 3, 3, 3}, {"abc", 4, 3, 3},
		{long, 1, 1, 1}, {long, step - 1, step - 1, step - 1}, {long, step, step, step}, {long, step + 1, step + 1, step + 1}, {long, 2 * step, 2 * step, 2 * step}, {long, 4999, 4999, 4999}, {long, 5000, 5000, 5000}, {long, 6000, 5000, 5000},
		{"äöü", 1, 0, 0}, {"äöü", 2, 2, 2}, {"äöü", 3, 2, 2}, {"äöü", 5, 4, 4}, {"aäö", 2, 1, 2}, {"äöa", 2, 2, 1},
		{"x" + strings.Repeat("ä", 2000), step, step - 1, step}, {strings.Repeat("ä", 2000) + "x", step, step, step - 1},
	} {
		head, tail := prefix(bytesCost{}, tc.text, tc.room), len(tc.text)-suffix(bytesCost{}, tc.text, tc.room)
		if head != tc.head || tail != tc.tail {
			t.Errorf("room of %d bytes for %.12q: prefix of %d, suffix of %d, want %d and %d", tc.room, tc.text, head, tail, tc.head, tc.tail)
		}
		if !utf8.ValidString(tc.text[:head]) || !utf8.ValidString(tc.text[len(tc.text)-tail:]) {
			t.Errorf("%d bytes of %.12q: a character is cut", tc.room, tc.text)
		}
	}
}

func TestSliceBytesKeepsTheEndsOfItsForm(t *testing.T) {
	for _, tc := range []struct {
		form string
		text string
		n    int
		want string
	}{
		{formHead, "abcdef", 4, "abcd#"}, {formHead, "aäb", 2, "a#"}, {formTail, "abcdef", 4, "#cdef"}, {formTail, "aäb", 2, "#b"},
		{formBoth, "abcdef", 4, "ab#ef"}, {formBoth, "abcdef", 5, "ab#ef"}, {formBoth, "äbcdä", 2, "#"}, {formBoth, "äbcdä", 4, "ä#ä"}, {formBoth, "abcdef", 1, "#"},
	} {
		mark := Mark{Form: tc.form}
		segs, got := sliceBytes(tc.text, tc.n, mark, "#")
		var b strings.Builder
		for _, s := range segs {
			if s.Mark != nil {
				b.WriteString("#")
			} else {
				b.WriteString(tc.text[s.From:s.To])
			}
		}
		if got != tc.want || b.String() != tc.want {
			t.Errorf("%s of %q to %d bytes: %q, by its segments %q, want %q", tc.form, tc.text, tc.n, got, b.String(), tc.want)
		}
	}
}
