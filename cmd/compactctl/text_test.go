package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestColumnsMatchATerminal(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "→ 1": 3, "中文": 4, "ｶﾅ": 2, "가": 2, "e\u0301": 1, "😀": 2, "█░": 2, "a\u200db": 2,
	} {
		if got := columnsOf(s); got != want {
			t.Errorf("columnsOf(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestClipNeverExceedsItsColumns(t *testing.T) {
	for _, s := range []string{"", "abcdefgh", "中文中文中文", "a中b文c", "😀😀😀😀"} {
		for n := 1; n < 14; n++ {
			got := clip(s, n)
			if columnsOf(got) > n {
				t.Errorf("clip(%q, %d) = %q takes %d columns", s, n, got, columnsOf(got))
			}
			if columnsOf(s) <= n && got != s {
				t.Errorf("clip(%q, %d) = %q, although the text fits", s, n, got)
			}
		}
	}
	if got := clip("a中b", 3); got != "a…" {
		t.Errorf("half a wide letter: %q", got)
	}
}

func TestForeignTextCanNotControlTheTerminal(t *testing.T) {
	hostile := "a\x1b[31mred\x07\x9b2J\u202egnp\r\x00b\ttab\nline"
	got := printable(hostile)
	for _, r := range got {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0x9b || r == '\u202e' {
			t.Errorf("%q lets %q through", got, r)
		}
	}
	if s := "Grüße 中文 ✓ — …"; printable(s) != s {
		t.Errorf("%q was changed to %q", s, printable(s))
	}
	if got := oneLine(" a \n\n b\t c "); got != "a b c" {
		t.Errorf("oneLine: %q", got)
	}
}

func TestNumbersAreGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -1: "-1"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
	if got := things(1, "message") + ", " + things(2000, "message"); got != "1 message, 2,000 messages" {
		t.Error(got)
	}
}

func TestWrapBreaksBetweenWords(t *testing.T) {
	got := wrap("one two three "+strings.Repeat("x", 12)+" four", 9)
	if diff := cmp.Diff([]string{"one two", "three", strings.Repeat("x", 12), "four"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRangesAreFormattedBriefly(t *testing.T) {
	for want, at := range map[string][]int{"": nil, "4": {3}, "1-3, 7, 9-10": {0, 1, 2, 6, 8, 9}} {
		if got := ranges(at); got != want {
			t.Errorf("ranges(%v) = %q, want %q", at, got, want)
		}
	}
}

func TestSizesAndAgesAreReadable(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 9999: "9,999 B", 10_000: "10 kB", 1_234_567: "1,235 kB", 12_345_678: "12 MB"} {
		if got := bytesOf(n); got != want {
			t.Errorf("bytesOf(%d) = %q, want %q", n, got, want)
		}
	}
	for s, hours := range map[string]float64{"90d": 2160, "0d": 0, "12h": 12, "1h30m": 1.5} {
		if d, err := ageOf(s); err != nil || d.Hours() != hours {
			t.Errorf("ageOf(%q) = %v, %v", s, d, err)
		}
	}
	for _, s := range []string{"", "d", "-1d", "-1h", "1.5d", "90", "9d9"} {
		if d, err := ageOf(s); err == nil {
			t.Errorf("ageOf(%q) = %v", s, d)
		}
	}
}

func TestSinceIsATimeOrAnAge(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]string{
		"": "0001-01-01T00:00:00Z", "2026-11-20": "2026-11-20T00:00:00Z", "2026-11-20T15:04:05+01:00": "2026-11-20T14:04:05Z",
		"36h": "2026-11-21T00:00:00Z", "7d": "2026-11-15T12:00:00Z", "0d": "2026-11-22T12:00:00Z", "1.5d": "2026-11-21T00:00:00Z",
	} {
		if at, err := sinceOf(s, now); err != nil || at.UTC().Format(time.RFC3339) != want {
			t.Errorf("sinceOf(%q) = %v, %v; want %s", s, at, err, want)
		}
	}
	for _, s := range []string{"yesterday", "d", "-1d", "-1h", "7", "1h2d", "200000d"} { // 200000 days are more than a duration holds
		if at, err := sinceOf(s, now); err == nil {
			t.Errorf("sinceOf(%q) = %v", s, at)
		}
	}
}

func TestJSONContainsNoTerminalControls(t *testing.T) {
	hostile := "a\x1b[31m\x7f\u009b2J\u202egnp\U000e0041 ö😀\nb"
	var b strings.Builder
	if err := encodeJSON(&b, map[string]string{"text": hostile}); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"text\": \"a\\u001b[31m\\u007f\\u009b2J\\u202egnp\\udb40\\udc41 ö😀\\nb\"\n}\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil || back["text"] != hostile {
		t.Errorf("%q, %v", back["text"], err)
	}
}

func TestPageHasNoControlCharacters(t *testing.T) {
	c := (&conversation{Said: []readableMessage{{Role: "user\x1b[31m", Refs: []string{"ab\x1b"}, Parts: []piece{{Kind: "text", Name: "n\x1b", Text: "t\x1b"}}}}}).cleaned()
	var b strings.Builder
	if err := showPage().Execute(&b, c); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "\x1b") || strings.Count(b.String(), `\x1b`) != 5 {
		t.Errorf("%q", b.String())
	}
}

// A list shows each id in a form that commands accept.
func TestSessionNameIsOneThatCommandsAccept(t *testing.T) {
	for id, want := range map[string]string{
		"job-7": "job-7", "Team A/1": "Team A/1", "日本": "日本", "(heads)": "(heads)",
		" job": "%20job", "a\nb": "a%0ab", "a  b": "a%20%20b", "a\x1b[2Jb": "a%1b%5b2%4ab",
	} {
		got := sessionName(id)
		if got != want {
			t.Errorf("%q is shown as %q, want %q", id, got, want)
		}
	}
}
