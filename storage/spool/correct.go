package spool

import (
	"fmt"
	"os"
)

// correct sets the real end of the log in a line of the queue, if the writer of
// the line died or the disk was full before the bytes were written. Otherwise
// the next append would begin before the recorded end, and its bytes would never
// be sent. The caller holds the writing lock.
//
// The line keeps its length. If the line was changed in the meantime, it is left
// unchanged.
func (s *Spool) correct(o queued, end int64) error {
	f, err := os.OpenFile(s.state(o.key.Dir(), queueFile), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // the data was synced
	line := make([]byte, o.next-1-o.at)
	if _, err := f.ReadAt(line, o.at); err != nil {
		return err
	}
	if now, ok := parseOp(string(line)); !ok || now != o.op {
		return nil
	}
	digits := len(line) - len("a  ") - len(o.key.String())
	if _, err := f.WriteAt(fmt.Appendf(nil, "a %0*d %s", digits, end, o.key), o.at); err != nil {
		return err
	}
	return syncFile(f)
}
