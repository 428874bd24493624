package compact_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// archived returns the files of the archive of a rig, by their base names.
func (r *rig) archived() iter.Seq2[string, string] {
	r.t.Helper()
	return filesOf(r.t, r.archive)
}

// filesOf returns the files of an archive, by their base names.
func filesOf(t *testing.T, a storage.Archive) iter.Seq2[string, string] {
	t.Helper()
	return func(yield func(string, string) bool) {
		for info, err := range a.List(context.Background(), storage.Key{}) {
			if err != nil {
				t.Fatal(err)
			}
			f, err := a.Open(context.Background(), info.Key, 0, -1)
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(f)
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			if !yield(info.Key.Base(), string(data)) {
				return
			}
		}
	}
}

// holdsText reports whether any file of a rig's archive contains a text.
func (r *rig) holdsText(text string) bool {
	r.t.Helper()
	for _, data := range r.archived() {
		if strings.Contains(data, text) {
			return true
		}
	}
	return false
}

func (r *rig) stored() *record.Session {
	r.t.Helper()
	s, err := record.OpenSession(r.t.Context(), r.archive, "s")
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *rig) verified() record.Report {
	r.t.Helper()
	report, err := r.stored().Verify(r.t.Context(), record.VerifyOptions{Refs: recall.Refs, Edits: recall.EditRefs})
	if err != nil {
		r.t.Fatal(err)
	}
	if !report.OK() {
		r.t.Errorf("problems: %v, want no problems", report.Problems)
	}
	return report
}

// leakedLater is a secret that no rule finds.
const leakedLater = "correcthorse battery\\staple"

// leakyLoop returns an agent loop with a secret in one result.
func leakyLoop() []message.Message {
	history := loop(12, 200)
	history[5] = message.ToolResult("call_1", "file_1.go: the word is "+leakedLater+"\n"+text(300))
	return history
}

func TestSessionKeepsItsStateAfterAScrub(t *testing.T) {
	r := newRig(t, compact.Config{})
	history := leakyLoop()
	if _, err := r.ManualCompact(t.Context(), "s", history, "test"); err != nil {
		t.Fatal(err)
	}
	history = append(history, message.User("And now module_b."))
	for i := 20; i < 30; i++ {
		history = append(history, round(i, 200)...)
	}
	res, err := r.ManualCompact(t.Context(), "s", history, "test")
	if err != nil { // the transcript of this step refers to the first one
		t.Fatal(err)
	}
	if !r.holdsText(`{"from":"transcript-pre-compact-001.jsonl"`) {
		t.Fatal("nothing refers to the first transcript")
	}
	view := bytesOf(res.Messages)
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !r.holdsText(`correcthorse battery\\staple`) {
		t.Fatal("the archive never contained the secret")
	}
	done, err := compact.Scrub(t.Context(), r.stored(), compact.ScrubOptions{Secrets: []string{leakedLater}, Reason: redact.Lit("it leaked")})
	if err != nil || len(done.Files) == 0 {
		t.Fatalf("%+v, %v, want rewritten files and no error", done, err)
	}
	if r.holdsText("correcthorse") {
		t.Error("the secret still exists")
	}
	if notes := strings.Join(r.verified().Notes, "\n"); !strings.Contains(notes, "scrubbed at ") || !strings.Contains(notes, "it leaked") {
		t.Errorf("notes: %s, want text with %q", notes, "scrubbed at ")
	}
	again := newRig(t, compact.Config{Archive: r.archive})
	got, err := again.Preflight(t.Context(), "s", history)
	if err != nil {
		t.Fatal(err)
	}
	if inLedger := len(done.Steps) > 0; inLedger == (bytesOf(got.Messages) == view) {
		t.Errorf("the ledger had it: %t; the view is the same: %t", inLedger, !inLedger)
	}
	if len(done.Steps) > 0 {
		t.Errorf("a summary contained the secret, so the test proves nothing: steps %v", done.Steps)
	}
	text, err := again.Recall(t.Context(), "s", "turn:2")
	if err != nil || !strings.Contains(text, "the word is ****") || strings.Contains(text, "correcthorse") {
		t.Errorf("recalled %.200q, %v; want text with %q, text without %q and no error", text, err, "the word is ****", "correcthorse")
	}
}

// A secret in a summary changes the view of its step, and the report says so: the summary
// is in a file beside the ledger.
func TestScrubReportsTheStepsWhoseSummaryChanges(t *testing.T) {
	r := newRig(t, compact.Config{})
	history := append(loop(6, 200), message.User("The word is "+leakedLater+". Read module_b."))
	history = append(append(history, round(20, 200)...), message.User("And now module_c."))
	for i := 21; i < 30; i++ {
		history = append(history, round(i, 200)...)
	}
	if _, err := r.ManualCompact(t.Context(), "s", history, "test"); err != nil {
		t.Fatal(err)
	}
	done, err := compact.Scrub(t.Context(), r.stored(), compact.ScrubOptions{Secrets: []string{leakedLater}, Reason: redact.Lit("it leaked")})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(done.Files, func(f record.ScrubbedFile) bool { return f.Name == "summary-001.json" && f.Places > 0 }) {
		t.Fatalf("no summary contained the secret: %+v", done.Files)
	}
	if !slices.Equal(done.Steps, []int{1}) {
		t.Errorf("steps %v, want 1", done.Steps)
	}
	r.verified()
}

