package compact

import (
	"context"
	"encoding/hex"
	"slices"
	"time"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/storage/record"
)

// known returns the places of the lines of the lane's last transcript, which
// another process can have written, and of the originals in edits.jsonl. Lines that can't
// be read or were changed are left out, and so written again.
func (c *call) known(ctx context.Context) []storedLine {
	if c.m.cfg.Storage.Repeat == repeatFull {
		return nil
	}
	return slices.Concat(c.lastLines(ctx), c.s.loggedLines())
}

// lastLines returns the places of the lines of the lane's last transcript.
func (c *call) lastLines(ctx context.Context) []storedLine {
	mine, seen := c.lane.filed.Load(), 0
	if mine != nil {
		seen = mine.seen
	}
	of := c.q.owner()
	last := c.s.lastTranscript(seen, func(s *ledger.Step) bool { return s.Owner() == of })
	if last != "" && (mine == nil || last != mine.file) {
		if lines := c.s.places(ctx, last, c.until(ctx)); len(lines) > 0 {
			return lines
		}
	}
	if mine == nil {
		return nil
	}
	return mine.lines
}

// placesTime limits the time for reading a transcript to avoid writing it
// again.
const placesTime = 2 * time.Second

// places reads the places of a transcript's lines, in at most half of the
// remaining time.
func (s *session) places(ctx context.Context, file string, until time.Time) []storedLine {
	end := time.Now().Add(placesTime)
	if half := time.Now().Add(time.Until(until) / 2); !until.IsZero() && half.Before(end) {
		end = half
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	all, err := s.log.Places(ctx, file)
	s.isChange(err) // reported; unchanged lines can still be referred to
	out := make([]storedLine, len(all))
	for i, p := range all {
		out[i] = storedLine{span{p.Off, p.Len}, p.SHA256, p.File, p.Number}
	}
	return out
}

// knownToAll returns the places of the lines of all lanes' last transcripts and of the
// last final transcript. If this process knows no transcript, it reads the newest
// transcript of a step.
func (s *session) knownToAll(ctx context.Context, repeat string) (out []storedLine) {
	if repeat == repeatFull {
		return nil
	}
	s.mu.Lock()
	if s.final != nil {
		out = append(out, s.final.lines...)
	}
	for _, l := range s.lanes {
		if k := l.filed.Load(); k != nil {
			out = append(out, k.lines...)
		}
	}
	s.mu.Unlock()
	if len(out) == 0 {
		if last := s.lastTranscript(0, func(*ledger.Step) bool { return true }); last != "" {
			out = s.places(ctx, last, time.Time{})
		}
	}
	return append(out, s.loggedLines()...)
}

// loggedLines returns the places of the originals in edits.jsonl.
func (s *session) loggedLines() (out []storedLine) {
	for _, e := range s.logged() {
		for i := range e.Evicted {
			at := &e.Evicted[i]
			l := storedLine{span: span{at.Logged.Off, at.Len}, file: record.EditsFile, number: int(at.Logged.Line)}
			if n, err := hex.Decode(l.sum[:], []byte(at.SHA256)); at.Logged.Off > 0 && err == nil && n == len(l.sum) {
				out = append(out, l)
			}
		}
	}
	return out
}
