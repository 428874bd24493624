package main

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
)

func TestRunsOffline(t *testing.T) {
	server := ariadnetest.NewServer(t)
	var out bytes.Buffer
	o, err := run(context.Background(), &out, "../data/coding-session.jsonl", t.TempDir(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if o.compactions < 2 || o.largest > o.budget || o.protectedLost > 0 {
		t.Errorf("%+v\n%s", o, out.String())
	}
	if n := len(server.Spans(trace.NameBeforeModelCall)); n != o.calls {
		t.Errorf("Ariadne got %d model calls, want %d", n, o.calls)
	}
}

// Without -ariadne, the example uses the server that COMPACT_ARIADNE_URL names.
func TestTheEnvironmentNamesAnAriadneServer(t *testing.T) {
	server := ariadnetest.NewServer(t)
	t.Setenv("COMPACT_ARIADNE_URL", server.URL)
	o, err := run(context.Background(), io.Discard, "../data/coding-session.jsonl", t.TempDir(), "")
	if n := len(server.Spans(trace.NameBeforeModelCall)); err != nil || n != o.calls {
		t.Errorf("Ariadne got %d model calls of %d: %v", n, o.calls, err)
	}
}
