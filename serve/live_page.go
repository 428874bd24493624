package serve

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/chart"
)

//go:embed live.html
var liveSource string

//go:embed live.js
var liveScript string

var livePage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("live").Funcs(template.FuncMap{
		"thousands": thousands,
		"usd":       usd,
		"clock":     func(t time.Time) string { return t.Format("15:04:05") },
		"share":     share,
		"plural":    plural,
		"style":     func() template.CSS { return template.CSS(chart.Style) },             //nolint:gosec // a file of this project
		"script":    func() template.JS { return template.JS(chart.Script + liveScript) }, //nolint:gosec // likewise
	}).Parse(liveSource))
})

// livePolicy lets the page only draw itself and request updates.
const livePolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// pageOf returns the handler of / and /live, or nil for a request that does not
// come from this machine. Such requests come from another address, have a foreign
// host name (as after a DNS rebinding), or come through a proxy.
func (h *Handler) pageOf(r *http.Request) http.HandlerFunc {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !isLoopback(r.RemoteAddr) || !isLoopback(r.Host) || isForwarded(r.Header) {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if !h.allowed(r, true) {
			w.Header().Set("WWW-Authenticate", `Basic realm="compact: any name, and the token as password"`)
			refuse(w, r.URL.Path, http.StatusUnauthorized, "this page requires the token of the proxy, as the password")
			return
		}
		h.showLive(w, r, map[string]string{"/": "page", "/live": "main"}[r.URL.Path])
	}
}

// isForwarded reports whether a request comes from a proxy: the proxy may run on this
// machine, but its client may be anywhere.
func isForwarded(h http.Header) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"} {
		if h.Get(name) != "" {
			return true
		}
	}
	return false
}

// isLoopback reports whether an address, with or without a port, is this
// machine's own.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// showLive writes the page, or the part of it that changes. It answers 304 if nothing
// was added since the browser's version.
func (h *Handler) showLive(w http.ResponseWriter, r *http.Request, part string) {
	tag := h.live.tag()
	head := w.Header()
	head.Set("Etag", tag)
	head.Set("Cache-Control", "no-cache")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	view := h.live.view(h.cfg.Observe)
	head.Set("Etag", view.tag)
	var b bytes.Buffer
	if err := livePage().ExecuteTemplate(&b, part, view); err != nil {
		refuse(w, r.URL.Path, http.StatusInternalServerError, "the page can't be drawn: "+err.Error())
		return
	}
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Security-Policy", livePolicy)
	head.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(b.Bytes())
}

// liveView is the data of the page's template.
type liveView struct {
	liveSum
	Began     time.Time
	Observed  bool
	Seen      int
	Sessions  []sessionView // the session with the latest call first
	Failures  []failure     // the newest first
	Failed    int
	TokenWide template.HTML
	TokenThin template.HTML
	MoneyWide template.HTML
	MoneyThin template.HTML

	tag string
}

// sessionView is a session, with its curves.
type sessionView struct {
	liveSession
	Last        []liveCompaction // the newest first
	Wide, Thin  template.HTML
	OfTheWindow string
}

// tag returns the ETag of the current content.
func (l *live) tag() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tagged()
}

// tagged is tag; l.mu is held.
func (l *live) tagged() string { return fmt.Sprintf(`"%d-%d"`, l.began.UnixNano(), l.changes) }

// view draws the current content. It draws a copy, so no call waits for it.
func (l *live) view(observed bool) liveView { return l.copied().draw(observed) }

// copied returns a copy of the content, for one reader.
func (l *live) copied() *live {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := &live{changes: l.changes, began: l.began, seen: l.seen, total: l.total, failed: l.failed,
		line: slices.Clone(l.line), failures: slices.Clone(l.failures), sessions: make(map[string]*liveSession, len(l.sessions))}
	for id, s := range l.sessions {
		one := *s
		one.points, one.compactions = slices.Clone(s.points), slices.Clone(s.compactions)
		own.sessions[id] = &one
	}
	return own
}

// draw returns the view of a copy.
func (l *live) draw(observed bool) liveView {
	v := liveView{liveSum: l.total, Began: l.began, Observed: observed, Seen: l.seen, Failed: l.failed, tag: l.tagged()}
	v.Failures = slices.Clone(l.failures)
	slices.Reverse(v.Failures)
	v.TokenWide, v.TokenThin = drawn(func(class string, width float64) string { return sums(l.line, l.began, class, width, tokenSums) })
	if l.total.Calls > l.total.Unpriced {
		v.MoneyWide, v.MoneyThin = drawn(func(class string, width float64) string { return sums(l.line, l.began, class, width, moneySums) })
	}
	list := slices.SortedFunc(maps.Values(l.sessions), func(a, b *liveSession) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.No, a.No)) })
	for _, s := range list {
		one := sessionView{liveSession: *s, Last: slices.Clone(s.compactions), OfTheWindow: share(s.View, s.Window)}
		slices.Reverse(one.Last)
		one.Wide, one.Thin = drawn(s.curve)
		v.Sessions = append(v.Sessions, one)
	}
	return v
}

// drawn returns a picture for a desktop and one for a phone.
func drawn(draw func(class string, width float64) string) (wide, narrow template.HTML) {
	return template.HTML(draw("wide", 860)), template.HTML(draw("narrow", 380)) //nolint:gosec // made here, of numbers and escaped texts
}

// share returns n of a total in percent.
func share(n, of int) string {
	if of <= 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(of))
}

// Less describes the savings in tokens, as a sentence.
func (v liveView) Less() string {
	if v.History <= 0 {
		return ""
	}
	return fmt.Sprintf("%s tokens of prompts in place of %s (%s)", thousands(v.Sent), thousands(v.History), share(v.Sent, v.History))
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

func usd(v float64) string {
	if v > 0 && v < 0.01 {
		return "less than $0.01"
	}
	return fmt.Sprintf("$%.2f", v)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}
