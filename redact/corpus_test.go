package redact

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sample is a row of a labeled corpus.
type sample struct {
	ID      string   `json:"id"`
	Entity  string   `json:"entity"`
	Text    string   `json:"text"`
	Secrets []string `json:"secrets"`
	set     string
}

// corpusDir returns the folder of the labeled corpora: COMPACT_REDACTION_CORPUS or
// ../shared/redaction beside the repository.
func corpusDir(t testing.TB) string {
	return sharedDir(t, "COMPACT_REDACTION_CORPUS", "redaction")
}

// sharedDir returns a folder of the shared data, or skips the test.
func sharedDir(t testing.TB, env, name string) string {
	t.Helper()
	dir := os.Getenv(env)
	if dir == "" {
		root, err := filepath.Abs(".")
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				break
			}
			up := filepath.Dir(root)
			if up == root {
				t.Fatal("no go.mod above the test")
			}
			root = up
		}
		dir = filepath.Join(root, "..", "shared", name)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("NOT TESTED: ../shared/%s is absent; name such a folder in %s", name, env)
	}
	return dir
}

// readCorpus reads every row of every set.
func readCorpus(t testing.TB) []sample {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(corpusDir(t), "*.jsonl.gz"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	var all []sample
	for _, p := range paths {
		set := strings.TrimSuffix(filepath.Base(p), ".jsonl.gz")
		for line := range gzipLines(t, p) {
			s := sample{set: set}
			if err := json.Unmarshal(line, &s); err != nil {
				t.Fatalf("%s: %v", p, err)
			}
			all = append(all, s)
		}
	}
	return all
}

// gzipLines yields the lines of a compressed or plain file. A line is valid only until
// the next line is read.
func gzipLines(t testing.TB, path string) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
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
			if !yield(sc.Bytes()) {
				return
			}
		}
		if err := sc.Err(); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
}

// survives reports whether a run of 8 bytes of secret (or all of a shorter secret) is
// still in out. It ignores a run that the text also has outside of the expected
// secrets.
func survives(secret, out, blanked string) bool {
	n := min(8, len(secret))
	for i := 0; i+n <= len(secret); i++ {
		if w := secret[i : i+n]; strings.Contains(out, w) && !strings.Contains(blanked, w) {
			return true
		}
	}
	return false
}

// blank removes the expected secrets from a text.
func (s sample) blank() string {
	text := s.Text
	for _, secret := range s.Secrets {
		text = strings.ReplaceAll(text, secret, "\x00")
	}
	return text
}

// score is the result of one set.
type score struct {
	secrets, found      int
	texts, clean        int // number of texts with secrets, and number of texts in which all secrets were found
	negatives, flagged  int
	missed, falseAlarms []string
}

func (c *score) add(s sample, out string) {
	if len(s.Secrets) == 0 {
		c.negatives++
		if out != s.Text {
			c.flagged++
			c.falseAlarms = append(c.falseAlarms, s.ID+"\t"+s.Text+"\n\t=> "+out)
		}
		return
	}
	c.texts++
	blanked, all := s.blank(), true
	for _, secret := range s.Secrets {
		c.secrets++
		if survives(secret, out, blanked) {
			all = false
			c.missed = append(c.missed, s.ID+"\t"+s.Text+"\n\t=> "+out)
			continue
		}
		c.found++
	}
	if all {
		c.clean++
	}
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

// contested reports whether a negative row contradicts another row: the negative holds
// a secret that another row expects, or it is a near-miss of one vendor's rule and a
// hit of another vendor's rule. In this case the positive row is right.
func contested(s sample, expected map[string]bool, vendorOnly *Redactor) bool {
	for secret := range expected {
		if strings.Contains(s.Text, secret) {
			return true
		}
	}
	if s.set != "gitleaks" {
		return false
	}
	own := strings.Split(s.ID, "/")[1]
	return slices.ContainsFunc(vendorOnly.Find(s.Text), func(f Finding) bool { return f.Rule != own })
}

// targets are the least recall and the largest share of negatives flagged, in
// percent, for each labeled set.
var targets = map[string]struct{ recall, clean, flagged float64 }{
	"gitleaks":       {99.9, 99.9, 3},
	"agent-shapes":   {96, 92, 3},
	"secretlint":     {75, 0, 10},
	"detect-secrets": {55, 0, 15},
}

// TestCorpusRecallAndPrecision measures, for each labeled set, the share of
// found secrets and of false findings.
func TestCorpusRecallAndPrecision(t *testing.T) {
	all := readCorpus(t)
	expected := map[string]bool{}
	for _, s := range all {
		for _, secret := range s.Secrets {
			if s.set != "presidio" && len(secret) >= 8 {
				expected[secret] = true
			}
		}
	}
	r, vendorOnly := newRedactor(t, Options{}), &Redactor{words: vendorWords()}
	scores := map[string]*score{}
	for _, s := range all {
		if s.set == "presidio" || len(s.Secrets) == 0 && contested(s, expected, vendorOnly) {
			continue
		}
		if scores[s.set] == nil {
			scores[s.set] = new(score)
		}
		scores[s.set].add(s, r.Text(s.Text).String())
	}
	for _, set := range slices.Sorted(maps.Keys(scores)) {
		scores[set].report(t, set)
	}
}

// report prints a score, and fails the test if it misses its targets.
func (c *score) report(t *testing.T, set string) {
	t.Helper()
	recall, clean, flagged := percent(c.found, c.secrets), percent(c.clean, c.texts), percent(c.flagged, c.negatives)
	t.Logf("%-15s secrets found %4d/%4d %6.2f%%   texts wholly clean %6.2f%%   negatives flagged %2d/%3d %5.2f%%", set,
		c.found, c.secrets, recall, clean, c.flagged, c.negatives, flagged)
	if want := targets[set]; recall < want.recall || clean < want.clean || flagged > want.flagged && want.recall > 0 {
		t.Errorf("%s misses its targets %+v", set, want)
	}
	if dir := os.Getenv("COMPACT_REDACTION_REPORT"); dir != "" {
		writeReport(t, filepath.Join(dir, set), c)
	}
}

// writeReport writes the missed secrets and the false findings.
func writeReport(t *testing.T, path string, c *score) {
	t.Helper()
	for name, rows := range map[string][]string{".missed": c.missed, ".flagged": c.falseAlarms} {
		if err := os.WriteFile(path+name, []byte(strings.Join(rows, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
