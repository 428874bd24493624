package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sections are the sections of Keep a Changelog, in their order.
var sections = []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}

var releaseHeading = regexp.MustCompile(`^\d+\.\d+\.\d+( - \d{4}-\d{2}-\d{2})?$`)

// misshapen returns the mistakes in the headings of a changelog, because the release
// workflow and readers find an entry by its headings.
func misshapen(text string) (wrong []string) {
	var releases, had []string
	section, topic := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch level, name, _ := strings.Cut(line, " "); level {
		case "##":
			if len(releases) == 0 && name != "Unreleased" || len(releases) > 0 && !releaseHeading.MatchString(name) {
				wrong = append(wrong, "no place for release "+name)
			}
			releases, had, section, topic = append(releases, name), nil, "", ""
		case "###":
			if at := slices.Index(sections, name); at < 0 || slices.ContainsFunc(had, func(h string) bool { return slices.Index(sections, h) >= at }) {
				wrong = append(wrong, "section "+name+" is unknown, twice or out of order")
			}
			had, section, topic = append(had, name), name, ""
		case "####":
			topic = name
		case "*":
			if section == "" || topic == "" && len(releases) > 1 {
				wrong = append(wrong, "no section or topic: "+line)
			}
		}
	}
	if len(releases) < 2 {
		wrong = append(wrong, "no release")
	}
	return wrong
}

func TestChangelogHasReleasesSectionsAndTopics(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range misshapen(string(text)) {
		t.Error(w)
	}
}

func TestChangelogFaultsAreFound(t *testing.T) {
	const good = "## Unreleased\n### Added\n* new\n## 0.1.0\n### Added\n#### Archive\n* a\n### Fixed\n#### Archive\n* b\n"
	if wrong := misshapen(good); wrong != nil {
		t.Errorf("a good changelog is refused: %q", wrong)
	}
	for fault, text := range map[string]string{
		"no release":              "## Unreleased\n### Added\n* new\n",
		"release on top":          strings.Replace(good, "## Unreleased", "## 0.2.0", 1),
		"a version with a v":      strings.Replace(good, "## 0.1.0", "## v0.1.0", 1),
		"unknown section":         strings.Replace(good, "### Fixed", "### Misc", 1),
		"section twice":           strings.Replace(good, "### Fixed", "### Added", 1),
		"order of sections":       strings.NewReplacer("### Added\n#### A", "### Fixed\n#### A", "### Fixed", "### Added").Replace(good),
		"entry without a section": strings.Replace(good, "### Added\n* new", "* new", 1),
		"entry without a topic":   strings.Replace(good, "#### Archive\n* b", "* b", 1),
	} {
		if misshapen(text) == nil {
			t.Errorf("%s: not found", fault)
		}
	}
}
