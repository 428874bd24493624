package compact_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/seal"
	"github.com/agentcompact/compact/trace"
)

const guessed = "+1 202 555 0143"

// sealedTurns returns the turns of a session with a redacted number. They are equal to the
// messages in testdata/version1/record.go.txt.
func sealedTurns(n int) []message.Message {
	history := []message.Message{message.System("Be brief."), message.User("Find the error. My number is " + guessed + ".")}
	for i := range n {
		id := fmt.Sprintf("call_%d", i)
		text := fmt.Sprintf("log %d\n", i) + strings.Repeat("INFO all is well\n", 60)
		if i == 3 {
			text = "API_KEY=" + strings.Repeat("a1B2", 10) + "\n" + text
		}
		history = append(history, message.Assistant("", message.Call(id, "read", `{"file":"app.log"}`)), message.ToolResult(id, text))
	}
	return history
}

// logOf returns the result of the i-th of these turns.
func logOf(i int) message.Message { return sealedTurns(i + 1)[2*i+3] }

// keysOnly makes archives have their keys in a folder of the test.
func keysOnly(t *testing.T) (folder string) {
	t.Helper()
	t.Setenv(compact.ArchiveKeyVariable, "")
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	return filepath.Join(config, "compact", "keys")
}

type logBuffer struct{ lines bytes.Buffer }

func (h *logBuffer) Export(_ context.Context, events []trace.Event) error {
	for _, e := range events {
		h.lines.WriteString(e.Data.String() + e.Session.String() + e.Agent.String() + "\n")
	}
	return nil
}
func (*logBuffer) Shutdown(context.Context) error { return nil }

