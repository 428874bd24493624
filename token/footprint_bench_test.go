package token_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const withToken = `package main

import (
	"fmt"
	"os"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

func main() {
	n := 0
	for _, name := range []string{token.CL100K, token.O200K} {
		c, err := token.ForEncoding(name)
		if err != nil {
			panic(err)
		}
		n += c.Count("a text")
	}
	status, _ := os.ReadFile("/proc/self/status")
	fmt.Println(n, message.User("u").Text(), string(status))
}
`

const withoutToken = `package main

import (
	"fmt"
	"os"

	"github.com/agentcompact/compact/message"
)

func main() {
	status, _ := os.ReadFile("/proc/self/status")
	fmt.Println(message.User("u").Text(), string(status))
}
`

// BenchmarkFootprint builds one program with both vocabularies and one without
// this package. It reports the difference in size, and the resident memory with
// both vocabularies loaded.
func BenchmarkFootprint(b *testing.B) {
	for b.Loop() {
		with, rss := compile(b, withToken)
		without, _ := compile(b, withoutToken)
		b.ReportMetric(float64(with-without)/1e6, "MB-binary")
		b.ReportMetric(rss, "MB-resident")
	}
}

// compile compiles a program inside the module and runs it. It returns the size
// of the binary in bytes and its resident memory in MB.
func compile(b *testing.B, source string) (size int64, resident float64) {
	b.Helper()
	dir := b.TempDir()
	root, err := filepath.Abs("..")
	if err != nil {
		b.Fatal(err)
	}
	main := filepath.Join(dir, "main.go")
	if err := os.WriteFile(main, []byte(source), 0o600); err != nil {
		b.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "token", "internal", "probe", "main.go"): main}})
	if err != nil {
		b.Fatal(err)
	}
	file, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-overlay", file, "-o", program, "./token/internal/probe")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		b.Fatal(err)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		b.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(out), "VmRSS:")
	if !ok {
		b.Skip("/proc does not tell the resident memory here; run it on Linux")
	}
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return info.Size(), float64(kb) / 1e3
}
