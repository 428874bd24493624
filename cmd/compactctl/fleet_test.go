package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// instance is a process that runs compactctl serve.
type instance struct {
	cmd   *exec.Cmd
	url   string
	said  *strings.Builder // standard error; complete after the process has ended
	ended chan error
}

// launch starts an instance; env overrides the test's own variables.
func launch(t *testing.T, env []string, args ...string) *instance {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	i := &instance{cmd: exec.Command(self, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...), said: &strings.Builder{}, ended: make(chan error, 1)}
	i.cmd.Env = append(append(os.Environ(), asCommand+"=1", "XDG_CONFIG_HOME="+t.TempDir()), env...)
	out, err := i.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := i.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			i.said.WriteString(lines.Text() + "\n")
			if _, url, ok := strings.Cut(lines.Text(), "OPENAI_BASE_URL="); ok {
				ready <- strings.TrimSuffix(url, "/openai/v1")
			}
		}
		i.ended <- i.cmd.Wait()
	}()
	t.Cleanup(func() { _ = i.cmd.Process.Kill() })
	select {
	case i.url = <-ready:
	case err := <-i.ended:
		t.Fatalf("an instance ended at once: %v\n%s", err, i.said)
	case <-time.After(time.Minute):
		t.Fatal("an instance did not start within a minute")
	}
	return i
}

// end sends a signal, and returns the error with which the instance ended. An instance
// is the test binary itself, so that -race covers it. A killed instance has no exit
// status that could report a race.
func (i *instance) end(t *testing.T, s os.Signal) error {
	t.Helper()
	if err := i.cmd.Process.Signal(s); err != nil {
		t.Error(err)
	}
	select {
	case err := <-i.ended:
		if strings.Contains(i.said.String(), "DATA RACE") {
			t.Errorf("an instance has a race:\n%s", i.said)
		}
		return err
	case <-time.After(time.Minute):
		t.Fatal("an instance did not end within a minute")
		return nil
	}
}

// balancer sends each request to the next instance, and to the following one if there
// was no answer, like real balancers.
type balancer struct {
	client http.Client
	sent   atomic.Int64
	mu     sync.Mutex
	to     []*instance
	next   int
}

func (b *balancer) set(to ...*instance) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.to = to
}

// turn returns the instances in the order in which a request tries them, independent of
// concurrent requests.
func (b *balancer) turn() []*instance {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	at := b.next % len(b.to)
	return slices.Concat(b.to[at:], b.to[:at])
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var resp *http.Response
	for _, to := range b.turn() {
		req, err := http.NewRequestWithContext(r.Context(), r.Method, to.url+r.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			panic(err)
		}
		req.Header = r.Header.Clone()
		req.Header.Set("X-Sent", fmt.Sprint(b.sent.Add(1)))
		if resp, err = b.client.Do(req); err == nil {
			break
		}
	}
	if resp == nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	for k, v := range resp.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(resp.StatusCode)
	if _, err := io.Copy(w, resp.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// wrongModel is a provider that fails if a request asks for a fault. Each call asks at
// most once.
type wrongModel struct {
	*provider.Server
	mu   sync.Mutex
	seen map[string]map[int][]byte // bodies without a fault, by session and the number that the balancer gave
}

// prompts returns the bodies of a session in the order in which the balancer sent their
// requests. The request of a killed instance can arrive after the one that replaced it.
func (f *wrongModel) prompts(session string) (bodies [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(f.seen[session])) {
		bodies = append(bodies, f.seen[session][n])
	}
	return bodies
}

func (f *wrongModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session := r.Header.Get("X-Of")
	body, err := io.ReadAll(r.Body) // without this read the server does not notice that the client has disconnected
	if err != nil {
		panic(http.ErrAbortHandler) // the instance was killed while it sent the prompt
	}
	switch r.Header.Get("X-Fault") {
	case "busy":
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case "garbage":
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte("\x00{]"))
		return
	case "reset":
		panic(http.ErrAbortHandler)
	case "half":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"half\":1}\n\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "stall":
		<-r.Context().Done()
		return
	}
	sent, err := strconv.Atoi(r.Header.Get("X-Sent"))
	if err != nil {
		panic(err)
	}
	f.mu.Lock()
	if f.seen[session] == nil {
		f.seen[session] = map[int][]byte{}
	}
	f.seen[session][sent] = body
	f.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.Server.ServeHTTP(w, r)
}

// fleet is a set of instances behind a balancer, with sessions that use it.
type fleet struct {
	t        *testing.T
	args     []string
	env      []string
	model    *wrongModel
	balancer *balancer
	url      string
	calls    atomic.Int64 // answered calls
	again    atomic.Int64 // retries without a requested fault
}

const fleetWindow = 8_000

func newFleet(t *testing.T, env []string, args ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, env: append([]string{compact.ArchiveKeyVariable + "=" + testkey.Text}, env...), model: &wrongModel{Server: provider.NewServer(), seen: map[string]map[int][]byte{}}, balancer: &balancer{}}
	f.model.Window = 2 * fleetWindow
	up, front := httptest.NewServer(f.model), httptest.NewServer(f.balancer)
	t.Cleanup(func() { front.Close(); up.Close() })
	f.url = front.URL
	f.args = append([]string{"--upstream", "openai=" + up.URL, "--upstream", "anthropic=" + up.URL, "--upstream", "gemini=" + up.URL, "--max-context-tokens", fmt.Sprint(fleetWindow), "--no-recall"}, args...)
	return f
}

