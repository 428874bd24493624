package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/serve"
)

// runFor runs compactctl run with a shell command.
func runFor(t *testing.T, flags, command string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	args := append(append([]string{"run"}, strings.Fields(flags)...), "--", "sh", "-c", command)
	code = run(t.Context(), args, strings.NewReader("typed"), &o, &e)
	return code, o.String(), e.String()
}

func TestRunGivesTheCommandItsTerminalAndPassesOnItsStatus(t *testing.T) {
	dir := " --archive " + filepath.Join(t.TempDir(), "a")
	for command, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -TERM $$": 143, "exit 255": 255} {
		if code, _, errOut := runFor(t, dir, command); code != want || !strings.Contains(errOut, "compact: 0 model calls") || !strings.Contains(errOut, "no request arrived") {
			t.Errorf("%s: %d %s", command, code, errOut)
		}
	}
	code, out, errOut := runFor(t, "-q"+dir, `cat; echo "|$OPENAI_BASE_URL|$ANTHROPIC_BASE_URL|$GOOGLE_GEMINI_BASE_URL|$NO_PROXY"; echo said >&2`)
	parts := strings.Split(out, "|")
	if code != 0 || errOut != "said\n" || parts[0] != "typed" || !strings.HasPrefix(parts[1], "http://127.0.0.1:") || !strings.HasSuffix(parts[1], "/openai/v1") ||
		!strings.HasSuffix(parts[2], "/anthropic") || !strings.HasSuffix(parts[3], "/gemini") || !strings.Contains(parts[4], "127.0.0.1") {
		t.Errorf("%d %q %q", code, out, errOut)
	}
}

// A command that is interrupted ends in its own way, and the receipt follows.
func TestRunPassesSignalsOn(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		const script = `trap 'exit 9' TERM HUP INT; echo ready; while :; do sleep 0.05; done`
		c := exec.Command(self, "run", "--archive", filepath.Join(t.TempDir(), "a"), "--", "sh", "-c", script)
		c.Env = append(os.Environ(), asCommand+"=1", "XDG_CONFIG_HOME="+t.TempDir())
		var errOut strings.Builder
		c.Stderr = &errOut
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
			t.Fatalf("%q %v", line, err)
		}
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if _ = c.Wait(); c.ProcessState.ExitCode() != 9 || !strings.Contains(errOut.String(), "compact: 0 model calls") {
			t.Errorf("%v: %v %s", s, c.ProcessState, errOut.String())
		}
	}
}

func TestRunReportsAnUnusableCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no command": {nil, exitUsage, "no command"}, "not there": {[]string{"--", "nothing-is-called-so", "x"}, exitNotFound, `"nothing-is-called-so" can't be run: executable file not found in $PATH; check that it is installed`},
		"quoted": {[]string{"--", "echo hi"}, exitNotFound, "remove them"}, "no such path": {[]string{"--", "./nothing"}, exitNotFound, "no such file or directory\n"},
		"no program": {[]string{"--", file}, exitCanNot, "permission denied"}, "an unknown flag": {[]string{"--nope", "--", "true"}, exitUsage, "nope"},
		"a wrong upstream": {[]string{"--upstream", "openai=x", "--", "true"}, exitUsage, "openai"},
	} {
		var e bytes.Buffer
		if code := run(t.Context(), append([]string{"run"}, c.args...), strings.NewReader(""), io.Discard, &e); code != c.code || !strings.Contains(e.String(), c.says) {
			t.Errorf("%s: %d %s", name, code, e.String())
		}
	}
}

