package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const proxyRoot = "http://127.0.0.1:1"

// told returns the settings with which an agent starts.
func told(t *testing.T, upstreams []string, args []string, environ ...string) *agentSettings {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "cache"))
	to, err := tell(proxyRoot, upstreams, args, environ)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(to.done)
	return to
}

func TestAgentsThatIgnoreVariablesAreConfiguredAnotherWay(t *testing.T) {
	const codexURL = `openai_base_url="` + proxyRoot + `/openai/v1"`
	login := []string{"openai=https://chatgpt.com/backend-api/codex"}
	for _, c := range []struct {
		name, args string
		upstreams  []string
		env        string
		want       string
	}{
		{"key", "codex exec x", nil, "OPENAI_API_KEY=k", "codex|-c|" + codexURL + "|exec|x"},
		{"a path", "/usr/bin/codex", nil, "CODEX_API_KEY=k", "/usr/bin/codex|-c|" + codexURL},
		{"a login with an unknown upstream", "codex exec", nil, "OPENAI_API_KEY=", "codex|exec"},
		{"a login with its upstream", "codex", login, "", `codex|-c|openai_base_url="` + proxyRoot + `/openai"`},
		{"an upstream for another agent", "codex", []string{"anthropic=http://a"}, "", "codex"},
		{"its own base URL", "codex -c openai_base_url=x", nil, "OPENAI_API_KEY=k", "codex|-c|openai_base_url=x"},
		{"its own provider", "codex -c model_provider=x", nil, "OPENAI_API_KEY=k", "codex|-c|model_provider=x"},
		{"pi, without a conversation", "pi install x", nil, "", "pi|install|x"},
		{"another", "claude -p x", nil, "OPENAI_API_KEY=k", "claude|-p|x"},
	} {
		to := told(t, c.upstreams, strings.Fields(c.args), c.env)
		if got := strings.Join(to.args, "|"); got != c.want || to.dir != "" {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPiIsGivenAnExtensionForThisRun(t *testing.T) {
	to := told(t, nil, []string{"pi", "-p", "x"})
	if len(to.args) != 5 || to.args[1] != "-e" || to.args[3] != "-p" {
		t.Fatalf("%q", to.args)
	}
	text, err := os.ReadFile(to.args[2])
	if err != nil || !strings.Contains(string(text), proxyRoot+"/gemini/v1beta") || strings.Contains(string(text), "ROOT") {
		t.Errorf("%s %v", text, err)
	}
	to.done()
	if _, err := os.Stat(to.dir); !os.IsNotExist(err) {
		t.Errorf("%s still exists: %v", to.dir, err)
	}
}

func TestGeminiCLIKeepsItsLoginByKey(t *testing.T) {
	const name = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"
	to := told(t, nil, []string{"gemini"}, "GEMINI_API_KEY=k")
	text, err := os.ReadFile(to.get(name))
	if err != nil || !strings.Contains(string(text), "gemini-api-key") {
		t.Errorf("%s %v", text, err)
	}
	for _, env := range [][]string{{"GEMINI_API_KEY="}, {"GEMINI_API_KEY=k", name + "=/mine"}} {
		if to := told(t, nil, []string{"gemini"}, env...); to.dir != "" || slices.Contains(env, name+"=/mine") != (to.get(name) == "/mine") {
			t.Errorf("%q: %q", env, to.get(name))
		}
	}
}

// A variable that the user has set keeps its value.
func TestOpenCodeIsConfiguredByItsFile(t *testing.T) {
	const name = "OPENCODE_CONFIG_CONTENT"
	url := func(content, provider string) string {
		var c struct {
			Provider map[string]struct{ Options struct{ BaseURL string } }
		}
		if err := json.Unmarshal([]byte(content), &c); err != nil {
			t.Fatal(err)
		}
		return c.Provider[provider].Options.BaseURL
	}
	to := told(t, nil, []string{"opencode", "run"})
	if content := to.get(name); url(content, "anthropic") != proxyRoot+"/anthropic/v1" || url(content, "openai") != proxyRoot+"/openai/v1" || url(content, "google") != proxyRoot+"/gemini/v1beta" {
		t.Error(content)
	}
	to = told(t, nil, []string{"opencode"}, name+`={"model":"m","provider":{"openai":{"options":{"baseURL":"mine","timeout":5}}}}`)
	if content := to.get(name); url(content, "openai") != "mine" || !strings.Contains(content, `"timeout":5`) || !strings.Contains(content, `"model":"m"`) || url(content, "google") == "" {
		t.Error(content)
	}
	to = told(t, nil, []string{"opencode"}, name+`={ // mine`)
	if content := to.get(name); content != "{ // mine" {
		t.Error(content)
	}
}
