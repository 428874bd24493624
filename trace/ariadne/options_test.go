package ariadne

import (
	"testing"
	"time"
)

func TestOptionsAreClamped(t *testing.T) {
	for _, c := range []struct {
		opts    *Options
		timeout time.Duration
		body    int
	}{
		{nil, 2 * time.Second, 200 << 10},
		{&Options{Timeout: time.Minute, BodyBytes: 1 << 30}, 2 * time.Second, maxBody},
		{&Options{Timeout: time.Second, BodyBytes: 1}, time.Second, 4 << 10},
		{&Options{Timeout: -1, BodyBytes: -1}, 2 * time.Second, 200 << 10},
	} {
		e := New("http://h", c.opts)
		if e.timeout != c.timeout || e.body != c.body {
			t.Errorf("%+v: timeout %v, body %d, want %v, %d", c.opts, e.timeout, e.body, c.timeout, c.body)
		}
	}
}

// A text that is cut stays UTF-8, which the server requires.
func TestTextIsClippedBetweenCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"aéé": "aé", "éé": "é", "aéééé": "aé", "abcd": "abc", "ab": "ab", "a\xff": "a", "€€": "€",
	} {
		if got := clip(text, 3); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// The server counts UTF-16 units, of which a character above U+FFFF has two.
func TestLongTextIsCutByUnits(t *testing.T) {
	for text, want := range map[string]string{
		"abcd": "abcd", "abcde": "abcd" + cutMark, "ä日€x": "ä日€x", "😀😀": "😀😀", "😀😀😀": "😀😀" + cutMark, "x😀😀": "x😀" + cutMark,
	} {
		if got := cut(text, 4); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