func (f *fleet) launch() *instance { return launch(f.t, f.env, f.args...) }

// session makes the calls of one session, each with one more round. It retries a failed
// call at most twice, as every SDK does.
func (f *fleet) session(name string, calls int, faults []string) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for n := range calls {
		fault := faults[(n*7+len(name)+int(name[len(name)-1]))%len(faults)]
		var err error
		for try := range 3 {
			if err = f.call(client, name, fault, fleetBody(name, 12+3*n)); err == nil {
				break
			}
			if fault == "" {
				f.again.Add(1)
			}
			if fault = ""; try == 2 {
				f.t.Errorf("call %d of session %s is lost: %v", n, name, err)
			}
		}
		f.calls.Add(1)
	}
}

// call makes a call; the error is the reason for an incomplete answer.
func (f *fleet) call(client *http.Client, session, fault, body string) error {
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	if fault == "stall" { // the client gives up
		defer time.AfterFunc(100*time.Millisecond, cancel).Stop()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url+fleetWires[fleetWire(session)].path, strings.NewReader(body))
	if err != nil {
		return err
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "X-Compact-Session": session, "X-Of": session, "X-Fault": fault} {
		req.Header.Set(k, v)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, answer)
	}
	return err
}

// fleetWires has, for each wire, a path, the beginning of a request, its question, and
// a round of a call. A session uses one of them.
var fleetWires = []struct{ path, begin, ask, round string }{
	{"/openai/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"system","content":"Fix bugs."},`, `{"role":"user","content":"Fix bug %s."}`,
		`,{"role":"assistant","content":null,"tool_calls":[{"id":"c%[1]d","type":"function","function":{"name":"read","arguments":"{\"n\":%[1]d}"}}]},{"role":"tool","tool_call_id":"c%[1]d","content":"file %[1]d: %[2]s"}`},
	{"/openai/v1/responses", `{"model":"gpt-5","store":false,"input":[`, `{"role":"user","content":"Fix bug %s."}`,
		`,{"type":"function_call","call_id":"c%[1]d","name":"read","arguments":"{\"n\":%[1]d}"},{"type":"function_call_output","call_id":"c%[1]d","output":"file %[1]d: %[2]s"}`},
	{"/anthropic/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[`, `{"role":"user","content":"Fix bug %s."}`,
		`,{"role":"assistant","content":[{"type":"tool_use","id":"c%[1]d","name":"read","input":{"n":%[1]d}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[1]d","content":"file %[1]d: %[2]s"}]}`},
	{"/gemini/v1beta/models/gemini-2.5-pro:generateContent", `{"contents":[`, `{"role":"user","parts":[{"text":"Fix bug %s."}]}`,
		`,{"role":"model","parts":[{"functionCall":{"name":"read","args":{"n":%[1]d}},"thoughtSignature":"skip_thought_signature_validator"}]},{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"file %[1]d: %[2]s"}}}]}`},
}

// fleetWire returns the wire of a session, by its number.
func fleetWire(session string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(session, "s"))
	return n % len(fleetWires)
}

func fleetBody(session string, rounds int) string {
	w := fleetWires[fleetWire(session)]
	var b strings.Builder
	fmt.Fprintf(&b, w.begin+w.ask, session)
	for i := range rounds {
		fmt.Fprintf(&b, w.round, i, strings.TrimSpace(strings.Repeat("word ", 300)))
	}
	return b.String() + "]}"
}

// reach waits until a given number of calls have an answer.
func (f *fleet) reach(calls int) {
	f.t.Helper()
	for deadline := time.Now().Add(4 * time.Minute); f.calls.Load() < int64(calls); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("only %d of %d calls were answered in four minutes", f.calls.Load(), calls)
		}
	}
}

// changes counts the prompts of a session that do not begin with the previous prompt.
func changes(bodies [][]byte) (n int) {
	for i := 1; i < len(bodies); i++ {
		before := bytes.TrimSuffix(bodies[i-1], []byte("]}"))
		if !bytes.HasPrefix(bodies[i], before) {
			n++
		}
	}
	return n
}

