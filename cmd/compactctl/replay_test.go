package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInterruptedReplayPrintsTheFinishedPart(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%02d.jsonl", i)), agentLoop(20, 200), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut strings.Builder
	csv := filepath.Join(dir, "rows.csv")
	code := run(ctx, []string{"replay", filepath.Join(dir, "*.jsonl"), "--policy", "raw", "--csv", csv}, strings.NewReader(""), &out, &errOut)
	if code != exitFailed || !strings.Contains(errOut.String(), "interrupted: the results cover ") || !strings.Contains(errOut.String(), "of 4 sessions (context canceled)") {
		t.Errorf("exit %d: %s", code, errOut.String())
	}
	rows, err := os.ReadFile(csv)
	if err != nil || !strings.HasPrefix(string(rows), "session,window,policy") {
		t.Errorf("the rows are %.60q, %v", rows, err)
	}
}
