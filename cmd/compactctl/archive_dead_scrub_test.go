package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/flaky"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/record"
)

// If the process that scrubs a session dies at any point, a reader of the archive sees
// the session either before or after the scrub: no command fails, and none reports a
// changed file.
func TestArchiveIsReadableAfterEveryInterruptionOfAScrub(t *testing.T) {
	const secret = "hunter-zebra-ladder"
	dir := t.TempDir()
	var b strings.Builder
	fmt.Fprintf(&b, `{"role":"user","content":"Log in with %s, please."}`+"\n", secret)
	for i := range 12 {
		fmt.Fprintf(&b, `{"role":"assistant","content":"I look.","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{}"}}]}`+"\n", i)
		fmt.Fprintf(&b, `{"role":"tool","tool_call_id":"c%d","content":"%s %s"}`+"\n", i, strings.Repeat(fmt.Sprintf("word%d ", i), 300), secret)
	}
	session := filepath.Join(dir, "session.jsonl")
	if err := os.WriteFile(session, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) string {
		t.Helper()
		var out, errOut bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &out, &errOut); code != 0 {
			t.Errorf("%q: %d %s", args, code, errOut.String())
		}
		return out.String() + errOut.String()
	}
	whole := filepath.Join(dir, "archive")
	command("compact", session, "--archive", whole, "--session", "s", "--model", "gpt-4o", "--max-context-tokens", "6000")
	reads := [][]string{
		{"archive", "show", "s"}, {"archive", "show", "s", "--turn", "3"}, {"archive", "show", "s", "--summary", "1"},
		{"archive", "show", "s", "transcript-pre-compact-001.jsonl"}, {"archive", "search", "word7"}, {"archive", "stats"}, {"archive", "ls"},
		{"archive", "verify", "s"}, {"archive", "export", "s", "--out", filepath.Join(dir, "out.jsonl")}, {"report", "s"},
	}
	before, after := 0, 0
	for at, ended := 0, false; !ended; at++ {
		a := filepath.Join(dir, fmt.Sprint("archive", at))
		if err := os.CopyFS(a, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		ended = scrubUntil(t, a, at, secret)
		var said strings.Builder
		for _, args := range reads {
			said.WriteString(command(append(args, "--archive", a)...))
		}
		if strings.Contains(said.String(), secret) {
			before++
		} else {
			after++
		}
		if t.Failed() {
			t.Fatalf("died at change %d", at)
		}
	}
	if before < 3 || after < 5 {
		t.Errorf("%d times the state before the scrub is read, %d times the state after it", before, after)
	}
}

// scrubUntil scrubs a secret from the session until the process has made a given number
// of changes, and reports whether it finished.
func scrubUntil(t *testing.T, folder string, changes int, secret string) bool {
	t.Helper()
	a, err := fs.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	s, err := record.OpenSession(t.Context(), flaky.NewMortal(a, changes), "s")
	if err != nil {
		t.Fatal(err)
	}
	find := func(_ string, line []byte) (at [][2]int) {
		for off := 0; ; off = at[len(at)-1][1] {
			i := bytes.Index(line[off:], []byte(secret))
			if i < 0 {
				return at
			}
			at = append(at, [2]int{off + i, off + i + len(secret)})
		}
	}
	_, err = s.Scrub(t.Context(), record.ScrubOptions{Find: find, Lease: time.Millisecond})
	if err != nil && !errors.Is(err, flaky.ErrDied) {
		t.Fatal(err)
	}
	return err == nil
}
