package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestRunsOffline(t *testing.T) {
	var out bytes.Buffer
	if err := run(context.Background(), &out, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"trigger_decision", "masked_observations", "done: 82 messages"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
}
