package replay

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func pageOf(t *testing.T, o Options, sessions ...*Session) string {
	t.Helper()
	var b bytes.Buffer
	if err := run(t, o, sessions...).WriteHTML(&b, "compactctl replay <logs>"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pictures returns the SVG of a page, each checked to be well-formed.
func pictures(t *testing.T, page string) []string {
	t.Helper()
	all := regexp.MustCompile(`(?s)<svg .*?</svg>`).FindAllString(page, -1)
	for _, p := range all {
		d := xml.NewDecoder(strings.NewReader(p))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("a picture is broken: %v", err)
			}
		}
		if strings.Contains(p, "NaN") || strings.Contains(p, "Inf") {
			t.Error("a picture has a place that is no number")
		}
	}
	return all
}

func TestThePageShowsWhatAReaderLooksFor(t *testing.T) {
	s := session("logs/a <b>.jsonl", 60)
	s.Messages = append(s.Messages, message.User("The key is AKIA"+strings.Repeat("Q7", 8)+", keep it."), message.Assistant("Done."))
	page := pageOf(t, Options{Policies: []Policy{preset(t, "graduated"), Raw(), Sliding(10)}, Windows: []int{8000, 16000}}, s, session("b", 20))

	all := pictures(t, page)
	if len(all) != 2+2*2 {
		t.Fatalf("%d pictures, want one a window and one a session and window", len(all))
	}
	if n := strings.Count(all[0], `class="point`); n != 3 {
		t.Errorf("%d points, want one a policy", n)
	}
	for _, want := range []string{"graduated: costs ", "raw *: costs 100.0 % of raw", "needed at use"} {
		if !strings.Contains(all[0], want) {
			t.Errorf("the first picture lacks %q", want)
		}
	}
	if n := strings.Count(all[1], "<polyline"); n != 3 || !strings.Contains(all[1], "→") || !strings.Contains(all[1], "the window, 8,000 tokens") {
		t.Errorf("the session's picture has %d curves, compactions %v", n, strings.Contains(all[1], "→"))
	}
	for _, want := range []string{"compactctl replay &lt;logs&gt;", "logs/a &lt;b&gt;.jsonl: 61 calls", "summarised", "COMPACT-SUMMARY", "Window of 16,000 tokens"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestThePageNeedsNothingElse(t *testing.T) {
	page := pageOf(t, Options{Policies: []Policy{Raw()}}, session("a", 3))
	for _, link := range regexp.MustCompile(`(?i)(src|href|@import|url)\s*[=(]`).FindAllString(page, -1) {
		t.Errorf("the page refers to something: %s", link)
	}
	if regexp.MustCompile(`https?://`).MatchString(page) {
		t.Error("the page names an address")
	}
}

func TestTheFirstWordsOfMessagesAreRedacted(t *testing.T) {
	s := session("a", 60)
	secret := "AKIA" + "Q7ZK3MPL" + "W2XRT6NB"
	s.Messages[2].Parts[0].Text = "aws_access_key_id = " + secret
	page := pageOf(t, Options{Policies: []Policy{preset(t, "graduated")}, Windows: []int{8000}}, s)
	if strings.Contains(page, secret) || !strings.Contains(page, "REDACTED") {
		t.Error("a secret stands in the page")
	}
}

func TestTicksAreRound(t *testing.T) {
	for _, tc := range []struct {
		low, high float64
		want      []float64
	}{{0, 1, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}}, {3, 3, []float64{3}}, {0, 128000, []float64{0, 50000, 100000}}} {
		got := ticks(tc.low, tc.high, 5)
		if len(got) != len(tc.want) {
			t.Errorf("ticks(%v, %v) = %v, want %v", tc.low, tc.high, got, tc.want)
		}
	}
}
