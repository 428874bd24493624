package sdk

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const docs = "../../docs/sdk"

// A row of the table: the name, the line to add, and the place where it is shown.
var (
	tableRow   = regexp.MustCompile("(?m)^\\| ([^|]+) \\| (.+) \\| (\\[example\\]\\(([^)]+)\\).*) \\|$")
	named      = regexp.MustCompile(`(\S+) v(\d[\w.]*)`)
	identifier = regexp.MustCompile(`\b(?:[a-z]\w*\.)?[A-Z]\w+`)
	link       = regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]*))?\)`)
)

func text(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The table agrees with the programs: each program has a row with the tested version
// and the line of code that adds compact to the program.
func TestTableHasEachProgram(t *testing.T) {
	table := text(t, filepath.Join(docs, "README.md"))
	required := text(t, "go.mod") + text(t, "frameworks/go.mod") + text(t, "fantasy/go.mod")
	var shown []string
	for _, row := range tableRow.FindAllStringSubmatch(table, -1) {
		name, line, path := row[1], row[2], filepath.Join(docs, row[4])
		shown = append(shown, filepath.Clean(path))
		program := text(t, path)
		if code := regexp.MustCompile("`[^`]+`").FindString(line); code != "" {
			for _, id := range identifier.FindAllString(code, -1) {
				if !strings.Contains(program, id) {
					t.Errorf("%s: the line has %s, the program has not", name, id)
				}
			}
		} else if line != "the same" {
			t.Errorf("%s has no line: %s", name, line)
		}
		for _, n := range named.FindAllStringSubmatch(name, -1) {
			if !regexp.MustCompile(`(?m)^\s*(?:require )?\S*` + regexp.QuoteMeta(n[1]) + `\S* v` + regexp.QuoteMeta(n[2]) + `[.\s-]`).MatchString(required) {
				t.Errorf("%s: no go.mod requires %s v%s", name, n[1], n[2])
			}
		}
	}
	for _, glob := range []string{"*/main.go", "frameworks/*/main.go"} {
		programs, err := filepath.Glob(glob)
		if err != nil || len(programs) < 5 {
			t.Fatalf("%q %v", programs, err)
		}
		for _, p := range programs {
			if !slices.Contains(shown, filepath.Join("../../examples/sdk", p)) {
				t.Errorf("%s has no row: %q", p, shown)
			}
		}
	}
}

// The README lists three SDKs and links the table; all links of the pages have targets.
func TestReadmeShowsThreePresetsAndLinksTheTable(t *testing.T) {
	readme := text(t, "../../README.md")
	for _, want := range []string{"// go-openai, genai,", "// openai-go;", "the same for anthropic-sdk-go", "](docs/sdk/README.md)", "](docs/agents/README.md)"} {
		if !strings.Contains(readme, want) {
			t.Errorf("the README does not say %q", want)
		}
	}
	pages, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil || len(pages) < 3 {
		t.Fatalf("%q %v", pages, err)
	}
	for _, page := range pages {
		for _, l := range link.FindAllStringSubmatch(text(t, page), -1) {
			if strings.Contains(l[1], "://") {
				continue
			}
			to := page
			if l[1] != "" {
				to = filepath.Join(docs, l[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if l[2] != "" && !slices.Contains(anchors(text(t, to)), l[2]) {
				t.Errorf("%s: %s has no section %q", page, to, l[2])
			}
		}
	}
}

// anchors returns the anchors of a page's sections.
func anchors(page string) (out []string) {
	for _, h := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		h := strings.ReplaceAll(strings.ToLower(h[1]), " ", "-")
		out = append(out, regexp.MustCompile(`[^\w-]`).ReplaceAllString(h, ""))
	}
	return out
}
