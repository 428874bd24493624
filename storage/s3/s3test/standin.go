package s3test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Real reports whether the real servers run, or are required.
func Real() bool {
	return os.Getenv("COMPACT_S3_VERSITYGW") != "" || os.Getenv("COMPACT_S3") == "require"
}

// Plain returns a server for tests that need only features of the stand-in: versitygw,
// or otherwise the stand-in.
func Plain(t testing.TB) *Server {
	t.Helper()
	if Real() {
		return Versitygw(t)
	}
	return StandIn(t)
}

// PlainKeys returns the credentials of [Plain].
func PlainKeys(t testing.TB) (id, secret string) {
	t.Helper()
	if Real() {
		return Keys(t)
	}
	return standInID, standInSecret
}

const standInID, standInSecret = "any", "any-secret" // the stand-in does not check these keys

// StandIn returns the server of tools/s3/standin. One process serves all tests of a
// binary.
func StandIn(t testing.TB) *Server {
	t.Helper()
	endpoint, err := standIn()
	Needs(t, err == nil, fmt.Sprintf("a real S3 server, and the stand-in for it (%v),", err))
	return connect(t, endpoint, standInID, standInSecret)
}

var environ = os.Environ() // before a test changes it

// standIn starts the stand-in. The stand-in is a separate module, so that users of this
// module do not depend on a server. Therefore it is a program: the go command builds it
// once, and may have to fetch its two modules.
var standIn = sync.OnceValues(func() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	dir := filepath.Join(filepath.Dir(file), "..", "..", "..", "tools", "s3", "standin")
	for _, name := range []string{"go.mod", "go.sum", "standin.go", "serve/main.go"} {
		// The files are read here, so that a change invalidates cached test results.
		if _, err := os.ReadFile(filepath.Join(dir, name)); !ok || err != nil {
			return "", errors.New("its source is not here")
		}
	}
	cmd := exec.Command("go", "run", "./serve")
	cmd.Dir, cmd.Env = dir, append(environ, "GOWORK=off", "PWD="+dir)
	var said log
	cmd.Stderr = &said
	if _, err := cmd.StdinPipe(); err != nil { // the pipe ends with this process, and then the stand-in exits
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	stuck := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait() // the output of the program is more precise than this error
		return "", fmt.Errorf("go run: %s", bytes.TrimSpace([]byte(said.String())))
	}
	go func() { _ = cmd.Wait() }() // keeps the pipe open
	return strings.TrimSpace(url), nil
})
