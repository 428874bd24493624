package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/spool"
	"github.com/agentcompact/compact/strategy"
)

const dashboards = "../docs/dashboards"

// tool finds a program of Prometheus: in the folder of .ci/prometheus, or in the
// PATH.
func tool(t *testing.T, name string) string {
	t.Helper()
	for _, path := range []string{filepath.Join("..", ".bin", "prometheus", "usr", "bin", name), name} {
		if found, err := exec.LookPath(path); err == nil {
			if found, err = filepath.Abs(found); err == nil {
				return found
			}
		}
	}
	if os.Getenv("COMPACT_PROMETHEUS") == "require" {
		t.Fatalf("%s is required, and is missing", name)
	}
	t.Skipf("%s is missing: run .ci/prometheus .bin/prometheus to get it", name)
	return ""
}

// All alerts fire in a night with every failure, and none in a quiet night; each
// has advice.
func TestAlertsFireWhenTheyShould(t *testing.T) {
	if testing.Short() {
		t.Skip("this test takes a second of processor time")
	}
	promtool := tool(t, "promtool")
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = dashboards
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
	rules, err := os.ReadFile(filepath.Join(dashboards, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := os.ReadFile(filepath.Join(dashboards, "alerts_test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range strings.Split(string(rules), "- alert: ")[1:] {
		name, _, _ := strings.Cut(rule, "\n")
		if !strings.Contains(string(cases), `alertname="`+name+`"`) || !strings.Contains(rule, "severity: ") || !strings.Contains(rule, "description: ") {
			t.Errorf("%s: no case, no severity, or no description", name)
		}
	}
}

// board returns the queries of the dashboard by panel.
func board(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dashboards, "compact.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
		Annotations struct{ List []struct{ Name, Expr string } }
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("$__rate_interval", "1m", "$job", ".*", "$instance", ".*")
	queries := map[string]string{}
	for _, p := range b.Panels {
		for _, target := range p.Targets {
			queries[p.Title+" / "+target.LegendFormat] = fill.Replace(target.Expr)
		}
	}
	if len(queries) < 50 {
		t.Fatalf("%d queries", len(queries))
	}
	return queries
}

// prometheus runs a real Prometheus that scrapes proxies, until the end of the
// test.
func prometheus(t *testing.T, targets ...string) (base string) {
	t.Helper()
	program, dir := tool(t, "prometheus"), t.TempDir()
	rules, err := filepath.Abs(filepath.Join(dashboards, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	for i := range targets {
		targets[i] = strconv.Quote(strings.TrimPrefix(targets[i], "http://"))
	}
	conf := filepath.Join(dir, "prometheus.yaml")
	text := fmt.Sprintf("global: {scrape_interval: 200ms, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n  - job_name: compact\n    static_configs: [{targets: [%s]}]\n", rules, strings.Join(targets, ", "))
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--config.file", conf, "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("prometheus: %v\n%s", err, text)
		}
		log.Close()
	})
	waitFor(t, func() bool {
		resp, err := http.Get("http://" + address + "/-/ready")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return "http://" + address
}

// query runs a query; values that are not numbers are left out.
func query(t *testing.T, base, expr string) (numbers []float64) {
	t.Helper()
	resp, err := http.Get(base + "/api/v1/query?query=" + url.QueryEscape(expr))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Status != "success" {
		t.Fatalf("%s: %v %s", expr, err, answer.Error)
	}
	for _, r := range answer.Data.Result {
		text, _ := r.Value[1].(string)
		if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) {
			numbers = append(numbers, v)
		}
	}
	return numbers
}

// model writes summaries like a model on the network; it fails at first, once
// with a transient error and once with a permanent one.
type model struct{ asked atomic.Int64 }

func (*model) Describe() strategy.Info {
	return strategy.Info{Name: "openai", Model: "gpt-4o-mini", Window: 128_000, Remote: true}
}

func (m *model) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	switch m.asked.Add(1) {
	case 1:
		return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrTransient, Status: http.StatusServiceUnavailable}
	case 2, 4:
		return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrRejected, Status: http.StatusBadRequest}
	}
	return strategy.Draft{Text: "## Goals\n- Fix it.\n", PromptTokens: 900, CompletionTokens: 12}, nil
}

// A real Prometheus scrapes a compacting and an observing proxy; each query of
// the dashboard has data, and all queries are valid.
func TestEachQueryOfTheBoardHasData(t *testing.T) {
	if testing.Short() {
		t.Skip("this test takes seconds")
	}
	promtool := tool(t, "promtool")
	disk, err := spool.Open(t.TempDir(), memory.New(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = disk.Close(context.Background()) })
	compacts := newRig(t, compact.Config{Preset: "summarize", Summarize: &model{}, Archive: disk}, serve.Config{})
	observes := newRig(t, compact.Config{Observe: true}, serve.Config{Observe: true})
	base := prometheus(t, compacts.url, observes.url)
	waiting := board(t)
	n := 0
	traffic := func() { // a session that grows until it is compacted, and a new one
		for _, f := range forms()[:6] {
			body := f.body(fmt.Sprintf("Fix bug %d.", n), 10+n%50, 300)
			n++
			for _, r := range []*rig{compacts, observes} {
				r.do(r.request("POST", f.path, body, "X-Compact-Session", fmt.Sprint(n/20)))
			}
		}
	}
	for deadline := time.Now().Add(90 * time.Second); len(waiting) > 0 && time.Now().Before(deadline); {
		traffic()
		time.Sleep(300 * time.Millisecond)
		for name, expr := range waiting {
			if len(query(t, base, expr)) > 0 {
				delete(waiting, name)
			}
		}
	}
	for name, expr := range waiting {
		t.Errorf("%s has no data: %s", name, expr)
	}
	if got := query(t, base, `up{job="compact"} == 1`); len(got) != 2 {
		t.Errorf("%d of 2 proxies are scraped", len(got))
	}
	if got := query(t, base, `sum(compact_compactions_total)`); len(got) != 1 || got[0] == 0 {
		t.Errorf("compactions: %v", got)
	}
	for _, r := range []*rig{compacts, observes} {
		check := exec.CommandContext(t.Context(), promtool, "check", "metrics")
		check.Stdin = strings.NewReader(r.metrics())
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("promtool check metrics: %v\n%s", err, out)
		}
	}
}
