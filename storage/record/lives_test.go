package record

import (
	"testing"
	"time"
)

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
		t.Fatalf("%d lives: %+v", len(lives), lives)
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
