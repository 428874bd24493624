package serve_test

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
	"github.com/agentcompact/compact/storage"
)

// The keys of requests, including keys in wrong places, never appear in a log, a metric, a
// page, an answer of this module, or an archive, even if a request fails.
func TestAPIKeysAppearNowhere(t *testing.T) {
	key := "sk-proj-" + "Qx7Lm2Vt9Rb4Ks6Wd1" + "Zc8Hn3Yp5Gf0Jq7Tu2Ea"
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Header.Get("X-Fail") != "" {
			panic(http.ErrAbortHandler)
		}
		if !strings.Contains(strings.Join(r.Header["Authorization"], "")+strings.Join(r.Header["X-Api-Key"], "")+r.URL.RawQuery, key) {
			t.Errorf("%s: the key did not arrive", r.URL.Path)
		}
	})
	r := newRigTo(t, up, compact.Config{}, serve.Config{})
	for _, f := range forms() {
		path := f.path + "?key=" + key
		if strings.Contains(f.path, "?") {
			path = f.path + "&key=" + key
		}
		for _, fail := range []string{"", "yes"} {
			for _, body := range []string{f.body("Fix it.", 60, 300), "{", f.body(strings.Repeat("word ", 30_000), 1, 1)} {
				req := r.request("POST", path, body, "X-Fail", fail)
				req.Header.Set("Authorization", "Bearer "+key)
				if f.wire == "anthropic" {
					req.Header.Set("X-Api-Key", key)
				}
				if _, answer := r.do(req); strings.Contains(answer, key) {
					t.Errorf("%v: the answer has the key: %s", f, answer)
				}
			}
		}
	}
	r.do(r.request("GET", "/openai/"+key+"/x?key="+key, "", "Authorization", key))
	r.do(r.request("GET", "/nothing/"+key, "", "Authorization", key))
	odd := r.request("POST", forms()[0].path, strings.ReplaceAll(forms()[0].body("Fix it.", 60, 300), "gpt-4o", key), "X-Compact-Session", key, "X-Compact-Agent", key)
	odd.Header.Set("Authorization", "Bearer "+key)
	r.do(odd)
	_, metrics := r.do(r.request("GET", "/metrics", ""))
	for _, path := range []string{"/", "/live"} {
		if _, page := r.do(r.request("GET", path, "")); strings.Contains(page, key) || !strings.Contains(page, "calls") {
			t.Errorf("%s: %s", path, page)
		}
	}
	if err := r.m.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(metrics, key) || strings.Contains(r.log.String(), key) || !strings.Contains(r.log.String(), "/v1/messages") {
		t.Errorf("metrics or log: %s", r.log)
	}
	files := 0
	for info, err := range r.archive.List(context.Background(), storage.Key{}) {
		if err != nil {
			t.Fatal(err)
		}
		in, err := r.archive.Open(context.Background(), info.Key, 0, info.Size)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(in)
		if files++; strings.Contains(string(data), key) || strings.Contains(info.Key.String(), key) {
			t.Errorf("%v has the key", info.Key)
		}
	}
	if files == 0 {
		t.Error("nothing was archived")
	}
}

func TestTokenIsRequiredAndKept(t *testing.T) {
	r := newRigTo(t, echo(t), compact.Config{}, serve.Config{Token: "proxy-token-1"})
	for _, c := range []struct {
		path, header, value string
		status              int
	}{
		{"/openai/v1/x", "X-Compact-Token", "proxy-token-1", 200}, {"/openai/v1/x", "X-Compact-Token", "proxy-token-2", 401}, {"/openai/v1/x", "X-Compact-Token", "", 401},
		{"/openai/v1/x", "Authorization", "Bearer proxy-token-1", 401}, {"/metrics", "Authorization", "Bearer proxy-token-1", 200}, {"/metrics", "Authorization", "Basic proxy-token-1", 401},
		{"/metrics", "X-Compact-Token", "proxy-token-1", 200}, {"/metrics", "X-Other", "x", 401}, {"/healthz", "X-Other", "x", 200}, {"/readyz", "X-Other", "x", 200}, {"/nothing", "X-Other", "x", 401},
	} {
		resp, answer := r.do(r.request("GET", c.path, "", c.header, c.value))
		if resp.StatusCode != c.status || resp.Header.Get("X-Got-X-Compact-Token") != "" {
			t.Errorf("%s with %s: %s: %s %s", c.path, c.header, c.value, resp.Status, answer)
		}
	}
	if strings.Contains(r.log.String(), "proxy-token-1") {
		t.Error("the log has the token")
	}
}

// Prometheus can read /metrics: each line is a comment or a sample, each sample belongs to
// the metric announced before it, and histograms add up.
func TestMetricsAreInPrometheusForm(t *testing.T) {
	r := newRig(t, compact.Config{}, serve.Config{})
	for _, f := range forms() {
		r.post(f, f.body("Fix it.", 60, 300))
	}
	r.do(r.request("GET", "/nothing", ""))
	r.metrics()
	resp, text := r.do(r.request("GET", "/metrics", ""))
	if resp.Header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Error(resp.Header)
	}
	sample := regexp.MustCompile(`^([a-z_]+?)(_bucket|_sum|_count)?(\{[a-z_]+="[^"\\]*"(?:,[a-z_]+="[^"\\]*")*\})? ([0-9.e+-]+)$`)
	bound := regexp.MustCompile(`,?le="[^"]*"`)
	name, kind, of, last, seen := "", "", "", 0, map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if words := strings.Fields(line); words[0] == "#" {
			if words[1] == "TYPE" {
				name, kind, last = words[2], words[3], 0
			}
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil || m[1] != name && m[1]+m[2] != name || seen[m[1]+m[2]+m[3]] || kind == "counter" && !strings.HasSuffix(name, "_total") {
			t.Errorf("%q in %s", line, name)
			continue
		}
		seen[m[1]+m[2]+m[3]] = true
		if m[2] == "_bucket" || m[2] == "_count" {
			if labels := strings.Replace(bound.ReplaceAllString(m[3], ""), "{}", "", 1); labels != of || m[1] != name {
				of, last = labels, 0
			}
			n, err := strconv.Atoi(m[4])
			if err != nil || n < last {
				t.Errorf("%q after %d", line, last)
			}
			last = n
		}
	}
	if r.metric(`compact_requests_total{provider="anthropic",status="200"}`) != "2" || r.metric(`compact_refused_total{status="404"}`) != "1" || r.metric("compact_ready_seconds_count") != strconv.Itoa(len(forms())) {
		t.Error(text)
	}
}
