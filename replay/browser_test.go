package replay

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage/memory"
)

// looker inspects a page in the browser as a reader would.
//
//go:embed testdata/look.js
var looker string

// reader inspects the page of a session in the browser.
//
//go:embed testdata/read.js
var reader string

// lookResult is the result of looker.
type lookResult struct {
	Width     int      // of the window, in pixels
	Overflow  int      // pixels by which the page exceeds the window
	Pictures  []string // classes of the visible pictures in the first window
	Covered   []string // names of points that cover one another, or are cut off
	Sorted    []string // the first policy, by cost, both ways
	Tip       string   // text that the keyboard shows for a point
	TipHidden bool     // after the escape key
	Opened    bool     // a mark opened the details of its compaction
	Hidden    bool     // a box without its check mark hides the curve
	Contrast  float64  // smallest contrast of a text and its background on the page
	Dark      bool
	Focus     int // things that the tab key reaches

	First  string   // the first statement, visible without scrolling
	Judged []string // the columns of the first table that are seen without scrolling
	Went   string   // text in the closed box of a compaction, on the page of a session
	Parts  []string // boxes inside that box, when it is open
	Back   int      // number of references on the page
}

func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no chromium here: the page is not examined")
	return ""
}

// look opens a page and returns the output of the looker.
func look(t *testing.T, browser, page, looker string, args ...string) (s lookResult) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(page+"<script>"+looker+"</script>"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + filepath.Join(dir, "profile")}, args...)
	cmd := exec.CommandContext(ctx, browser, append(args, "--virtual-time-budget=2000", "--dump-dom", "file://"+file)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("the browser does not run here: %v\n%.500s", err, errs.String())
	}
	found := regexp.MustCompile(`(?s)<pre id="seen">(.*?)</pre>`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("the page did not run: %.300s", errs.String())
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// screens are the sizes of common screens.
var screens = []struct {
	name, picture string
	dark          bool
	args          []string
}{
	{"wide and light", "wide", false, []string{"--window-size=1400,1000", "--blink-settings=preferredColorScheme=1"}},
	{"wide and dark", "wide", true, []string{"--window-size=1400,1000", "--blink-settings=preferredColorScheme=0"}},
	{"narrow and light", "narrow", false, []string{"--window-size=400,900", "--blink-settings=preferredColorScheme=1"}},
	{"narrow and dark", "narrow", true, []string{"--window-size=400,900", "--blink-settings=preferredColorScheme=0"}},
}

func TestPageIsUsableInTheBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	chromium := browser(t)
	s := session("logs/a.jsonl", 60)
	page := pageOf(t, Options{Policies: []Policy{preset(t, "graduated"), preset(t, "masking"), Raw(), Sliding(10), DropOldest(6)}, Windows: []int{8000}}, s, session("logs/b.jsonl", 40))
	for _, tc := range screens {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := look(t, chromium, page, looker, tc.args...)
			if s.Overflow > 0 {
				t.Errorf("the page is %d pixels wider than the window of %d", s.Overflow, s.Width)
			}
			if len(s.Pictures) != 1 || s.Pictures[0] != tc.picture {
				t.Errorf("the pictures are %v, want the %s one", s.Pictures, tc.picture)
			}
			if s.First != "Take graduated." || len(s.Judged) < 3 || s.Judged[1] != "of raw" || s.Judged[2] != "needed at use" {
				t.Errorf("without scrolling one sees %q, and of the table %q", s.First, s.Judged)
			}
			if len(s.Covered) > 0 {
				t.Errorf("names can't be read: %v", s.Covered)
			}
			if len(s.Sorted) != 2 || s.Sorted[0] == s.Sorted[1] {
				t.Errorf("sorted by cost the first are %v", s.Sorted)
			}
			if !regexp.MustCompile(`^\S+.*: costs .* % of raw`).MatchString(s.Tip) || !s.TipHidden {
				t.Errorf("the keyboard shows %q of a point, hidden again: %v", s.Tip, s.TipHidden)
			}
			if !s.Opened || !s.Hidden {
				t.Errorf("a mark leads to its change: %v; a curve can be hidden: %v", s.Opened, s.Hidden)
			}
			if s.Contrast < 4.5 || s.Dark != tc.dark {
				t.Errorf("text has a contrast of %.1f, dark is %v", s.Contrast, s.Dark)
			}
			if s.Focus < 20 {
				t.Errorf("the tab key reaches %d things", s.Focus)
			}
		})
	}
}

func TestSessionPageIsReadableInTheBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	chromium := browser(t)
	a := memory.New()
	archivedSession(t, a, "job-7", beginning)
	var b bytes.Buffer
	if err := accountOf(t, a, "job-7").WriteHTML(&b, "compactctl report job-7"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range screens {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := look(t, chromium, b.String(), reader, tc.args...)
			if s.Overflow > 0 || len(s.Pictures) != 1 || s.Pictures[0] != tc.picture || s.Dark != tc.dark || s.Contrast < 4.5 {
				t.Errorf("%d pixels wider than the window of %d, pictures %v, dark %v, contrast %.1f", s.Overflow, s.Width, s.Pictures, s.Dark, s.Contrast)
			}
			if !regexp.MustCompile(`^61 calls sent [\d,]+ tokens in place of [\d,]+ \(\d+ %\), for about \$[\d.]+ in place of \$[\d.]+\.$`).MatchString(s.First) {
				t.Errorf("without scrolling one sees %q", s.First)
			}
			if !regexp.MustCompile(`^Step 2: [\d,]+ → [\d,]+ tokens · \d+ messages?: \d+ (masked|summarized)`).MatchString(s.Went) {
				t.Errorf("a compaction is called %q", s.Went)
			}
			if len(s.Parts) < 2 || !s.Opened || s.Back == 0 {
				t.Errorf("a mark opens %v, with %q in it and %d references", s.Opened, s.Parts, s.Back)
			}
		})
	}
}
