package main

import (
	"context"
	"io"
	"testing"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
)

func TestFourWindowsOfHistoryFitIntoOne(t *testing.T) {
	server := ariadnetest.NewServer(t)
	t.Setenv("COMPACT_ARIADNE_URL", server.URL)
	o, err := run(context.Background(), io.Discard, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if o.tokens < 3*window || o.compactions < 3 || o.largest > o.budget {
		t.Errorf("%+v", o)
	}
	if n := len(server.Spans(trace.NameBeforeModelCall)); n != o.calls {
		t.Errorf("Ariadne got %d model calls, want %d", n, o.calls)
	}
}
