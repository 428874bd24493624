package serve_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/serve"
)

// The page shows the results of the calls, with the same numbers as Stats, and
// each compaction.
func TestPageShowsCallsAndCompactions(t *testing.T) {
	r := newRig(t, compact.Config{}, serve.Config{})
	if _, page := r.do(r.request("GET", "/", "")); !strings.Contains(page, "No model call since") {
		t.Errorf("before the first call: %s", page)
	}
	f := forms()[0]
	for n := 20; n <= 80; n += 20 {
		r.post(f, f.body("Fix it.", n, 300))
	}
	r.do(r.request("POST", f.path, f.body("Something else <b>.", 1, 10), "X-Compact-Session", "<img src=x>"))
	resp, page := r.do(r.request("GET", "/", ""))
	text := wordsOf(page)
	s := r.h.Stats()
	for _, want := range []string{
		fmt.Sprintf("%s tokens of prompts in place of %s", digits(s.Sent), digits(s.History)), "2 sessions", "5 calls", fmt.Sprintf("%d compaction", s.Compactions), "0 failures",
		"<img src=x> · 1 call", "s · 4 calls", "because", "gpt-4o",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if s.Compactions == 0 || strings.Count(page, `class="mark"`) != 2*s.Compactions {
		t.Errorf("%d compactions, %d marks in two pictures", s.Compactions, strings.Count(page, `class="mark"`))
	}
	if strings.Contains(page, "<img") || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Error("a session's name is markup, or may load something")
	}
	part, _ := r.do(r.request("GET", "/live", ""))
	if again, _ := r.do(r.request("GET", "/live", "", "If-None-Match", part.Header.Get("Etag"))); again.StatusCode != http.StatusNotModified {
		t.Errorf("the answer for an unchanged part is %s, want 304", again.Status)
	}
	r.post(f, f.body("Fix it.", 81, 300))
	if again, _ := r.do(r.request("GET", "/live", "", "If-None-Match", part.Header.Get("Etag"))); again.StatusCode != http.StatusOK {
		t.Errorf("a call is new: %s", again.Status)
	}
}

// Observed compactions are not shown as made.
func TestPageStatesThatCallsAreOnlyObserved(t *testing.T) {
	r := newRig(t, compact.Config{}, serve.Config{Observe: true})
	f := forms()[4]
	r.post(f, f.body("Fix it.", 80, 300))
	waitFor(t, func() bool { return r.h.Stats().Calls == 1 }) // the observation runs in the background
	if _, page := r.do(r.request("GET", "/", "")); !strings.Contains(page, "No request is changed") || !strings.Contains(wordsOf(page), "1 compaction") {
		t.Error(wordsOf(page))
	}
}

// A call for which the provider billed nothing is in no sum of tokens or money, on the page
// and in Stats, also if calls are only observed.
func TestUnbilledCallsAreInNoSum(t *testing.T) {
	for _, observes := range []bool{false, true} {
		r := newRig(t, compact.Config{}, serve.Config{Observe: observes})
		f := forms()[0]
		call := func(n int) serve.Stats {
			r.post(f, f.body("Fix it.", 20, 300))
			waitFor(t, func() bool { s := r.h.Stats(); return s.Requests == n && s.Calls == n && s.Unbilled == max(n-1, 0) }) // an observation runs in the background
			return r.h.Stats()
		}
		want := call(1)
		r.server.Fail(provider.Failure{Status: 529}, provider.Failure{Status: 429, RetryAfter: time.Second})
		call(2)
		got := call(3)
		want.Requests, want.Calls, want.Unbilled = 3, 3, 2
		if math.Abs(got.With-want.With)+math.Abs(got.Without-want.Without) > 1e-9 || got.With == 0 {
			t.Errorf("observes %v: $%g of $%g, want $%g of $%g", observes, got.With, got.Without, want.With, want.Without)
		}
		if got.With, got.Without = want.With, want.Without; got != want {
			t.Errorf("observes %v: %+v, want %+v", observes, got, want)
		}
		_, page := r.do(r.request("GET", "/", ""))
		for _, says := range []string{
			fmt.Sprintf("%s tokens of prompts in place of %s", digits(want.Sent), digits(want.History)), "3 calls", "billed nothing for 2 calls",
			fmt.Sprintf("%s tokens instead of %s", digits(want.Sent), digits(want.History)), // of the session
		} {
			if !strings.Contains(wordsOf(page), says) {
				t.Errorf("observes %v: the page does not say %q", observes, says)
			}
		}
	}
}

