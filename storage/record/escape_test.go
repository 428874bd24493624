package record_test

import (
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// hostile are session ids that an attacker could use against the archive.
var hostile = []string{
	"../../etc", "..", ".", "/etc/passwd", "a/../../b", `..\..\windows`, "a\x00b", "con", "CON", "nul.txt", "COM1", "lpt9", "aux.",
	"Session", "session", "SESSION", "sessioN", "\u00e9", "e\u0301", "ｓession", "sеssion", "\u202egpj", "ß", "ẞ", "ss", " ", "a ", " a", "a.", ".a", "-rf", "_erased.jsonl", "_x",
	"%2e%2e", "%2E", "%", "%%", "a%2fb", "a~b", "~", "\xff\xfe", "C:", "a:b", "*", "?", "\n", "\r\n", "a/b", "a//b", "user@example.com", "manifest.jsonl", ".tmp",
	strings.Repeat("x", 4096), strings.Repeat("x", 4095) + "y", strings.Repeat("é", 2048), strings.Repeat("../", 1000), strings.Repeat("X", 41), strings.Repeat("a", 120), strings.Repeat("a", 121), strings.Repeat("a", 53) + strings.Repeat("X", 30), strings.Repeat("a", 54) + strings.Repeat("X", 30),
}

func TestSessionIDsHaveSafeFoldersOfTheirOwn(t *testing.T) {
	seen := map[string]string{}
	for _, id := range hostile {
		k, err := record.SessionKey(id, "manifest.jsonl")
		if err != nil {
			t.Errorf("%.40q: %v", id, err)
			continue
		}
		dir := k.Dir()
		checkFolder(t, id, dir)
		if other, ok := seen[strings.ToLower(dir)]; ok {
			t.Errorf("%.40q and %.40q share the folder %s", id, other, dir)
		}
		seen[strings.ToLower(dir)] = id
	}
}

// checkFolder checks the properties that every folder name must have.
func checkFolder(t *testing.T, id, dir string) {
	t.Helper()
	if !filepath.IsLocal(dir) || strings.ContainsAny(dir, `/\`) || len(dir) > 120 || dir == "" {
		t.Errorf("%.40q has the folder %q", id, dir)
	}
	if _, err := storage.ParseKey(dir); err != nil {
		t.Errorf("%.40q: its folder is not a key: %v", id, err)
	}
	for i, part := range strings.Split(dir, "%") {
		if _, err := hex.DecodeString(part[:min(2, len(part))]); i > 0 && (err != nil || len(part) < 2) {
			t.Errorf("%.40q: %q ends in the middle of an escape", id, dir)
		}
	}
	if dir[0] == '_' || dir[0] == '-' {
		t.Errorf("%.40q: %q begins with _ or -", id, dir)
	}
	back, ok := record.UnescapeSession(dir)
	if cut := strings.Contains(dir, "~"); ok == cut || ok && back != id {
		t.Errorf("%.40q comes back as %.40q, %v", id, back, ok)
	}
}

func TestUsualSessionIDsStayReadable(t *testing.T) {
	for id, want := range map[string]string{
		"3f9a2c1b-77aa-4d01-8e1f-0a1b2c3d4e5f": "3f9a2c1b-77aa-4d01-8e1f-0a1b2c3d4e5f",
		"run_42.retry-1":                       "run_42.retry-1",
		"team/app":                             "team%2fapp",
		"Run":                                  "%52un",
		"con.log":                              "%63on.log",
		"..":                                   "%2e%2e",
	} {
		if got := record.EscapeSession(id); got != want {
			t.Errorf("EscapeSession(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestUnescapeSessionRefusesOtherSpellings(t *testing.T) {
	for _, dir := range []string{"", "A", "%41%", "%4", "%zz", "%61", "a/b", "%2F", "con", "a.", "~", "a~b", strings.Repeat("a", 130)} {
		if id, ok := record.UnescapeSession(dir); ok {
			t.Errorf("UnescapeSession(%q) = %q", dir, id)
		}
	}
}

func TestSessionKeyRefusesTheEmptySession(t *testing.T) {
	_, err := record.SessionKey("", "manifest.jsonl")
	_, err2 := record.Prefix("")
	var typed *storage.KeyError
	if !errors.As(err, &typed) || !errors.As(err2, &typed) {
		t.Errorf("got %v and %v, want KeyErrors", err, err2)
	}
	if _, err := record.SessionKey("s", "../x"); !errors.As(err, &typed) {
		t.Errorf("a file name with a path: %v, want a KeyError", err)
	}
}

func FuzzEscapeSession(f *testing.F) {
	for _, id := range hostile {
		f.Add(id, id+"x")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		for _, id := range []string{one, two} {
			if id != "" {
				checkFolder(t, id, record.EscapeSession(id))
			}
		}
		if one != two && record.EscapeSession(one) == record.EscapeSession(two) {
			t.Errorf("%q and %q share a folder", one, two)
		}
		if id, ok := record.UnescapeSession(one); ok && record.EscapeSession(id) != one {
			t.Errorf("%q unescapes to %q, which escapes to something else", one, id)
		}
	})
}
