package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
)

const observability = "../../docs/OBSERVABILITY.md"

// recipes returns the blocks of a language in docs/OBSERVABILITY.md, without the
// indent that they have in a list.
func recipes(t *testing.T, language string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(observability)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^( *)```"+language+"\n(.*?)^ *```$").FindAllStringSubmatch(string(text), -1) {
		all = append(all, strings.TrimPrefix(strings.ReplaceAll("\n"+m[2], "\n"+m[1], "\n"), "\n"))
	}
	if len(all) == 0 {
		t.Fatalf("no block of %s", language)
	}
	return all
}

func loaded(t *testing.T, text string, environ ...string) compact.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "compact.yaml")
	if err := os.WriteFile(file, []byte("model: gpt-4\nstorage: {adapter: memory}\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := configs.Load(file, configs.Environ(environ))
	if err != nil {
		t.Errorf("%s\n%v", text, err)
	}
	return c
}

// The files on the page can be loaded, and each sets something.
func TestFilesOfThePageOnObservability(t *testing.T) {
	before := loaded(t, "")
	for _, block := range recipes(t, "yaml") {
		if strings.HasPrefix(block, "scrape_configs:") {
			scrapes(t, block)
		} else if c := loaded(t, block); cmp.Equal(before.Trace, c.Trace) {
			t.Errorf("this file of the page sets nothing:\n%s", block)
		}
	}
}

// scrapes checks a configuration of Prometheus, if promtool is installed.
func scrapes(t *testing.T, block string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "prometheus.yaml")
	if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool := "../../.bin/prometheus/usr/bin/promtool"
	if _, err := os.Stat(promtool); err != nil {
		t.Logf("promtool is missing: run .ci/prometheus .bin/prometheus to get it")
		return
	}
	if out, err := exec.CommandContext(t.Context(), promtool, "check", "config", file).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// Each variable on the page sets a setting of trace.
func TestVariablesOfThePageOnObservability(t *testing.T) {
	text, err := os.ReadFile(observability)
	if err != nil {
		t.Fatal(err)
	}
	before := loaded(t, "")
	values := []struct{ ending, value string }{{"URL", "http://127.0.0.1:9"}, {"ENDPOINT", "http://127.0.0.1:9"}, {"TIMEOUT", "7s"}, {"INTERVAL", "7s"}, {"SERVICE", "agent"}, {"CONTENT", "true"}}
	names := regexp.MustCompile(`COMPACT_[A-Z_]+[A-Z]`).FindAllString(string(text), -1)
	if len(names) < 6 {
		t.Fatalf("%q", names)
	}
	for _, name := range names {
		set := ""
		for _, v := range values {
			if strings.HasSuffix(name, v.ending) {
				set = v.value
			}
		}
		if c := loaded(t, "", name+"="+set); set == "" || cmp.Equal(before.Trace, c.Trace) {
			t.Errorf("%s=%s sets nothing", name, set)
		}
	}
}