// After a scrub during an agent's work the archive works: even with on_error continue, the next
// step is stored.
func TestStepAfterAScrubIsStoredForEveryOnError(t *testing.T) {
	r := newRig(t, compact.Config{Storage: compact.StorageConfig{OnError: "continue"}})
	history := leakyLoop()
	if _, err := r.ManualCompact(t.Context(), "s", history, "test"); err != nil {
		t.Fatal(err)
	}
	done, err := compact.Scrub(t.Context(), r.stored(), compact.ScrubOptions{Secrets: []string{leakedLater}, Reason: redact.Lit("it leaked")})
	if err != nil || len(done.Files) == 0 {
		t.Fatalf("%+v, %v, want rewritten files and no error", done, err)
	}
	history = append(history, message.User("And now module_b."))
	for i := 20; i < 30; i++ {
		history = append(history, round(i, 200)...)
	}
	res, err := r.ManualCompact(t.Context(), "s", history, "test")
	if err != nil || res.Archived == nil || len(res.Warnings) > 0 {
		t.Errorf("archived %v, warnings %q, %v", res.Archived, res.Warnings, err)
	}
	if n := r.verified().Steps; n != 2 {
		t.Errorf("%d steps are stored, want 2", n)
	}
}

func TestScrubByRulesRemovesCurrentFindings(t *testing.T) {
	nothing, err := redact.New(redact.Options{Disabled: true}) // the redaction at the time when the messages were stored
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, compact.Config{Redactor: nothing})
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	history := loop(12, 200)
	history[5] = message.ToolResult("call_1", "token="+secret+"\n"+text(300))
	history[7] = message.ToolResult("call_2", "and again ("+secret+")\n"+text(300))
	if _, err := r.ManualCompact(t.Context(), "s", history, "test"); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !r.holdsText(secret) {
		t.Fatal("the archive never contained the secret")
	}
	now, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dry, err := compact.Scrub(t.Context(), r.stored(), compact.ScrubOptions{Rules: now, DryRun: true})
	if err != nil || len(dry.Files) == 0 || !r.holdsText(secret) {
		t.Fatalf("dry run: %+v, %v", dry, err)
	}
	done, err := compact.Scrub(t.Context(), r.stored(), compact.ScrubOptions{Rules: now})
	if err != nil || !slices.Equal(done.Files, dry.Files) || r.holdsText(secret) {
		t.Errorf("%+v, %v, want the files of the dry run and no secret left", done, err)
	}
	r.verified()
	if again, err := compact.Scrub(t.Context(), r.stored(), compact.ScrubOptions{Rules: now}); err != nil || len(again.Files) != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// A secret that a rule finds in one spelling is removed in all other spellings.
func TestScrubByRulesTakesOutOtherSpellings(t *testing.T) {
	nothing, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, compact.Config{Redactor: nothing})
	const secret = "Zq7&Rt9xW2&kP4mN8"
	escaped, err := openai.ParseMessage([]byte(`{"role":"tool","tool_call_id":"call_1","content":"password=` + strings.ReplaceAll(secret, "&", `\u0026`) + ` ` + text(300) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	history := loop(12, 200)
	history[5], history[7] = escaped, message.ToolResult("call_2", "and again ("+secret+")\n"+text(300))
	if _, err := r.ManualCompact(t.Context(), "s", history, "test"); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(t.Context()); err != nil || !r.holdsText(secret) {
		t.Fatal(err, "the archive never contained the secret")
	}
	now, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if done, err := compact.Scrub(t.Context(), r.stored(), compact.ScrubOptions{Rules: now}); err != nil || r.holdsText(secret) || r.holdsText("Rt9xW2") {
		t.Errorf("%+v, %v, want no error and no secret left", done, err)
	}
	r.verified()
}

func TestScrubRequiresSearchableSecrets(t *testing.T) {
	r := newRig(t, compact.Config{})
	if _, err := compact.Scrub(t.Context(), r.stored(), compact.ScrubOptions{Secrets: []string{"abc"}}); !errors.Is(err, compact.ErrShortSecret) {
		t.Errorf("a secret of three bytes: %v, want ErrShortSecret", err)
	}
}

// A short text can occur by chance in the archive's own fields.
func TestScrubKeepsTheArchivesOwnFields(t *testing.T) {
	for _, secret := range []string{`"at":[0,`, `"sha256":"`, `"len":`, "transcript", "role", "tool", "content", "sha256"} {
		t.Run(secret, func(t *testing.T) {
			r := newRig(t, compact.Config{})
			history := leakyLoop()
			for range 2 {
				for i := range 6 {
					history = append(history, round(len(history)+i, 200)...)
				}
				if _, err := r.ManualCompact(t.Context(), "s", history, "test"); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(secret, `"`) {
				secret = r.following(secret)
			}
			if _, err := compact.Scrub(t.Context(), r.stored(), compact.ScrubOptions{Secrets: []string{secret}}); err != nil {
				t.Error(err)
			}
			r.verified()
			again := newRig(t, compact.Config{Archive: r.archive})
			if _, err := again.Preflight(t.Context(), "s", history); err != nil {
				t.Error(err)
			}
			if text, err := again.Recall(t.Context(), "s", "turn:2"); err != nil || !strings.Contains(text, "correcthorse") {
				t.Errorf("recalled %.200q, %v; want text with %q and no error", text, err, "correcthorse")
			}
			tools := 0
			for m, err := range recall.Messages(t.Context(), r.stored()) {
				if err != nil {
					t.Fatal(err)
				}
				if m.Message.Role == message.RoleTool {
					tools++
				}
			}
			if tools < 10 {
				t.Errorf("%d results of tools are left, want at least 10", tools)
			}
		})
	}
}

// following returns the four bytes after a text in a file of the archive other than the
// manifest.
func (r *rig) following(text string) string {
	r.t.Helper()
	for name, data := range r.archived() {
		if _, after, ok := strings.Cut(data, text); ok && name != "manifest.jsonl" {
			return after[:4]
		}
	}
	r.t.Fatalf("no file has %q", text)
	return ""
}
