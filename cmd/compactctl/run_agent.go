package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// agentSettings holds the settings that an agent is started with.
type agentSettings struct {
	root      string   // URL of the proxy
	upstreams []string // NAME=URL
	args, env []string
	dir       string // folder for files of this run; "" = not created yet
}

// manners holds, by command name, the functions for agents that need more than an
// environment variable to use the proxy.
var manners = map[string]func(t *agentSettings) error{"codex": tellCodex, "gemini": tellGemini, "opencode": tellOpenCode, "pi": tellPi}

// tell prepares the settings with which an agent uses the proxy. The caller removes
// their files with done after the agent has ended.
func tell(root string, upstreams, args, environ []string) (t *agentSettings, err error) {
	t = &agentSettings{root: root, upstreams: upstreams, args: slices.Clone(args), env: agentEnv(root, upstreams, environ)}
	if f := manners[filepath.Base(args[0])]; f != nil {
		err = f(t)
	}
	return t, err
}

func (t *agentSettings) done() {
	if t.dir != "" {
		_ = os.RemoveAll(t.dir) // the agent has already ended
	}
}

// insert puts arguments directly after the command.
func (t *agentSettings) insert(args ...string) { t.args = slices.Insert(t.args, 1, args...) }

// get returns a variable of the agent's environment.
func (t *agentSettings) get(name string) string {
	for _, v := range slices.Backward(t.env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// file writes a file for this run into a folder where only this user can write.
func (t *agentSettings) file(name, text string) (path string, err error) {
	cache, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(cache, 0o700)
	}
	if err != nil {
		cache = "" // use the folder for temporary files
	}
	if t.dir, err = os.MkdirTemp(cache, "compact-run-"); err != nil {
		return "", err
	}
	path = filepath.Join(t.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// tellCodex gives Codex its base URL as an argument. With a ChatGPT login instead of
// a key, Codex uses another upstream, which must be named.
func tellCodex(t *agentSettings) error {
	upstream := ""
	for _, u := range t.upstreams {
		if url, ok := strings.CutPrefix(u, "openai="); ok {
			upstream = url
		}
	}
	named := slices.ContainsFunc(t.args, func(a string) bool {
		return strings.Contains(a, "openai_base_url") || strings.Contains(a, "model_provider")
	})
	if named || upstream == "" && t.get("OPENAI_API_KEY") == "" && t.get("CODEX_API_KEY") == "" {
		return nil
	}
	path := "/openai/v1"
	if strings.Contains(upstream, "/backend-api/") {
		path = "/openai" // the path has no version
	}
	t.insert("-c", `openai_base_url="`+t.root+path+`"`)
	return nil
}

// tellGemini selects a login method for Gemini CLI if its settings name none: otherwise
// Gemini CLI would take the base URL for a login method, and refuse it.
func tellGemini(t *agentSettings) error {
	const defaults = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"
	if t.get("GEMINI_API_KEY") == "" || t.get(defaults) != "" {
		return nil
	}
	path, err := t.file("gemini.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
	t.env = append(t.env, defaults+"="+path)
	return err
}

// tellOpenCode adds the URLs to the configuration in OpenCode's environment.
func tellOpenCode(t *agentSettings) error {
	const content = "OPENCODE_CONFIG_CONTENT"
	config := object{}
	if was := t.get(content); was != "" && json.Unmarshal([]byte(was), &config) != nil {
		return nil // the user's value stays: it may have comments
	}
	providers := member(config, "provider")
	for name, path := range map[string]string{"anthropic": "/anthropic/v1", "openai": "/openai/v1", "google": "/gemini/v1beta"} {
		options := member(member(providers, name), "options")
		if options["baseURL"] == nil {
			options["baseURL"] = t.root + path
		}
	}
	b, err := json.Marshal(config)
	t.env = append(t.env, content+"="+string(b))
	return err
}

type object = map[string]any

// member returns an object in an object. If the member is absent or is no object,
// member makes a new one.
func member(o object, name string) object {
	m, ok := o[name].(object)
	if !ok {
		m = object{}
		o[name] = m
	}
	return m
}

// piCommands holds the commands of pi that have no conversation.
var piCommands = []string{"install", "remove", "uninstall", "update", "list", "config"}

// tellPi gives pi an extension that sets the URLs of its providers, and the session
// id, which pi itself sends only to some of them.
func tellPi(t *agentSettings) error {
	if len(t.args) > 1 && slices.Contains(piCommands, t.args[1]) {
		return nil
	}
	path, err := t.file("compact.js", strings.ReplaceAll(piExtension, "ROOT", t.root))
	t.insert("-e", path)
	return err
}

const piExtension = `export default function (pi) {
  const urls = { anthropic: "ROOT/anthropic", openai: "ROOT/openai/v1", google: "ROOT/gemini/v1beta" }
  const point = (headers) => { for (const name in urls) pi.registerProvider(name, { baseUrl: urls[name], headers }) }
  point({})
  pi.on("session_start", (_event, ctx) => point({ "X-Compact-Session": "pi-" + ctx.sessionManager.getSessionId() }))
}
`
