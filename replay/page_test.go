package replay

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
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
			t.Error("a picture has a place that is not a number")
		}
	}
	return all
}

func TestPageShowsItsFacts(t *testing.T) {
	s := session("logs/a <b>.jsonl", 60)
	page := pageOf(t, Options{Policies: []Policy{preset(t, "graduated"), Raw(), Sliding(10)}, Windows: []int{8000, 16000}}, s, session("logs/b", 20))

	all := pictures(t, page)
	if len(all) != 2*2+2*2*2 {
		t.Fatalf("%d pictures, want two a window, and two a session and window", len(all))
	}
	if n := strings.Count(all[0], `class="point`); n != 3 {
		t.Errorf("%d points, want one a policy", n)
	}
	for _, want := range []string{"graduated: costs ", "raw *: costs 100.0 % of raw", "needed at use", "one recall would bring"} {
		if !strings.Contains(all[0], want) {
			t.Errorf("the first picture lacks %q", want)
		}
	}
	if n := strings.Count(all[2], "<polyline"); n != 3 {
		t.Errorf("the session's picture has %d curves, want one a policy", n)
	}
	mark := regexp.MustCompile(`<a href="#([^"]+)" class="mark"><title>graduated, call \d+: [\d,]+ → [\d,]+ tokens\. \d+ messages? \w+.*Why: the prompt reached the (?:trigger|budget)</title>`).FindStringSubmatch(all[2])
	if mark == nil || !strings.Contains(page, `<details id="`+mark[1]+`">`) {
		t.Errorf("no mark describes a compaction with its reason and links to it: %q", mark)
	}
	for _, want := range []string{
		"compactctl replay &lt;logs&gt;", "a &lt;b&gt;.jsonl <span", "the window, 8,000 tokens", "Window of 16,000 tokens",
		`<span class="gone">- `, `<span class="came">&#43; &lt;COMPACT-SUMMARY`, "<b>Take graduated.</b> It costs ",
		"What each policy costs and keeps", "What is sent", "Cost by kind of token", "changed prefixes in 100 calls", "What the words mean",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestThePageNeedsNothingElse(t *testing.T) {
	page := pageOf(t, Options{Policies: []Policy{preset(t, "graduated"), Raw()}, Windows: []int{8000}}, session("a", 60))
	for _, link := range regexp.MustCompile(`(?i)(src|href|@import|url)\s*[=(]\s*.{3}`).FindAllString(page, -1) {
		if !strings.HasPrefix(link, `href="#`) {
			t.Errorf("the page refers to something: %s", link)
		}
	}
	if regexp.MustCompile(`https?://`).MatchString(page) {
		t.Error("the page names an address")
	}
}

func TestNamesOfPointsDoNotCoverOneAnother(t *testing.T) {
	var list []Total
	for i := range 6 { // all at nearly the same place
		at := Interval{0.5 + 0.001*float64(i), 0.4, 0.6}
		list = append(list, Total{Policy: strings.Repeat("p", 9), OfRaw: at, Held: at})
	}
	p := newPlot(900, 420)
	p.MaxX, p.MaxY = 1, 1
	names := placer{plot: p}
	for i, total := range list {
		name := names.place(p.X(total.OfRaw.Value), p.Y(total.Held.Value), total.Policy)
		for _, other := range names.taken[:i] {
			if name.over(other) > 0 {
				t.Errorf("name %d covers another", i)
			}
		}
		if name.left < p.Left || name.right > p.Width {
			t.Errorf("name %d lies outside of the picture: %+v", i, name)
		}
	}
}

// An operator who reads the page at night reads its first sentence.
func TestVerdictNamesAPolicyAndItsReliability(t *testing.T) {
	at := func(name string, cost, held float64) Total {
		return Total{Policy: name, OfRaw: Interval{Value: cost, Low: cost - 0.1, High: cost + 0.1}, Held: Interval{Value: held}, Calls: 50}
	}
	cheap, rich, worse, ref := at("cheap", 0.4, 0.9), at("rich", 0.6, 0.99), at("worse", 0.7, 0.95), at("raw", 1, 1)
	ref.Reference, ref.Over = true, 9
	refuses, dear := at("refuses", 0.1, 1), at("dear", 1.3, 0.99)
	refuses.Refused = 1
	fits, useless := at("raw", 1, 1), at("useless", 1, 1)
	fits.Reference, useless.Over = true, 9
	for _, c := range []struct {
		list []Total
		take string
		says []string
		not  []string
	}{
		{[]Total{cheap, worse, ref, rich}, "rich", []string{"60.0 %", "99.0 %", "the cheapest that has 95 %", "cheap costs 40.0 % and had 90.0 %", "sending everything leaves 9 of 50 calls above the window", "50.0–70.0 %, which is less"}, []string{"worse"}},
		{[]Total{refuses, worse}, "worse", []string{"refuses leaves 1 of 50 calls above the window"}, []string{"not certain"}},
		{[]Total{refuses}, "refuses", []string{"leaves 1 of"}, nil},
		{[]Total{cheap, at("cheaper", 0.3, 0.8)}, "cheap", []string{"no policy has 95 %, and this one has the most", "cheaper costs 30.0 %"}, nil},
		{[]Total{dear}, "dear", []string{"It saves no money on these sessions: the gain is calls that fit"}, []string{"not certain"}},
		{[]Total{dear, ref}, "dear", []string{"It saves no money on these sessions: the gain is calls that fit"}, nil},
		{[]Total{dear, fits}, "dear", []string{"It saves no money on these sessions, and every call fits the window without it"}, []string{"gives"}},
		{[]Total{useless, ref}, "useless", []string{"It saves no money on these sessions, and leaves 9 of 50 calls above the window"}, []string{"gives"}},
		{[]Total{at("even", 0.97, 0.99)}, "even", []string{"That it saves money is not certain", "87.0–107.0 %"}, nil},
	} {
		v := verdictOf(c.list, 12)
		if v == nil || v.Policy != c.take {
			t.Errorf("%+v, want %s to be taken", v, c.take)
			continue
		}
		all := v.Words + sentences(v.Sure) + sentences(v.Besides) + strings.Join(v.Besides, " ")
		for _, want := range c.says {
			if !strings.Contains(all, want) {
				t.Errorf("%s: %q is not said: %s", c.take, want, all)
			}
		}
		for _, never := range c.not {
			if strings.Contains(all, never) {
				t.Errorf("%s: the verdict contains %q: %s", c.take, never, all)
			}
		}
	}
	if verdictOf([]Total{ref}, 12) != nil {
		t.Error("verdictOf returns a verdict for references alone")
	}
	if few := sentences(verdictOf([]Total{rich}, 3).Sure); !strings.Contains(few, "3 sessions: too few") {
		t.Error(few)
	}
}

func TestTheFirstWordsOfMessagesAreRedacted(t *testing.T) {
	s := session("a", 60)
	secret := "AKIA" + "Q7ZK3MPL" + "W2XRT6NB"
	s.Messages[2].Parts[0].Text = "aws_access_key_id = " + secret
	page := pageOf(t, Options{Policies: []Policy{preset(t, "graduated")}, Windows: []int{8000}}, s)
	if strings.Contains(page, secret) || !strings.Contains(page, "REDACTED") {
		t.Error("the page contains a secret")
	}
}

// The cheapest policy that keeps enough of the needed text is chosen. A policy that saves
// nothing is said to be unnecessary only if every call fits without it.
func TestTheCheapestOfTheGoodPoliciesIsChosen(t *testing.T) {
	dear, cheap := Total{Policy: "dear", OfRaw: Interval{Value: 0.9}, Held: Interval{Value: 0.99}}, Total{Policy: "cheap", OfRaw: Interval{Value: 0.5}, Held: Interval{Value: 0.96}}
	lean := Total{Policy: "lean", OfRaw: Interval{Value: 0.1}, Held: Interval{Value: 0.5}}
	for _, front := range [][]*Total{{&dear, &cheap, &lean}, {&lean, &cheap, &dear}} {
		if take, _ := choose(front); take != &cheap {
			t.Errorf("%s is chosen", take.Policy)
		}
	}
	raw := Total{Policy: "raw", Reference: true}
	for over, want := range map[int]bool{0: true, 3: false} {
		raw.Over = over
		if got := noGain(&dear, []Total{raw, dear}); strings.Contains(got, "every call fits the window without it") != want {
			t.Errorf("%d calls of raw above the window: %s", over, got)
		}
	}
}