// work runs sessions over a fleet. After a third of the calls the first instance is
// replaced, as in a rolling restart. After two thirds the second one is killed.
func (f *fleet) work(sessions, calls int, faults ...string) {
	t := f.t
	a, b := f.launch(), f.launch()
	f.balancer.set(a, b)
	var all sync.WaitGroup
	for s := range sessions {
		all.Go(func() { f.session(fmt.Sprint("s", s), calls, faults) })
	}
	f.reach(sessions * calls / 3)
	c := f.launch()
	f.balancer.set(b, c)
	if err := a.end(t, syscall.SIGTERM); err != nil {
		t.Errorf("the stopped instance: %v\n%s", err, a.said)
	}
	if n := f.again.Load(); n > 0 {
		t.Errorf("%d calls were lost in the rolling restart", n)
	}
	f.reach(sessions * calls * 2 / 3)
	_ = b.end(t, os.Kill)
	d := f.launch()
	f.balancer.set(c, d)
	all.Wait()
	for _, i := range []*instance{c, d} {
		if err := i.end(t, syscall.SIGTERM); err != nil {
			t.Errorf("%v\n%s", err, i.said)
		}
		if strings.Contains(i.said.String(), "level=ERROR") {
			t.Error(i.said)
		}
	}
	if n := f.again.Load(); n > int64(sessions) {
		t.Errorf("%d calls of %d sessions were retried after one instance was killed", n, sessions)
	}
	t.Logf("%d calls, %d made again", f.calls.Load(), f.again.Load())
}

// prove compares the prompts with the steps in the archive, and verifies the archive.
// Without a public tokenizer the count is an upper bound, so compactions come earlier.
func (f *fleet) prove(sessions, calls int, flags ...string) {
	t := f.t
	steps := f.steps(flags...)
	for s := range sessions {
		name := fmt.Sprint("s", s)
		n, most := steps[name], calls/3
		if fleetWire(name) > 1 {
			most = calls * 2 / 3
		}
		t.Logf("session %s: %d prompts, %d steps", name, len(f.model.prompts(name)), n)
		if got := changes(f.model.prompts(name)); n < 1 || n > most || got > n {
			t.Errorf("session %s: its prompt changed %d times, with %d steps", name, got, n)
		}
	}
	var out, errOut bytes.Buffer
	if code := run(t.Context(), append([]string{"archive", "verify"}, flags...), strings.NewReader(""), &out, &errOut); code != exitOK {
		t.Errorf("archive verify: %d %s %s", code, out.String(), errOut.String())
	}
}

// steps returns the number of steps of each session in the archive.
func (f *fleet) steps(flags ...string) map[string]int {
	var out, errOut bytes.Buffer
	if code := run(f.t.Context(), append([]string{"archive", "ls", "--json"}, flags...), strings.NewReader(""), &out, &errOut); code != exitOK {
		f.t.Fatalf("archive ls: %d %s", code, errOut.String())
	}
	var all []struct {
		Session string
		Steps   int
	}
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		f.t.Fatal(err)
	}
	n := map[string]int{}
	for _, s := range all {
		n[s.Session] = s.Steps
	}
	return n
}

// Instances that share only the archive and its key act as one proxy on every wire:
// each continues from the compactions of the others, even after an instance is stopped
// or killed. With COMPACT_SOAK the test makes 2,000 calls; -race also covers the
// instances:
//
//	COMPACT_SOAK=1 go test -race ./cmd/compactctl -run FleetSharesSessionsThroughAFolder -v
func TestFleetSharesSessionsThroughAFolder(t *testing.T) {
	sessions, calls := fleetSize()
	archive := filepath.Join(t.TempDir(), "a")
	f := newFleet(t, nil, "--archive", archive)
	f.work(sessions, calls, fleetFaults...)
	f.prove(sessions, calls, "--archive", archive)
}

func TestFleetSharesSessionsThroughABucket(t *testing.T) {
	s := s3test.Plain(t)
	id, secret := s3test.PlainKeys(t)
	sessions, calls := fleetSize()
	config := filepath.Join(t.TempDir(), "s3.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "storage: {adapter: s3, bucket: %q, prefix: team, region: us-east-1, endpoint: %q, path_style: true}\n", s.Bucket(t, false), s.Endpoint), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFleet(t, []string{"AWS_ACCESS_KEY_ID=" + id, "AWS_SECRET_ACCESS_KEY=" + secret, "AWS_REGION=us-east-1"}, "--config", config)
	f.work(sessions, calls, fleetFaults...)
	f.prove(sessions, calls, "--config", config)
}

// fleetFaults are the faults that calls request from the model; "" = an answer.
var fleetFaults = []string{"", "", "", "", "busy", "", "garbage", "", "reset", "half", "", "stall", ""}

func fleetSize() (sessions, calls int) {
	if os.Getenv("COMPACT_SOAK") != "" {
		return 50, 40
	}
	return 4, 15
}

// An instance with another key than the rest of its fleet cannot use the fleet's
// compactions, and reports the reason.
func TestInstanceWithAnotherKeyReportsIt(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "a")
	f := newFleet(t, nil, "--archive", archive)
	a, b := f.launch(), launch(t, []string{compact.ArchiveKeyVariable + "=" + strings.Repeat("5a", 32)}, f.args...)
	f.balancer.set(a)
	f.session("s", 12, []string{""})
	f.balancer.set(b)
	f.session("s", 13, []string{""})
	for _, i := range []*instance{a, b} {
		if err := i.end(t, syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(b.said.String(), compact.ArchiveKeyVariable) || strings.Contains(a.said.String(), compact.ArchiveKeyVariable) {
		t.Errorf("the one with the archive's key said:\n%s\nthe other one:\n%s", a.said, b.said)
	}
}
