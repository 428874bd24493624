package s3test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"
)

// Process is a server for one test, which can be killed and started again with
// the same data and port.
type Process struct {
	Endpoint string

	t    *testing.T
	path string
	args []string
	env  []string
	addr string
	cmd  *exec.Cmd
	log  log
}

// log holds the output of a server.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// StartVersitygw starts a server with its data on disk.
func StartVersitygw(t *testing.T) *Process {
	id, secret := Keys(t)
	data := t.TempDir()
	buckets, versions := filepath.Join(data, "buckets"), filepath.Join(data, "versions")
	for _, dir := range []string{buckets, versions} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	addr := free(t)
	return start(t, Binary(t, "versitygw"), addr,
		[]string{"--quiet", "--port", addr, "posix", "--versioning-dir", versions, buckets},
		[]string{"ROOT_ACCESS_KEY=" + id, "ROOT_SECRET_KEY=" + secret})
}

// StartMinIO starts a server with its data on disk; env are additional
// variables.
func StartMinIO(t *testing.T, env ...string) *Process {
	id, secret := Keys(t)
	addr := free(t)
	return start(t, Binary(t, "minio"), addr, []string{"server", "--address", addr, t.TempDir()},
		append(env, "MINIO_ROOT_USER="+id, "MINIO_ROOT_PASSWORD="+secret, "MINIO_BROWSER=off", "MINIO_UPDATE=off"))
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func start(t *testing.T, path, addr string, args, env []string) *Process {
	t.Helper()
	p := &Process{Endpoint: "http://" + addr, t: t, path: path, args: args, env: env, addr: addr}
	p.Start()
	t.Cleanup(p.Kill)
	return p
}

// Start starts or restarts the server, and waits until it answers.
func (p *Process) Start() {
	p.t.Helper()
	p.cmd = exec.Command(p.path, p.args...)
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", p.addr)
		if err == nil {
			_ = c.Close()
			return
		}
	}
	p.t.Fatalf("no server at %s; it said: %s", p.addr, p.log.String())
}

// Kill kills the server.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // killed
}

// Find waits for a match in the output of the server.
func (p *Process) Find(what *regexp.Regexp) string {
	p.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if m := what.FindString(p.log.String()); m != "" {
			return m
		}
	}
	p.t.Fatalf("the server did not say %s, but: %s", what, p.log.String())
	return ""
}
