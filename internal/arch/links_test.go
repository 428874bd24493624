package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s#]*)(?:#([^)\s]+))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	noise   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// The targets of a document's links in the repository exist, including headings.
func TestLinksOfDocumentsHaveTargets(t *testing.T) {
	links := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return orSkip(err)
		}
		if filepath.Ext(path) != ".md" || filepath.Base(path) == "SUMMARIES.md" { // SUMMARIES.md quotes summaries, with their headings
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], ":") {
				continue // another site
			}
			links++
			to := path
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1]))
			}
			if why := leads(to, m[2]); why != "" {
				t.Errorf("%s: %s: %s, want none", path, m[0], why)
			}
		}
		return err
	})
	if err != nil || links < 100 {
		t.Errorf("%d links, %v, want at least 100 links and no error", links, err)
	}
}

func orSkip(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

// leads returns the reason why a link has no target, "" if it has one.
func leads(file, anchor string) string {
	if anchor == "" {
		if _, err := os.Stat(file); err != nil {
			return "it is not there"
		}
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "it is not there"
	}
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		if strings.ReplaceAll(strings.ToLower(noise.ReplaceAllString(m[1], "")), " ", "-") == anchor {
			return ""
		}
	}
	return "it has no such heading"
}

// The excerpt of a summary in README occurs in docs/SUMMARIES.md, which a program
// writes.
func TestSummaryInREADMEMatchesTheCode(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile("../../docs/SUMMARIES.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "<!-- summary -->\n```\n")
	shown, _, ok := strings.Cut(shown, "```\n<!-- /summary -->")
	if !ok || strings.Count(shown, "\n") < 10 {
		t.Fatalf("README.md shows %q, want an excerpt of at least 10 lines", shown)
	}
	for line := range strings.Lines(shown) {
		if line != "…\n" && !strings.Contains(string(made), "\n"+line) {
			t.Errorf("README.md shows a line that docs/SUMMARIES.md lacks: %s", line)
		}
	}
}
