package policy

import "testing"

// A cut removes a long word with digits whole, and cuts any other word.
func TestCutWordsKeepsNoHalfOfAKey(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"see abcdefghij12345", 19, "see abcdefghij12345"},
		{"see abcdefghij12345", 17, "see…"},
		{"see abcdefghij12345", 16, "see abcdefghij1…"},
		{"see abcdefghij12 more", 17, "see abcdefghij12…"},
		{"see abcdefghijklmno", 17, "see abcdefghijkl…"},
		{"see abc-def_gh+12345", 18, "see…"},
		{"abcdefghij12345", 13, ""},
	} {
		if got := cutWords(c.text, c.n); got != c.want {
			t.Errorf("%q to %d characters: %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
