package arch

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// build compiles a package of one file that exists only in this test, and returns
// the numbers of the lines with errors.
func build(t *testing.T, source string) (wrong map[int]string, output string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "smuggle.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "internal", "smuggle", "smuggle.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{file: []byte(source), overlay: replace} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-gcflags=-e", "-o", os.DevNull, "./internal/smuggle")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	wrong = map[int]string{}
	for _, m := range regexp.MustCompile(`smuggle\.go:(\d+):\d+: (.*)`).FindAllStringSubmatch(string(out), -1) {
		var line int
		if _, err := fmt.Sscan(m[1], &line); err != nil {
			t.Fatal(err)
		}
		wrong[line] = m[2]
	}
	if err != nil && len(wrong) == 0 {
		t.Fatalf("go build: %v: %s", err, out)
	}
	return wrong, string(out)
}

const smuggler = `package smuggle

import (
	"context"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

func smuggle(ctx context.Context, s string, t redact.Text, sum [32]byte, k storage.Key, a storage.Archive, to *record.Session) {
%s
}
`

// allowed holds lines that must compile: they prove that the errors come from the
// forbidden lines, not from the rest of the program.
var allowed = []string{
	`_ = storage.Redacted(t, redact.Lit("a constant"), redact.Digest(sum), redact.Ref(sum))`,
	`_ = trace.Event{Session: t, Agent: t, Data: redact.Join(t, t.TrimSuffix("}")), Trace: &trace.TraceInfo{Name: t, GroupID: t}}`,
	`_ = a.Create(ctx, k, storage.Redacted(t))`,
	`_, _ = to.Transcript(ctx, 1, []redact.Text{t})`,
}

// forbidden holds lines that pass unredacted text to the archive or to an exporter:
// none of them may compile.
var forbidden = []string{
	`_ = redact.Text{s}`,
	`_ = redact.Text(s)`,
	`_ = redact.Lit(s)`,
	`_ = redact.Lit("a" + s)`,
	`_ = redact.Join(s)`,
	`_ = redact.Digest(s)`,
	`_ = redact.Digest([]byte(s))`,
	`_ = redact.Digest([6]byte{})`,
	`_ = redact.Ref([]byte(s))`,
	`_ = t.TrimSuffix(s)`,
	`_ = storage.Redacted(s)`,
	`_ = storage.Blob{s}`,
	`_ = storage.Blob(s)`,
	`_ = a.Create(ctx, k, s)`,
	`_ = a.Append(ctx, k, 0, s)`,
	`_, _ = to.Transcript(ctx, 1, []string{s})`,
	`_, _ = to.TranscriptOf(ctx, 1, []string{s})`,
	`_, _ = to.Originals(ctx, 1, []string{s})`,
	`_, _ = to.Final(ctx, []string{s})`,
	`_, _ = to.Summary(ctx, 1, s)`,
	`_, _ = to.Commit(ctx, 1, s)`,
	`_ = to.SummaryDraft(s)`,
	`_, _ = to.TranscriptDraft([]string{s}, nil)`,
	`_ = record.Step{Ledger: func([]record.Written) ([]string, error) { return nil, nil }}`,
	`_ = to.Events(ctx, []string{s})`,
	`_ = to.Journal(ctx, []string{s})`,
	`_ = trace.Event{Data: s}`,
	`_ = trace.Event{Session: s}`,
	`_ = trace.Event{Agent: s}`,
	`_ = trace.TraceInfo{Name: s}`,
	`_ = trace.TraceInfo{GroupID: s}`,
	`_ = trace.TraceInfo{Metadata: map[string]string{"k": s}}`,
	`_ = trace.New(nil, s, trace.Event{}.Start, trace.Event{}.End)`,
}

func TestUnredactedTextDoesNotCompile(t *testing.T) {
	said, err := os.ReadFile("../../docs/SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("tries %d ways", len(forbidden)); !strings.Contains(string(said), want) {
		t.Errorf("docs/SECURITY.md has no words %q about this test", want)
	}
	if wrong, out := build(t, fmt.Sprintf(smuggler, strings.Join(allowed, "\n"))); len(wrong) > 0 {
		t.Fatalf("the allowed lines do not compile:\n%s", out)
	}
	first := strings.Count(smuggler[:strings.Index(smuggler, "%s")], "\n") + 1
	wrong, out := build(t, fmt.Sprintf(smuggler, strings.Join(append(forbidden, allowed...), "\n")))
	for i, line := range append(forbidden, allowed...) {
		if _, refused := wrong[first+i]; refused != (i < len(forbidden)) {
			t.Errorf("the compiler rejects the line: %v, want the opposite: %s", refused, line)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// Only the listed packages may use the two ways to make a Text of unredacted text: a redactor that is
// switched off, and Lit as a value, whose parameter type could be inferred. A redactor
// with the default rules is also made for the text of a panic.
func TestOnlyTheManagerAndTheCommandMakeRedactors(t *testing.T) {
	out, err := exec.Command("grep", "-rnE", `redact\.(New\(|Lit([^(]|$))`, "--include=*.go", "../..").Output()
	if err != nil {
		t.Fatalf("grep: %v", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		path, _, _ := strings.Cut(strings.TrimPrefix(line, "../../"), ":")
		maker := strings.HasPrefix(path, "compact/") || strings.HasPrefix(path, "cmd/compactctl/")
		panics := path == "internal/panics/panics.go" && strings.HasSuffix(line, "redact.New(redact.Options{})")
		if strings.HasSuffix(path, "_test.go") || panics || maker && strings.Contains(line, "redact.New(") || strings.HasPrefix(path, "redact/") {
			continue
		}
		t.Errorf("this package must not make a Text of unredacted text: %s", line)
	}
}
