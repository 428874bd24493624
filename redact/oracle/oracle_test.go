package oracle

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/report"
)

func redactor(t testing.TB) *redact.Redactor {
	t.Helper()
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func gitleaks(t testing.TB) *detect.Detector {
	t.Helper()
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// shared returns the files of a folder of the shared data, or skips.
func shared(t testing.TB, env, name, pattern string) []string {
	t.Helper()
	dir := os.Getenv(env)
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", name)
	}
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) == 0 {
		t.Skipf("NOT TESTED: ../shared/%s is absent; name such a folder in %s", name, env)
	}
	return paths
}

// lines calls the function do for each line of a file, compressed or not.
func lines(t testing.TB, path string, do func([]byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		sc = bufio.NewScanner(z)
	}
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		do(sc.Bytes())
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestTheVendorRulesAreUpToDate runs the generator without writing.
func TestTheVendorRulesAreUpToDate(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "run", "./generate", "-check").CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestSecretsFoundByGitleaksAreRedacted runs gitleaks and package redact over the labeled texts.
// Findings only of gitleaks' rule on generic keys do not count: that rule accepts any random
// value after a word like "key", and package redact judges assignments more strictly.
func TestSecretsFoundByGitleaksAreRedacted(t *testing.T) {
	r, d := redactor(t), gitleaks(t)
	total, missed := 0, 0
	for _, path := range shared(t, "COMPACT_REDACTION_CORPUS", "redaction", "*.jsonl.gz") {
		lines(t, path, func(line []byte) {
			var row struct{ ID, Text string }
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			out := r.Text(row.Text).String()
			for _, f := range d.DetectString(row.Text) {
				if f.RuleID == "generic-api-key" {
					continue
				}
				total++
				if survives(f, row.Text, out) {
					missed++
					t.Errorf("%s: %s survives in %q", row.ID, f.RuleID, out)
				}
			}
		})
	}
	t.Logf("%d findings of gitleaks, %d not redacted", total, missed)
}

// survives reports whether a secret that gitleaks found is still there.
func survives(f report.Finding, text, out string) bool {
	secret := strings.Trim(f.Secret, "\"' \n")
	return strings.Count(out, secret) > 0 && strings.Count(out, secret) >= strings.Count(text, secret)
}

// TestTranscriptsAgreeWithGitleaks lists the secrets that only gitleaks finds in
// recorded sessions, and package redact does not. It takes minutes.
func TestTranscriptsAgreeWithGitleaks(t *testing.T) {
	if os.Getenv("COMPACT_ORACLE_TRANSCRIPTS") == "" {
		t.Skip("NOT TESTED: it takes minutes; set COMPACT_ORACLE_TRANSCRIPTS=1 to compare over ../shared/transcripts")
	}
	r, d := redactor(t), gitleaks(t)
	for _, path := range shared(t, "COMPACT_TRANSCRIPTS", "transcripts", "chat/*.jsonl*") {
		lines(t, path, func(line []byte) {
			text := string(line)
			out := r.Text(text).String()
			for _, f := range d.DetectString(text) {
				if survives(f, text, out) {
					t.Logf("%s\t%s\t%.120s", filepath.Base(path), f.RuleID, f.Match)
				}
			}
		})
	}
}
