package prose

import "testing"

func TestClipCutsBetweenWords(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"short", 8, "short"}, {"abcdefgh", 8, "abcdefgh"}, {"abcdefghi", 8, ""}, {"ab cdefghijk", 8, "ab …"}, {"ab, cdefghijk", 8, "ab …"},
		{"äöü äöüäöüäöü", 8, "äöü …"}, {"漢字かな交じり文です", 8, "漢字かな交じ …"},
	} {
		if got := Clip(c.text, c.n); got != c.want {
			t.Errorf("clip(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