// The page is for users of this machine. It is refused to the network, to a foreign
// page with a host name that resolves to this machine, and, if a token is set, to
// requests without the token.
func TestPageIsServedToThisMachineOnly(t *testing.T) {
	m, err := compact.New(t.Context(), compact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(t.Context()) })
	h, err := serve.New(m, serve.Config{Token: "open-sesame"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, remote, host, user, password string
		status                               int
	}{
		{"GET", "127.0.0.1:5", "localhost:8484", "", "open-sesame", 200}, {"GET", "[::1]:5", "[::1]:8484", "any", "open-sesame", 200}, {"HEAD", "127.0.0.9:5", "127.0.0.1", "", "open-sesame", 200},
		{"GET", "127.0.0.1:5", "localhost:8484", "open-sesame", "", 401}, {"GET", "127.0.0.1:5", "localhost:8484", "", "wrong", 401},
		{"GET", "192.0.2.1:5", "localhost:8484", "", "open-sesame", 404}, {"GET", "127.0.0.1:5", "evil.example", "", "open-sesame", 404}, {"GET", "127.0.0.1:5", "localhost.evil.example:8484", "", "open-sesame", 404},
		{"POST", "127.0.0.1:5", "localhost:8484", "", "open-sesame", 404},
	} {
		for _, path := range []string{"/", "/live"} {
			r := httptest.NewRequest(c.method, path, nil)
			r.RemoteAddr, r.Host = c.remote, c.host
			r.SetBasicAuth(c.user, c.password)
			r.Header.Set("X-Compact-Token", map[int]string{404: "open-sesame"}[c.status])
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.status || (c.status == 401) != (w.Header().Get("WWW-Authenticate") != "") {
				t.Errorf("%+v %s: %d", c, path, w.Code)
			}
		}
	}
}

// A request through a proxy on this machine may come from anywhere.
func TestPageIsNotServedThroughAProxy(t *testing.T) {
	r := newRig(t, compact.Config{}, serve.Config{})
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"} {
		if resp, _ := r.do(r.request("GET", "/", "", name, "192.0.2.1")); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", name, resp.Status)
		}
	}
	if resp, _ := r.do(r.request("GET", "/", "")); resp.StatusCode != http.StatusOK {
		t.Errorf("without a proxy: %s", resp.Status)
	}
}

// Chromium shows new calls without a reload, on a desktop and on a phone, and
// keeps opened parts open.
func TestThePageIsLive(t *testing.T) {
	browser := browser(t)
	for _, width := range []int{1400, 400} {
		r := newRig(t, compact.Config{}, serve.Config{})
		f := forms()[0]
		r.post(f, f.body("Fix it.", 60, 300))
		asked := 0
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/live" {
				if asked++; asked == 2 { // the first answer has nothing new
					r.post(f, f.body("Fix it.", 61, 300))
				}
			}
			rec := httptest.NewRecorder()
			r.h.ServeHTTP(rec, req)
			body := rec.Body.String()
			if req.URL.Path == "/" {
				body += liveLooker
			}
			for k, v := range rec.Header() {
				w.Header()[k] = v
			}
			w.WriteHeader(rec.Code)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(front.Close)
		out, err := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"),
			fmt.Sprintf("--window-size=%d,900", width), "--virtual-time-budget=9000", "--dump-dom", front.URL+"/").Output()
		if err != nil {
			t.Skipf("the browser does not run here: %v", err)
		}
		found := regexp.MustCompile(`(?s)<pre id="seen">(.*?)</pre>`).FindSubmatch(out)
		if found == nil {
			t.Fatalf("the page was not examined: %s", out)
		}
		var seen struct {
			Before, After   string
			Opened          bool
			Overflow        int
			Tip, Status     string
			PicturesInSight int
		}
		if err := json.Unmarshal(found[1], &seen); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(seen.Before, "1 call,") || !strings.Contains(seen.After, "2 calls,") || !seen.Opened || seen.Overflow > 0 || seen.Status != "live" ||
			!strings.Contains(seen.Tip, "tokens by") || seen.PicturesInSight != 2 {
			t.Errorf("%d pixels: %+v", width, seen)
		}
	}
}

// liveLooker opens the session, waits for new calls, and returns the content.
const liveLooker = `<script>(() => {
  const first = () => document.querySelector("details summary").textContent, visible = e => e.getClientRects().length > 0;
  const seen = { Before: first() };
  document.querySelector("details").open = true;
  const look = () => {
    if (first() === seen.Before) return setTimeout(look, 200);
    seen.After = first();
    seen.Opened = document.querySelector("details").open;
    seen.Overflow = document.documentElement.scrollWidth - innerWidth;
    const mark = [...document.querySelectorAll(".mark")].find(visible);
    mark.focus();
    if (document.activeElement === mark && !document.hasFocus()) mark.dispatchEvent(new FocusEvent("focus"));
    seen.Tip = document.getElementById("tip").textContent;
    seen.Status = document.getElementById("status").textContent;
    seen.PicturesInSight = [...document.querySelectorAll("svg")].filter(visible).length - [...document.querySelectorAll("svg")].filter(e => visible(e) && e.getAttribute("aria-label").startsWith("What the prompts")).length;
    const pre = document.createElement("pre");
    pre.id = "seen";
    pre.textContent = JSON.stringify(seen);
    document.body.append(pre);
  };
  setTimeout(look, 200);
})()</script>`

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

var tags = regexp.MustCompile(`(?s)<(style|script).*?</(style|script)>|<[^>]*>`)

// wordsOf returns the visible text of a page.
func wordsOf(page string) string {
	text := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&amp;", "&").Replace(tags.ReplaceAllString(page, ""))
	return strings.Join(strings.Fields(text), " ")
}

// digits returns a number as people write it.
func digits(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
