package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	_ "github.com/agentcompact/compact/configs/all"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/trace"
)

// A file with the collector's address is all that a user needs: the collector
// records the events of a compaction.
func TestCollectorNamedInAFileReceivesACompaction(t *testing.T) {
	url, file := collector(t)
	path := filepath.Join(t.TempDir(), "compact.yaml")
	text := "model: gpt-4\nmax_context_tokens: 8000\nstorage: {adapter: memory}\ntrace: {otlp_endpoint: \"" + url + "\", otlp_service: coding-agent}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := configs.Load(path, configs.Environ(nil))
	if err != nil {
		t.Fatal(err)
	}
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var history []message.Message
	for range 40 {
		history = append(history, message.User(strings.Repeat("word ", 200)), message.Assistant(strings.Repeat("word ", 200)))
	}
	res, err := m.Preflight(t.Context(), "session-7f3a", history)
	if err != nil || !res.Triggered {
		t.Fatalf("%v, triggered %v", err, res.Triggered)
	}
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := []string{trace.NameTokenEstimate, trace.NameTriggerDecision, trace.NameArchival, trace.NameSummaryCreated, trace.NamePrunedMessages, trace.NameBeforeModelCall}
	var spans []span
	waitFor(t, "the event of the call is in the file", func() bool {
		spans, _ = read(t, file)
		return byName(spans, trace.NameBeforeModelCall) != nil
	})
	if _, services := read(t, file); !services["coding-agent"] {
		t.Errorf("services %v", services)
	}
	root := byName(spans, trace.NameBeforeModelCall)
	for _, name := range want {
		s := byName(spans, name)
		if s == nil || s.attr("gen_ai.conversation.id") != "session-7f3a" || s != root && s.ParentSpanID != root.SpanID {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func byName(spans []span, name string) *span {
	for i := range spans {
		if spans[i].Name == name {
			return &spans[i]
		}
	}
	return nil
}
