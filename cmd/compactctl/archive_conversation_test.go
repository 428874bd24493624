package main

import (
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// Show prints the newest transcript, and says if later steps stored originals in place of a
// transcript.
func TestShowTakesTheNewestTranscriptAndNamesLaterOriginals(t *testing.T) {
	s, err := record.OpenSession(t.Context(), memory.New(), "s")
	if err != nil {
		t.Fatal(err)
	}
	line := []redact.Text{redact.Lit(`{"role":"user","content":"a"}`)}
	for i, step := range []struct {
		kind        string
		file, later string
		from        string
	}{
		{"originals", "originals-001.jsonl", "", "originals-001.jsonl: only the messages that this step changed"},
		{"final", "transcript-final-001.jsonl", "", "transcript-final-001.jsonl"},
		{"transcript", "transcript-pre-compact-003.jsonl", "", "transcript-pre-compact-003.jsonl"},
		{"originals", "transcript-pre-compact-003.jsonl", "originals-004.jsonl", "transcript-pre-compact-003.jsonl; messages that later steps changed are in files up to originals-004.jsonl"},
		{"final", "transcript-final-002.jsonl", "", "transcript-final-002.jsonl"},
	} {
		switch step.kind {
		case "originals":
			_, err = s.Originals(t.Context(), i+1, line)
		case "transcript":
			_, err = s.Transcript(t.Context(), i+1, line)
		default:
			_, err = s.Final(t.Context(), line)
		}
		if err != nil {
			t.Fatal(err)
		}
		c, err := conversationOf(t.Context(), "s", s)
		if err != nil {
			t.Fatal(err)
		}
		if c.File != step.file || c.Later != step.later || c.From() != step.from {
			t.Errorf("after file %d: %s, later %q, shown as %q", i+1, c.File, c.Later, c.From())
		}
	}
}
