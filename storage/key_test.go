package storage_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/storage"
)

// noKeys are texts that an attacker could use against the archive.
var noKeys = []string{
	"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/../b", "a/./b", ".hidden", "a/.tmp", "a.", "a/b.",
	"a\x00b", "a\nb", "a b", `a\b`, "a:b", "A", "a/B", "é", "ａ", "con", "a/nul.json", "com1", "lpt9.txt", "aux",
	strings.Repeat("a", 201), strings.Repeat("a/", 300) + "a", "C:/a", "a*", "a?", `a"`, "a<b", "a|b", "\u202e", "\xff",
}

func TestParseKeyRefusesPathsOutsideTheArchive(t *testing.T) {
	for _, s := range noKeys {
		k, err := storage.ParseKey(s)
		var typed *storage.KeyError
		if !errors.As(err, &typed) || typed.Text != s {
			t.Errorf("ParseKey(%.40q) = %q, %v; want a KeyError", s, k, err)
		}
	}
}

func TestParseKeyReadsTheOutputOfString(t *testing.T) {
	for _, s := range []string{"a", "a/b", "session-1/transcript-pre-compact-001.2.jsonl", "%2e%2e/x", "a~0/b+c", "_erased.jsonl", "com10", "console"} {
		k, err := storage.ParseKey(s)
		if err != nil || k.String() != s {
			t.Errorf("ParseKey(%q) = %q, %v", s, k, err)
		}
	}
}

func TestKeyHasComparesSegments(t *testing.T) {
	for _, c := range []struct {
		key, prefix string
		want        bool
	}{
		{"a/b", "", true}, {"a/b", "a", true}, {"a/b", "a/b", true}, {"ab/c", "a", false},
		{"a/bc", "a/b", false}, {"a", "a/b", false}, {"a/b/c", "a/b", true},
	} {
		if got := parsed(t, c.key).Has(parsed(t, c.prefix)); got != c.want {
			t.Errorf("%q.Has(%q) = %v, want %v", c.key, c.prefix, got, c.want)
		}
	}
}

func parsed(t *testing.T, s string) storage.Key {
	t.Helper()
	if s == "" {
		return storage.Key{}
	}
	k, err := storage.ParseKey(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func FuzzParseKey(f *testing.F) {
	for _, s := range append(noKeys, "a/b", "s/ledger-001.json", "%", "%%", "a~b", "~", "-rf", "session", "manifest.jsonl", "_erased.jsonl", "\xff\xfe", "a%2fb", strings.Repeat("a", 200)) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k, err := storage.ParseKey(s)
		if err != nil {
			if !k.IsZero() {
				t.Errorf("an error and the key %q", k)
			}
			return
		}
		if k.String() != s || !filepath.IsLocal(s) || strings.ToLower(s) != s || !utf8.ValidString(s) {
			t.Errorf("ParseKey(%q) = %q", s, k)
		}
		if again, err := storage.ParseKey(k.String()); err != nil || again != k {
			t.Errorf("%q does not parse again: %v", k, err)
		}
	})
}
