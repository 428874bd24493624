package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
)

func TestRunsOffline(t *testing.T) {
	var out bytes.Buffer
	server := ariadnetest.NewServer(t)
	t.Setenv("COMPACT_ARIADNE_URL", server.URL)
	if err := run(context.Background(), &out, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"trigger_decision", "masked_observations", "done: 82 messages"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	if n := len(server.Spans(trace.NameBeforeModelCall)); n != 40 {
		t.Errorf("Ariadne got %d model calls, want 40", n)
	}
}
