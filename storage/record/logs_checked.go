package record

import (
	"context"
	"errors"
	"iter"
)

// checkedLines yields the lines of a log from an offset, each after a check
// against the hash in the next line.
func checkedLines(ctx context.Context, c *chain, from int64) iter.Seq2[EditsLine, error] {
	return func(yield func(EditsLine, error) bool) {
		w := &lineCheck{yield: yield}
		err := eachLineOfLog(ctx, c.a, c.key, from, w.line)
		if err == nil && w.held {
			yield(w.last, nil) // the last line, which no hash covers
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(EditsLine{}, err)
		}
	}
}

// lineCheck holds back each line until the next one is read.
type lineCheck struct {
	yield func(EditsLine, error) bool
	held  bool
	last  EditsLine
	hash  string // hash of last
	junk  int64  // offset of invalid bytes since last; 0 = none
}

func (w *lineCheck) line(l rawLine) error {
	link, ok := parseLink(l.text)
	if !ok {
		if w.junk == 0 {
			w.junk = l.off
		}
		return nil
	}
	if w.held && !w.release(link, l.off) {
		return errStop
	}
	w.held, w.hash, w.junk = true, hashOf(l.text), 0
	w.last = EditsLine{Seq: link.seq, Off: l.off, End: l.next(), Body: link.body(), end: l.off + int64(len(l.text))}
	return nil
}

// release yields the held line, which the next line has checked. If the numbers show a
// gap and there are invalid bytes, a line between the two was destroyed.
func (w *lineCheck) release(next linked, off int64) bool {
	if next.prev == w.hash {
		return w.yield(w.last, nil)
	}
	if w.junk > 0 && next.seq == w.last.Seq+2 {
		return w.yield(w.last, nil) && w.yield(EditsLine{Seq: w.last.Seq + 1, Off: w.junk, End: off, Changed: true}, nil)
	}
	w.last.Changed = true
	return w.yield(w.last, nil)
}
