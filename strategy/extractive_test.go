package strategy

import (
	"testing"

	"github.com/agentcompact/compact/internal/material"
)

// An Input is the source of a summary.
type Input = material.Input

// written returns the summary of an input, without a model. It does what
// internal/summarize does, which the tests of this package can't import.
func written(t testing.TB, s Strategy, maxTokens int, in Input) string {
	t.Helper()
	task := s.Task(in, material.Terms{MaxTokens: maxTokens, UserTokens: 2000})
	task.Prepare()
	r := task.Request(s)
	task.Read(r)
	source := in.Count(in.Previous)
	for _, m := range in.Messages {
		for _, p := range m.Parts {
			source += in.Count(p.Text) + in.Count(string(p.Args))
		}
	}
	r.MaxTokens = min(r.MaxTokens, source-1) // a summary must be smaller than its source
	d, err := Extractive{}.Summarize(t.Context(), task.Known(r))
	if err != nil {
		t.Fatal(err)
	}
	text, err := task.Complete(s, task.Bare(s, d.Text), false)
	if err != nil {
		t.Fatal(err)
	}
	return text.Text
}
