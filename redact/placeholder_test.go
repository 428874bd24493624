package redact

import "testing"

func TestPlaceholdersAreReadExactly(t *testing.T) {
	for text, want := range map[string]int{
		"<REDACTED>": 10, "<REDACTED:aws_key:7f3a>": 23, "<REDACTED>x": 10,
		"<REDACTED": -1, "<REDACTED:": -1, "<REDACTED::7f3a>": -1, "<REDACTED:aws_key:>": -1, "<REDACTED:aws_key:7f>": -1, "<REDACTED:aws_key:7f3>": -1, "<REDACTED:AWS:7f3a>": -1, "<REDACTED:aws_key:7f3g>": -1, "<redacted>": -1, "REDACTED>": -1,
	} {
		if got := placeholderAt(text, 0); got != want {
			t.Errorf("placeholderAt(%q) = %d, want %d", text, got, want)
		}
	}
}

// TestTextNextToAPlaceholderIsJudged: a secret next to a placeholder is
// still found.
func TestTextNextToAPlaceholderIsJudged(t *testing.T) {
	r := newRedactor(t, Options{})
	key := letters(24)
	for _, text := range []string{
		"token=<REDACTED>" + key, "token=" + key + "<REDACTED>", `{"token":"<REDACTED>` + key + `"}`, "postgres://u:<REDACTED>" + key + "@h/", "Authorization: <REDACTED>" + key, "kind: Secret\ndata:\n  a: <REDACTED>" + key + "\n", `{"kind":"Secret","data":{"a":"<REDACTED>` + key + `"}}`,
	} {
		if got := r.Text(text).String(); survives(key, got, "") {
			t.Errorf("Text(%q) = %q", text, got)
		}
		checkIdempotent(t, r, text)
	}
}
