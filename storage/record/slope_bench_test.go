package record_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/agentcompact/compact/internal/slope"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// BenchmarkLogLength measures how the time of a session's operations grows with the
// number of lines in its logs: n lines appended one after the other, and a process that
// opens the logs, appends one line, and reads them.
func BenchmarkLogLength(b *testing.B) {
	ctx := context.Background()
	plain, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		b.Fatal(err)
	}
	open := func(a storage.Archive) *record.Session {
		s, err := record.OpenSession(ctx, a, "s")
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	journal := func(s *record.Session, i int) {
		line := plain.Text(fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%d","content":"a line of a few hundred bytes %0300d"}`, i, i))
		if err := s.Journal(ctx, []redact.Text{line}); err != nil {
			b.Fatal(err)
		}
	}
	manifest := func(s *record.Session, i int) {
		if _, err := s.Summary(ctx, i+1, plain.Text(`{"text":"what was done"}`)); err != nil {
			b.Fatal(err)
		}
	}
	read := func(s *record.Session) {
		for _, err := range s.JournalLines(ctx) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	for name, add := range map[string]func(*record.Session, int){"journal": journal, "manifest": manifest} {
		b.Run(name+"/write", func(b *testing.B) {
			slope.Report(b, func(n int) func() {
				return func() {
					s := open(memory.New())
					for i := range n {
						add(s, i)
					}
				}
			})
		})
		b.Run(name+"/open", func(b *testing.B) {
			slope.Report(b, func(n int) func() {
				a := memory.New()
				s := open(a)
				for i := range n {
					add(s, i)
				}
				return func() {
					again := open(a)
					add(again, n)
					read(again)
				}
			})
		})
	}
}