// The command's calls are compacted, and a receipt reports it; with --observe no call
// is compacted, and the receipt reports the projection. The earlier value of a variable
// becomes the upstream.
func TestRunCompactsAndWritesAReceipt(t *testing.T) {
	server := provider.NewServer()
	up := httptest.NewServer(server)
	defer up.Close()
	t.Setenv("ANTHROPIC_BASE_URL", up.URL)
	dir := t.TempDir()
	body := filepath.Join(dir, "body.json")
	if err := os.WriteFile(body, []byte(anthropicBody(40)), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("COMPACT_TEST_POST", body)
	for flags, want := range map[string]string{
		"": "compact: 1 model call, 1 compaction, 0 recalls", "--observe ": "compact: no request was changed; with compaction: 1 model call, 1 compaction", "--json ": `"compactions": 1`,
	} {
		archive := filepath.Join(dir, "archive"+strings.TrimSpace(flags))
		if err := os.Mkdir(archive, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(archive, "_erased.jsonl"), []byte(`{"seq":1,"prev":"`+strings.Repeat("0", 64)+`","damaged":true}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, errOut := runFor(t, flags+"--max-context-tokens 4000 --archive "+archive, self)
		if code != 0 || !strings.Contains(out, "ok") || !strings.Contains(errOut, want) || strings.Contains(errOut, "no request arrived") {
			t.Errorf("%s: %d %q %q", flags, code, out, errOut)
		}
		if flags == "" && (!strings.Contains(errOut, "instead of $") || !strings.Contains(errOut, "compactctl archive ls --archive "+archive)) {
			t.Error(errOut)
		}
		if warned := strings.Contains(errOut, `level=WARN msg="compact: it is unknown whether a session was erased"`); warned == (flags == "--observe ") {
			t.Errorf("%s: the manager's own warning, which must wait for the end of the command: %v %q", flags, warned, errOut)
		}
		all := server.Requests()
		if same := len(all[len(all)-1].Body) == len(anthropicBody(40)); same != (flags == "--observe ") {
			t.Errorf("%s: the body is the same: %v", flags, same)
		}
	}
}

// An unreachable provider saves nothing and bills nothing: the receipt reports that there
// was no answer.
func TestRunReportsUnansweredRequests(t *testing.T) {
	away := httptest.NewServer(nil)
	t.Setenv("ANTHROPIC_BASE_URL", away.URL)
	away.Close()
	dir := t.TempDir()
	body := filepath.Join(dir, "body.json")
	if err := os.WriteFile(body, []byte(anthropicBody(40)), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("COMPACT_TEST_POST", body)
	_, _, errOut := runFor(t, "--max-context-tokens 4000 --archive "+filepath.Join(dir, "archive"), self)
	if !strings.Contains(errOut, "compact: 1 request without a complete answer\n") || strings.Contains(errOut, "compact: prompts ") || !strings.Contains(errOut, "billed nothing for 1 call:") {
		t.Error(errOut)
	}
}

func TestAgentsReachTheProxyDirectly(t *testing.T) {
	env := agentEnv("http://127.0.0.1:1", nil, []string{"PATH=/bin", "NO_PROXY=a.test", "OPENAI_BASE_URL=http://old", "HTTPS_PROXY=http://p"})
	all := strings.Join(env, "\n")
	for _, want := range []string{"PATH=/bin", "NO_PROXY=a.test,127.0.0.1", "no_proxy=127.0.0.1", "OPENAI_BASE_URL=http://127.0.0.1:1/openai/v1", "HTTPS_PROXY=http://p"} {
		if !strings.Contains("\n"+all+"\n", "\n"+want+"\n") {
			t.Errorf("%s is not in\n%s", want, all)
		}
	}
	if strings.Contains(all, "http://old") {
		t.Error(all)
	}
}

// An agent appends the same path to the proxy's URL as to the URL before.
func TestRunKeepsThePathOfAnUpstream(t *testing.T) {
	for _, c := range []struct{ name, value, flag, upstream, want string }{
		{"OPENAI_BASE_URL", "", "", "", "/openai/v1"},
		{"OPENAI_BASE_URL", "http://h/v1", "", "openai=http://h/v1", "/openai/v1"},
		{"OPENAI_BASE_URL", "http://h/api/v1/", "", "openai=http://h/api/v1/", "/openai/v1"},
		{"OPENAI_BASE_URL", "http://h/v1beta/openai", "", "openai=http://h/v1beta/openai", "/openai"},
		{"OPENAI_BASE_URL", "http://h", "", "openai=http://h", "/openai"},
		{"OPENAI_BASE_URL", "http://h", "openai=http://other", "openai=http://other", "/openai/v1"},
		{"OPENAI_API_BASE", "http://h/llm", "", "openai=http://h/llm", "/openai"},
		{"ANTHROPIC_API_BASE", "http://h", "", "anthropic=http://h", "/anthropic"},
	} {
		var errOut strings.Builder
		s := &serving{app: newApp(nil, io.Discard, &errOut)}
		if c.flag != "" {
			s.upstreams = []string{c.flag}
		}
		s.fromEnvironment(func(name string) (string, bool) { return c.value, name == c.name && c.value != "" })
		if got := strings.Join(s.upstreams, " "); got != c.upstream {
			t.Errorf("%s=%s: upstream %q, want %q", c.name, c.value, got, c.upstream)
		}
		if env := agentEnv("http://p", s.upstreams, []string{c.name + "=" + c.value}); !slices.Contains(env, c.name+"=http://p"+c.want) {
			t.Errorf("%s=%s: %q, want %s", c.name, c.value, env, c.want)
		}
		if warned := strings.Contains(errOut.String(), "warning: OPENAI_BASE_URL is set"); warned != (c.flag != "") {
			t.Errorf("%s=%s %s: %q", c.name, c.value, c.flag, errOut.String())
		}
	}
}

func TestTheReceiptNamesTheArchive(t *testing.T) {
	for _, c := range []struct {
		s    serving
		want string
	}{
		{serving{where: " --config c.yaml"}, "the removed text is in the archive: compactctl archive ls --config c.yaml\n"},
		{serving{inMemory: true}, "the removed text is lost: the archive was in memory"},
	} {
		var errOut strings.Builder
		c.s.app = newApp(nil, io.Discard, &errOut)
		c.s.receipt(serve.Stats{Requests: 1, Calls: 1, Compactions: 1})
		if !strings.Contains(errOut.String(), c.want) {
			t.Errorf("%q, want %q", errOut.String(), c.want)
		}
	}
}

func TestLogIsPrintedAfterTheCommand(t *testing.T) {
	var out bytes.Buffer
	l := &deferredLog{to: &out}
	for range 3000 {
		_, _ = l.Write([]byte("a line of thirty-two characters.\n"))
	}
	if out.Len() != 0 {
		t.Error("the log was printed at once")
	}
	if l.tell(); out.Len() > maxLater+100 || !strings.HasSuffix(out.String(), "and more\n") {
		t.Errorf("%d bytes", out.Len())
	}
}

// postAsAgent is the command of the test above: it makes a model call.
func postAsAgent(file string) int {
	body, err := os.ReadFile(file)
	if err != nil {
		return 1
	}
	resp, err := http.Post(os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", "application/json", bytes.NewReader(body))
	if err != nil {
		return 1
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
		return 1
	}
	return 0
}
