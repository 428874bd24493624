package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// countedContext is a context that ends after a number of checks.
type countedContext struct {
	context.Context
	end   context.CancelFunc
	looks atomic.Int64
	most  int64
}

func (c *countedContext) Err() error {
	if c.looks.Add(1) == c.most {
		c.end()
	}
	return c.Context.Err()
}

func TestAnInterruptedTuneWritesTheBestSoFar(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%02d-a.jsonl", i)), agentLoop(12, 2000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	inner, end := context.WithCancel(t.Context())
	defer end()
	ctx := &countedContext{Context: inner, end: end, most: 1500}
	var out, errOut strings.Builder
	file := filepath.Join(dir, "best.yaml")
	code := run(ctx, []string{"tune", filepath.Join(dir, "*.jsonl"), "--window", "6000", "--out", file}, strings.NewReader(""), &out, &errOut)
	if code != exitFailed || !strings.Contains(errOut.String(), "unfinished: interrupted after ") {
		t.Errorf("exit %d: %s", code, errOut.String())
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), "# UNFINISHED: the search was interrupted after ") || !strings.Contains(string(text), "\npreset: graduated\n") {
		t.Errorf("%v:\n%s", err, text)
	}
}
