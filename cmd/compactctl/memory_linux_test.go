package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// BenchmarkPeakMemory compacts files in a process of its own. It reports the peak
// memory per byte of the file, in bytes, and the same without the program's own memory.
// The program's own memory is measured with a file of one message, and with a file of
// 100 KB for the code pages that only a compaction reads.
//
//	go test ./cmd/compactctl -run '^$' -bench PeakMemory -benchtime 1x
func BenchmarkPeakMemory(b *testing.B) {
	dir := b.TempDir()
	program := filepath.Join(dir, "compactctl")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	peakOf := func(file string) int64 {
		cmd := exec.Command(program, "compact", file, "--model", "gpt-4", "--archive", b.TempDir(), "--out", filepath.Join(dir, "out.jsonl"))
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	}
	one := filepath.Join(dir, "one.jsonl")
	writeLoop(b, one, 0)
	alone := peakOf(one)
	writeLoop(b, one, 100<<10)
	small := peakOf(one)
	for _, megabytes := range []int{12, 50, 210} {
		b.Run(fmt.Sprint(megabytes, "MB"), func(b *testing.B) {
			file := filepath.Join(dir, fmt.Sprint(megabytes, ".jsonl"))
			size := writeLoop(b, file, megabytes<<20)
			var peak int64
			for range b.N {
				peak = max(peak, peakOf(file))
			}
			b.ReportMetric(float64(peak)/float64(size), "peak/input")
			b.ReportMetric(float64(peak-alone)/float64(size), "peak-alone/input")
			b.ReportMetric(float64(peak-small)/float64(size), "peak-small/input")
			b.ReportMetric(float64(alone)/1e6, "alone-MB")
			b.ReportMetric(float64(small)/1e6, "small-MB")
			b.ReportMetric(float64(peak)/1e6, "peak-MB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// writeLoop writes an agent's loop of about a given number of bytes, and returns the
// exact number.
func writeLoop(b *testing.B, file string, size int) int {
	b.Helper()
	var out bytes.Buffer
	out.WriteString(`{"role":"user","content":"Make all tests pass."}` + "\n")
	for i := 0; out.Len() < size; i++ {
		text := strings.Repeat(fmt.Sprintf(`file_%d.go:%d: func something(a int) error { return nil } `, i, i), 60)
		fmt.Fprintf(&out, `{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{\"n\":%d}"}}]}`+"\n", i, i)
		fmt.Fprintf(&out, `{"role":"tool","tool_call_id":"call_%d","content":%q}`+"\n", i, text+"\n")
	}
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return out.Len()
}
