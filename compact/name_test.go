package compact_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/canary"
	"github.com/agentcompact/compact/message"
)

// Ids that hold a secret are hashed: two ids are two sessions, an id is the same
// session in another process, and no folder has an id in its name.
func TestIDsWithSecretsStayDistinct(t *testing.T) {
	secrets := canary.Secrets(21, 3)
	ids := []string{"user " + secrets[0].Value, "user " + secrets[10].Value, "user " + secrets[20].Value}
	dir := t.TempDir()
	for i := range 2 * len(ids) { // each in two processes
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: mustOpen(t, dir)})
		res, err := r.Preflight(context.Background(), ids[i%len(ids)], loop(100, 200))
		if err != nil || res.Session != ids[i%len(ids)] {
			t.Fatalf("%v, session %q", err, res.Session)
		}
		if again := i >= len(ids); res.Triggered == again {
			t.Errorf("id %d: compacted %v; the second process has to know the first one's step", i%len(ids), res.Triggered)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	folders := 0
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if !strings.HasPrefix(e.Name(), "_") { // the folders of sessions
			folders++
		}
		for _, s := range secrets {
			if s.Leaks(e.Name()) {
				t.Errorf("the folder %s reveals the id", e.Name())
			}
		}
	}
	if folders != len(ids) {
		t.Errorf("%d folders, want %d", folders, len(ids))
	}
}

// With pseudonyms a reader of the archive can recognize equal keys, also across
// processes; with another key, nothing can be compared.
func TestPseudonymsAreTheSameForTheSameSecret(t *testing.T) {
	secrets := canary.Secrets(13, 5)
	one, two := secrets[2], secrets[12] // both are AWS keys
	tags := func(key string, texts ...string) []string {
		t.Helper()
		dir := t.TempDir()
		c, err := compact.Preset("graduated")
		if err != nil {
			t.Fatal(err)
		}
		c.Model, c.Archive, c.Redaction.Pseudonyms, c.Redaction.PseudonymKey = "gpt-4", mustOpen(t, dir), true, compact.Secret(strings.Repeat(key, 16))
		r := newRig(t, c)
		var history []message.Message
		for _, s := range texts {
			history = append(history, message.User(s))
		}
		if err := r.Archive(context.Background(), "s", history); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "s", "transcript-final-001.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`<REDACTED:aws_key:[0-9a-f]{4}>`).FindAllString(string(data), -1)
	}
	first := tags("k", one.Text, two.Text, "again "+one.Value)
	if len(first) != 3 || first[0] == first[1] || first[0] != first[2] {
		t.Errorf("got %q, want the first and the last the same", first)
	}
	if again := tags("k", one.Text); len(again) != 1 || again[0] != first[0] {
		t.Errorf("another process has %q, want %q", again, first[0])
	}
	if other := tags("x", one.Text); len(other) != 1 || other[0] == first[0] {
		t.Errorf("with another key the name is %q", other)
	}
}