func sealedManager(t *testing.T, a storage.Archive, preset string, change ...func(*compact.Config)) *compact.CompactManager {
	t.Helper()
	c, err := compact.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Archive, c.Redaction.PII = "gpt-4", 8_000, a, true
	if preset == "graduated" {
		c.Storage.Transcripts = "all"
	}
	for _, f := range change {
		f(&c)
	}
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

func sealedView(t *testing.T, m *compact.CompactManager, session string, n int, opts ...compact.Option) (*compact.Result, string) {
	t.Helper()
	res, err := m.Preflight(t.Context(), session, sealedTurns(n), append(opts, compact.WithRecall())...)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for i := range res.Messages {
		b.Write(openai.AppendMessage(nil, res.Messages[i]))
		b.WriteByte('\n')
	}
	return res, b.String()
}

func folderArchive(t *testing.T, dir string) *fs.Archive {
	t.Helper()
	a, err := fs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

// allStored returns the content of an archive, with its keys.
func allStored(t *testing.T, a storage.Archive) string {
	t.Helper()
	var b bytes.Buffer
	for info, err := range a.List(t.Context(), storage.Key{}) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Open(t.Context(), info.Key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(info.Key.String() + "\n")
		_, _ = io.Copy(&b, r)
		_ = r.Close()
	}
	return b.String()
}

// guesses returns the values for which an attacker would search who guesses a number:
// the number's hashes without a key, as text and as bytes.
func guesses(history []message.Message, names ...string) map[string]string {
	out := map[string]string{}
	note := func(what string, fp message.Fingerprint) {
		for name, form := range map[string]string{"hex": fp.Ref(), "bytes": string(fp[:6]), "hash of hex": hexSHA256(fp.String())[:12]} {
			out[what+", "+name] = form
		}
	}
	for i, m := range history {
		note(fmt.Sprintf("message %d", i), m.Fingerprint())
		for _, p := range m.Parts {
			note(fmt.Sprintf("a part of message %d", i), p.Fingerprint())
		}
	}
	for _, n := range names {
		for _, text := range []string{n, "compact name " + n, record.EscapeSession(n), "redacted-" + n} {
			out["name of "+text] = hexSHA256(text)[:12]
		}
	}
	return out
}

func hexSHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// The attack: somebody with the archive and the events guesses a number, and searches
// for the hash of a message with that number. The attack succeeds with version 1, so
// the test is valid.
func TestRedactedNumberCanNotBeGuessed(t *testing.T) {
	history, name := sealedTurns(60), "ann@example.org"
	branch := history[1].Fingerprint().String() + "." + history[2].Fingerprint().Ref()
	found := func(in string) (all []string) {
		for what, form := range guesses(history, name) {
			if strings.Contains(in, form) {
				all = append(all, what)
			}
		}
		return all
	}
	if old := found(allStored(t, folderArchive(t, version1(t)))); len(old) < 60 {
		t.Fatalf("in an archive of version 1 only %v is found: the attack does not work", old)
	}
	keysOnly(t)
	a, events := folderArchive(t, t.TempDir()), &logBuffer{}
	listen := func(c *compact.Config) { c.Exporters = []trace.Exporter{events} }
	for _, preset := range []string{"graduated", "masking", "economy"} {
		m := sealedManager(t, a, preset, listen)
		for _, n := range []int{12, 16, 60} {
			sealedView(t, m, preset, n)
			sealedView(t, m, name, n, compact.WithBranch(branch))
		}
		if err := m.Archive(t.Context(), preset, history); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stored := allStored(t, a)
	for where, text := range map[string]string{"the archive": stored, "the events": events.lines.String()} {
		if len(text) < 10_000 || strings.Contains(text, guessed) {
			t.Fatalf("%s has only %d bytes, or contains the number", where, len(text))
		}
		if all := found(text); len(all) > 0 {
			t.Errorf("%s contains an unkeyed hash of %v", where, all)
		}
	}
	s, err := record.OpenSession(t.Context(), a, "graduated")
	if err == nil {
		_, err = s.Erase(t.Context(), redact.Lit("asked for"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A process with the archive and the key sees the same references; a process with
// another key reports a new epoch.
func TestLostKeyBeginsANewEpochAndReportsIt(t *testing.T) {
	keysOnly(t)
	a := folderArchive(t, t.TempDir())
	m := sealedManager(t, a, "graduated")
	first, want := sealedView(t, m, "s", 24)
	ref := m.Ref(logOf(5).Parts[0])
	if !first.Triggered || !strings.Contains(want, ref) {
		t.Fatalf("nothing was compacted: %s", first.Reason)
	}
	again, got := sealedView(t, sealedManager(t, a, "graduated"), "s", 24)
	if got != want || len(again.Warnings) > 0 {
		t.Errorf("another process with the key has a different view, or warns: %v", again.Warnings)
	}

	keysOnly(t) // an empty folder
	events := &logBuffer{}
	lost := sealedManager(t, a, "graduated", func(c *compact.Config) { c.Exporters = []trace.Exporter{events} })
	plan, err := lost.Plan(t.Context(), "s", sealedTurns(24), compact.WithRecall())
	if err != nil || len(plan.Warnings) != 1 || !strings.Contains(plan.Warnings[0], "is lost") {
		t.Errorf("a plan says %q, %v", plan.Warnings, err)
	}
	res, anew := sealedView(t, lost, "s", 24)
	if !res.Triggered || res.Step != 2 || anew == want {
		t.Errorf("step %d, %s: want a new epoch", res.Step, res.Reason)
	}
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "is lost") {
		t.Errorf("warnings: %q", res.Warnings)
	}
	if res, next := sealedView(t, lost, "s", 24); next != anew || res.Step != 0 || len(res.Warnings) > 0 {
		t.Errorf("the new epoch is not continued: %v", res.Warnings)
	}
	if text, err := lost.Recall(t.Context(), "s", ref); err != nil || !strings.Contains(text, "log 5") {
		t.Errorf("a message that the old epoch removed is not recalled: %v", err)
	}
	report, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Refs: recall.Refs, Edits: recall.EditRefs})
	if err != nil || !report.OK() {
		t.Errorf("%v %v, want no error and no problems", err, report.Problems)
	}
	if err := lost.Close(t.Context()); err != nil || strings.Count(events.lines.String(), "ArchiveKeyLost") != 1 {
		t.Errorf("the event was not emitted exactly once: %v", err)
	}
}

func TestANewKeyChangesNoView(t *testing.T) {
	for _, preset := range []string{"graduated", "masking"} {
		t.Run(preset, func(t *testing.T) {
			folder := keysOnly(t)
			a := folderArchive(t, t.TempDir())
			branch := compact.WithBranch(sealedTurns(0)[1].Fingerprint().String())
			m := sealedManager(t, a, preset)
			sealedView(t, m, "ann@example.org", 14, branch)
			_, want := sealedView(t, m, "ann@example.org", 24, branch)
			old := m.Ref(logOf(5).Parts[0])
			if err := m.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := seal.Add(t.Context(), a, folder, seal.NewKey()); err != nil {
				t.Fatal(err)
			}
			m = sealedManager(t, a, preset)
			res, got := sealedView(t, m, "ann@example.org", 24, branch)
			if got != want || len(res.Warnings) > 0 {
				t.Errorf("the view differs: %v", res.Warnings)
			}
			if now := m.Ref(logOf(5).Parts[0]); now == old || preset == "graduated" && !strings.Contains(want, "recall "+old) {
				t.Error("the key is the same, or the view shows no reference")
			}
			_, next := sealedView(t, m, "ann@example.org", 80, branch)
			if _, again := sealedView(t, sealedManager(t, a, preset), "ann@example.org", 80, branch); again != next {
				t.Error("another process has a different view of messages sealed with both keys")
			}
			if text, err := m.Recall(t.Context(), "ann@example.org", old); err != nil || !strings.Contains(text, "log 5") {
				t.Errorf("a message sealed with the old key is not recalled: %v", err)
			}
			text, err := m.Recall(t.Context(), "ann@example.org", m.Ref(logOf(50).Parts[0]))
			if err != nil || !strings.Contains(text, "log 50") {
				t.Errorf("a message sealed with the new key is not recalled: %v", err)
			}
			for info, err := range record.Sessions(t.Context(), a) {
				if err != nil || !strings.HasPrefix(info.ID, "redacted-") {
					t.Errorf("session %q, %v; want text that begins with %q and no error", info.ID, err, "redacted-")
				}
				report, err := record.Verify(t.Context(), a, info.ID, record.VerifyOptions{Refs: recall.Refs, Edits: recall.EditRefs})
				if err != nil || !report.OK() {
					t.Errorf("%v %v, want no error and no problems", err, report.Problems)
				}
			}
		})
	}
}

// The key of an archive in memory ends with the process: no file of it stays.
// Managers that share the archive share the key.
func TestAnArchiveInMemoryLeavesNoKey(t *testing.T) {
	t.Setenv(compact.ArchiveKeyVariable, "")
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	archive, history := memory.New(), loop(60, 200)
	first := newRig(t, compact.Config{Archive: archive, MaxContextTokens: 8_000}).preflight(history)
	again := newRig(t, compact.Config{Archive: archive, MaxContextTokens: 8_000}).preflight(history)
	if !first.Triggered || again.Triggered || bytesOf(first.Messages) != bytesOf(again.Messages) || len(again.Warnings) > 0 {
		t.Errorf("triggered %v, then %v, %q; want true and false", first.Triggered, again.Triggered, again.Warnings)
	}
	if left, err := os.ReadDir(config); err != nil || len(left) > 0 {
		t.Errorf("%v, %v, want an empty folder", left, err)
	}
}

func TestPlanCreatesNoKey(t *testing.T) {
	folder := keysOnly(t)
	a := folderArchive(t, t.TempDir())
	m := sealedManager(t, a, "graduated")
	if res, err := m.Plan(t.Context(), "s", sealedTurns(30)); err != nil || !res.Triggered {
		t.Fatalf("the plan compacts nothing: %s %v", res.Reason, err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(folder); len(files) > 0 || allStored(t, a) != "" {
		t.Errorf("a plan wrote something: %v", files)
	}
}

func TestKeyThatCanNotBeStoredIsReported(t *testing.T) {
	t.Setenv(compact.ArchiveKeyVariable, "")
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", blocked)
	a := folderArchive(t, t.TempDir())
	m := sealedManager(t, a, "graduated")
	res, _ := sealedView(t, m, "s", 24)
	if !res.Triggered || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "can't be kept") {
		t.Errorf("%s, warnings %q", res.Reason, res.Warnings)
	}
	if res, _ := sealedView(t, m, "s", 24); len(res.Warnings) > 0 {
		t.Errorf("the failure is reported again: %q", res.Warnings)
	}
}

func TestInvalidKeyIsAMistake(t *testing.T) {
	t.Setenv(compact.ArchiveKeyVariable, "swordfish")
	_, err := compact.New(t.Context(), compact.Config{})
	if err == nil || !strings.Contains(err.Error(), "archive_key") || strings.Contains(err.Error(), "swordfish") {
		t.Errorf("%v, want an error, an error with %q and an error without %q", err, "archive_key", "swordfish")
	}
}

// Processes that start with a new archive at the same time have one key: they show the
// same references.
func TestProcessesThatBeginAtOnceHaveOneKey(t *testing.T) {
	keysOnly(t)
	dir := t.TempDir()
	var wg sync.WaitGroup
	refs := make([]string, 8)
	for i := range refs {
		m := sealedManager(t, folderArchive(t, dir), "graduated")
		wg.Go(func() {
			if _, err := m.Preflight(t.Context(), fmt.Sprint("s", i), sealedTurns(24), compact.WithRecall()); err != nil {
				t.Error(err)
			}
			refs[i] = m.Ref(logOf(5).Parts[0])
		})
	}
	wg.Wait()
	for i, ref := range refs {
		if ref != refs[0] {
			t.Errorf("manager %d calls a part %s, the first %s", i, ref, refs[0])
		}
	}
	_, want := sealedView(t, sealedManager(t, folderArchive(t, dir), "graduated"), "s0", 24)
	if !strings.Contains(want, "recall "+refs[0]) {
		t.Error("the view shows another reference")
	}
}

// keyless is an archive that takes no key while it is shut.
type keyless struct {
	storage.Archive
	shut bool
}

func (a *keyless) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if a.shut && k.String() == "_keys.jsonl" {
		return &storage.Error{Op: "append", Key: k, Err: errors.New("no space")}
	}
	return a.Archive.Append(ctx, k, seq, b)
}

// A call that compacts nothing needs no key in the archive; a compacting call stores
// nothing without a key.
func TestUnsharedKeyPreventsCompaction(t *testing.T) {
	keysOnly(t)
	a := &keyless{folderArchive(t, t.TempDir()), true}
	m := sealedManager(t, a, "graduated")
	if res, _ := sealedView(t, m, "s", 3); res.Triggered {
		t.Fatal("the history is too long for this test")
	}
	if _, err := m.Preflight(t.Context(), "s", sealedTurns(24)); !errors.Is(err, compact.ErrArchiveFailed) {
		t.Fatalf("%v, want ErrArchiveFailed", err)
	}
	a.shut = false
	res, want := sealedView(t, m, "s", 24)
	if res.Step != 1 {
		t.Fatalf("step %d, want 1", res.Step)
	}
	if _, got := sealedView(t, sealedManager(t, a, "graduated"), "s", 24); got != want {
		t.Error("another process has a different view")
	}
}

// The archive stores a keyed hash of an id that was derived from a conversation's
// beginning.
func TestIDsDerivedFromContentAreKeyed(t *testing.T) {
	keysOnly(t)
	a := folderArchive(t, t.TempDir())
	origin := strings.Repeat("0123456789abcdef", 2)
	id := compact.RequestSession + "user:ann:" + origin
	m := sealedManager(t, a, "graduated")
	_, want := sealedView(t, m, id, 24)
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if stored := allStored(t, a); strings.Contains(stored, origin) || !strings.Contains(stored, "user") {
		t.Error("the archive contains the text from which the id is made")
	}
	if _, got := sealedView(t, sealedManager(t, a, "graduated"), id, 24); got != want {
		t.Error("another process does not find the text")
	}
}

// silentArchive is an archive that answers no question about keys.
type silentArchive struct{ storage.Archive }

func (a *silentArchive) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if k.String() == "_keys.jsonl" {
		return nil, &storage.Error{Op: "open", Key: k, Err: errors.New("no network")}
	}
	return a.Archive.Open(ctx, k, off, n)
}

// An agent does not wait for a bucket, which may be behind a spool, to learn its
// key: without a configured key it uses the machine's key.
func TestBucketsKeyIsNotRequested(t *testing.T) {
	keysOnly(t)
	a := &silentArchive{folderArchive(t, t.TempDir())}
	inBucket := func(c *compact.Config) {
		c.Archive, c.Storage.Adapter, c.Storage.Bucket = nil, "s3", "b"
		c.OpenArchive = func(context.Context, compact.StorageConfig) (storage.Archive, error) {
			return struct{ storage.Archive }{a}, nil
		}
	}
	_, want := sealedView(t, sealedManager(t, a, "graduated", inBucket), "s", 24)
	res, got := sealedView(t, sealedManager(t, a, "graduated", inBucket), "s", 24)
	if got != want || res.Step != 0 || len(res.Warnings) > 0 || !strings.Contains(got, "recall ") {
		t.Errorf("another process on the machine has a different view: step %d, %v", res.Step, res.Warnings)
	}
	keysOnly(t) // another machine
	res, _ = sealedView(t, sealedManager(t, a, "graduated", inBucket), "s", 24)
	if res.Step != 2 || len(res.Warnings) != 1 {
		t.Errorf("another machine: step %d, %v, want 2", res.Step, res.Warnings)
	}
}
