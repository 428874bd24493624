package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/seal"
)

// The commands on the page about the format of an archive find each removed message, and
// confirm the chain, the files, the signatures and a fingerprint. They share no code with
// the writer of the archive.
func TestCommandsOfThePageOnArchives(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "jq", "sha256sum", "openssl", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing", tool)
		}
	}
	page, err := os.ReadFile("../../docs/ARCHIVE.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks, want the way back and the checks", len(blocks))
	}
	dir := t.TempDir()
	archive := filepath.Join(dir, ".compact", "archive")
	key, removed := auditable(t, archive)
	writers, err := filepath.Glob(filepath.Join(archive, "_heads", "*.jsonl"))
	if err != nil || len(writers) != 1 {
		t.Fatalf("%q, %v", writers, err)
	}
	script := func(in, text string) string {
		text = strings.NewReplacer("_heads/WRITER.jsonl", writers[0], "KEYFILE", key).Replace(text)
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", text)
		cmd.Dir = in
		cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "PUBLIC=A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v", err)
		}
		return string(out)
	}
	if out := script(dir, blocks[0][1]); strings.Count(out, `,true,`) != removed || strings.Contains(out, `,false,`) {
		t.Errorf("%d messages were removed:\n%s", removed, out)
	}
	out := script(archive, blocks[1][1])
	for _, want := range []string{"chain ok, head ", "files ok\n", "Signature Verified Successfully\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	stored, err := os.ReadFile(filepath.Join(archive, "job-7", "transcript-pre-compact-001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	sealed := regexp.MustCompile(`meta.fp ([0-9a-f]{32})\n`).FindStringSubmatch(out)
	if sealed == nil || !strings.Contains(string(stored), `"Hello","meta":{"fp":"`+sealed[1]+`"`) {
		t.Errorf("the fingerprint of Hello is not among the stored ones:\n%s", out)
	}
}

// auditable makes an archive with one compacted session and signed heads. It returns the
// file of the key, and the number of messages that were removed.
func auditable(t *testing.T, dir string) (file string, removed int) {
	t.Helper()
	a, err := fs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	keys, k := t.TempDir(), seal.NewKey()
	if err := seal.WriteKey(keys, k); err != nil {
		t.Fatal(err)
	}
	m, err := compact.New(t.Context(), compact.Config{
		Model: "gpt-4", MaxContextTokens: 32_000, Archive: a,
		ArchiveKey: compact.Secret(k.Hex()), HeadsKey: compact.Secret("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
	})
	if err != nil {
		t.Fatal(err)
	}
	history := []message.Message{message.User("Hello")}
	for range 10 {
		history = append(history, message.Assistant(strings.Repeat("Some words of an answer. ", 40)), message.User("Go on."))
	}
	res, err := m.ManualCompact(t.Context(), "job-7", history, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := record.OpenSession(t.Context(), a, "job-7")
	if err != nil {
		t.Fatal(err)
	}
	for l, err := range s.Ledgers(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		removed += strings.Count(string(l.Data), `"is":"summarized"`)
	}
	if res.Archived == nil || removed == 0 {
		t.Fatalf("nothing was removed: %+v", res)
	}
	return filepath.Join(keys, k.ID()), removed
}
