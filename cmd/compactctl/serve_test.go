package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/provider"
)

// started runs compactctl until ctx ends, and returns the text after a word in its
// standard error.
func started(t *testing.T, ctx context.Context, word string, args ...string) (value string, ended <-chan int) {
	t.Helper()
	errOut, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, args, strings.NewReader(""), io.Discard, w)
		_ = w.Close()
	}()
	lines := bufio.NewScanner(errOut)
	for lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), word); ok {
			go func() { _, _ = io.Copy(io.Discard, errOut) }()
			return strings.TrimSpace(after), code
		}
		t.Log(lines.Text())
	}
	t.Fatalf("the server ended with %d, and never printed %q", <-code, word)
	return "", nil
}

func TestServeCompactsUntilItIsStopped(t *testing.T) {
	server := provider.NewServer()
	up := httptest.NewServer(server)
	defer up.Close()
	for _, observe := range []bool{false, true} {
		archive := filepath.Join(t.TempDir(), "a")
		ctx, stop := context.WithCancel(t.Context())
		args := []string{"serve", "--listen", "127.0.0.1:0", "--upstream", "anthropic=" + up.URL, "--archive", archive, "--max-context-tokens", "4000"}
		if observe {
			args = append(args, "--observe")
		}
		url, ended := started(t, ctx, "ANTHROPIC_BASE_URL=", args...)
		body := anthropicBody(40)
		resp, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		all := server.Requests()
		if got := all[len(all)-1]; resp.StatusCode != 200 || observe != (string(got.Body) == body) {
			t.Errorf("observe %v: %s, %d bytes of %d", observe, resp.Status, len(got.Body), len(body))
		}
		counted := "compact_calls_total{outcome=\"compacted\"} 1\n"
		if observe {
			counted = "compact_observed_calls_total{model=\"claude-sonnet-4-5\"} 1\n"
		}
		for deadline := time.Now().Add(time.Minute); !strings.Contains(fetched(t, strings.TrimSuffix(url, "/anthropic")+"/metrics"), counted); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("observe %v: /metrics lacks %s", observe, counted)
			}
		}
		stop()
		if code := <-ended; code != exitOK {
			t.Errorf("observe %v: the server ended with exit code %d", observe, code)
		}
		if _, err := os.Stat(archive); (err == nil) == observe {
			t.Errorf("observe %v: the archive: %v", observe, err)
		}
	}
}

// fetched returns the answer of a server.
func fetched(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func anthropicBody(rounds int) string {
	var b strings.Builder
	b.WriteString(`{"model":"claude-sonnet-4-5","max_tokens":10,"messages":[{"role":"user","content":"Fix it."}`)
	for i := range rounds {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%[1]d","name":"read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[1]d","content":%[2]q}]}`, i, strings.Repeat("word ", 200))
	}
	return b.String() + "]}"
}

// The server names the reason why it waits. A repeated Ctrl-C within a second, which
// some programs pass on, counts as the same one; a later Ctrl-C ends the server, even
// if requests take long.
func TestSecondInterruptEndsAWaitingServer(t *testing.T) {
	asked := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	defer up.Close()
	i := launch(t, nil, "--drain", "1h", "--upstream", "openai="+up.URL, "--archive", filepath.Join(t.TempDir(), "a"))
	go func() {
		if resp, err := http.Get(i.url + "/openai/v1/models"); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-asked
	for range 600 {
		_ = i.cmd.Process.Signal(os.Interrupt)
		select {
		case <-i.ended:
			if code := i.cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(i.said.String(), "stopping: ") {
				t.Errorf("the server ended with exit code %d: %s", code, i.said)
			}
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Error("the server waits for the requests in flight")
}

// underNohup is read first: a test that asks for the signal clears it for this process, but
// not for those that it starts.
var underNohup = signal.Ignored(syscall.SIGHUP)

// A terminal that closes ends the server like SIGTERM: the archive gets the events of its
// calls. A program under nohup continues.
func TestHangupEndsAServerInOrder(t *testing.T) {
	if underNohup {
		t.Skip("the test itself runs under nohup, and so would the server")
	}
	up := httptest.NewServer(provider.NewServer())
	defer up.Close()
	archive := filepath.Join(t.TempDir(), "a")
	i := launch(t, nil, "--upstream", "anthropic="+up.URL, "--archive", archive)
	req, err := http.NewRequest(http.MethodPost, i.url+"/anthropic/v1/messages", strings.NewReader(anthropicBody(1)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Compact-Session", "s")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if err := i.end(t, syscall.SIGHUP); err != nil {
		t.Errorf("the server ended with %v: %s", err, i.said)
	}
	if log, err := os.ReadFile(filepath.Join(archive, "s", "events.jsonl")); err != nil || !strings.Contains(string(log), `"before_model_call"`) {
		t.Errorf("the audit log lacks the call: %v %s", err, log)
	}
	defer signal.Reset(syscall.SIGHUP)
	if signal.Ignore(syscall.SIGHUP); slices.Contains(ends(), os.Signal(syscall.SIGHUP)) {
		t.Error("under nohup the server ends with the terminal")
	}
}

// The server outlives the reader of its log.
func TestServerOutlivesTheReaderOfItsLog(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	away := httptest.NewServer(nil)
	away.Close()
	log, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "serve", "--listen", "127.0.0.1:0", "--upstream", "openai="+away.URL, "--archive", filepath.Join(t.TempDir(), "a"))
	c.Env = append(os.Environ(), asCommand+"=1", "XDG_CONFIG_HOME="+t.TempDir())
	c.Stderr = w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	_ = w.Close()
	url := ""
	for lines := bufio.NewScanner(log); url == "" && lines.Scan(); {
		if _, after, ok := strings.Cut(lines.Text(), "OPENAI_BASE_URL="); ok {
			url = strings.TrimSuffix(after, "/openai/v1")
		}
	}
	_ = log.Close()
	for range 2 { // each request makes a line of the log
		resp, err := http.Get(url + "/openai/v1/models")
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusBadGateway {
			t.Error(resp.Status)
		}
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

func TestServeRefusesAmbiguousSettings(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--listen 0.0.0.0:0": "--token-file",
		"--listen 8484":      "is not HOST:PORT",
		"--listen :0":        "--token-file",
		"--listen [::]:0":    "--token-file",
		"--listen 0.0.0.0:0 --token-file " + empty:       "is empty",
		"--listen 0.0.0.0:0 --token-file " + empty + "x": "--token-file: open ",
		"--listen 127.0.0.1:99999":                       "--listen 127.0.0.1:99999: ",
		"--max-calls -1":                                 "--max-calls must be 0 or more",
		"--drain -1s":                                    "--drain must be 0 or more",
		"--notice -1s":                                   "--notice must be 0 or more",
		"--count both":                                   "must be view or full",
		"--observe --strict":                             "--strict",
		"--upstream openai":                              "NAME=URL",
		"--upstream openai=localhost:8000":               `upstream "openai"`,
		"--upstream openai=127.0.0.1:8000":               "has to begin with http://HOST",
		"more":                                           "too many arguments",
	} {
		var out strings.Builder
		ctx, cancel := context.WithCancel(t.Context())
		code := run(ctx, append([]string{"serve", "--archive", filepath.Join(t.TempDir(), "a")}, strings.Fields(args)...), strings.NewReader(""), io.Discard, &out)
		cancel()
		if code != exitUsage || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %d %s", args, code, out.String())
		}
	}
}
