package record

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
)

// The lines of a process are in its own file. A file under another name that has such lines is a
// problem.
func TestHeadsInAnotherFileAreAProblem(t *testing.T) {
	a := memory.New()
	s, err := OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	s.KeepHeads(NewHeads(a, nil))
	if _, err := s.Final(t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"hi"}`)}); err != nil {
		t.Fatal(err)
	}
	copied := 0
	for info, err := range a.List(t.Context(), keyOf(headsName)) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Open(t.Context(), info.Key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		for name, problem := range map[string]bool{strings.TrimSuffix(info.Key.Base(), ".jsonl"): false, "another": true} {
			b := memory.New()
			if err := b.Append(t.Context(), headsKey(name), 0, blobOf(string(data))); err != nil {
				t.Fatal(err)
			}
			book, err := ReadHeads(t.Context(), b, HeadsOptions{})
			if err != nil {
				t.Fatal(err)
			}
			copied++
			got := book.Report().Problems
			if told := slices.ContainsFunc(got, func(p Problem) bool {
				return p.Kind == Changed && p.Line == 1 && strings.Contains(p.String(), "it belongs to the heads of")
			}); told != problem || len(got) > 0 != problem {
				t.Errorf("in the file %s: %+v", name, got)
			}
		}
	}
	if copied != 2 {
		t.Errorf("%d files were read, want 2", copied)
	}
}

// The last line of a manifest decides, not the clock of the process that wrote it: the
// clocks of two machines can differ. Only lines that are not forged count.
func TestTheLastLineDecidesAndNotTheClock(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC) }
	line := func(life, op string, number int64, minute int) *headLine {
		return &headLine{head: head{Life: life, Op: op, Line: number, At: at(minute)}, hash: life + op + at(minute).String()}
	}
	forged := line("a", opErase, 99, 59)
	b := &HeadBook{forged: map[string]bool{forged.hash: true}, sessions: map[string][]*headLine{"s": {
		line("a", headCommit, 3, 9), line("b", headCommit, 1, 1), line("a", opErase, 7, 2), line("a", opErase, 5, 30), forged, line("a", opErase, 7, 1), line("a", opHold, 8, 0),
	}}}
	lives := b.lives("s")
	if len(lives) != 2 || lives[0].id != "a" || len(lives[0].lines) != 5 || lives[1].id != "b" || len(lives[1].lines) != 1 {
		t.Fatalf("%d lives: %+v, want 2", len(lives), lives)
	}
	if end := lives[0].erasure(); end == nil || end.Line != 7 || !end.At.Equal(at(2)) {
		t.Errorf("the erasure is %+v", end)
	}
	if last := lives[0].last(); last.Line != 8 {
		t.Errorf("the last line is %+v", last)
	}
	if end := lives[1].erasure(); end != nil {
		t.Errorf("the other life ended with %+v", end)
	}
}
