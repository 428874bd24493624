package spool

import (
	"fmt"
	"os"
)

// correct writes into a line of the queue how far its log really goes: who wrote
// the line died before the bytes were there, or the disk was full. The next who
// appends begins before the end that the line spoke of, and what was never sent
// would be missed. The writing lock is held.
//
// The line keeps its length. One that is another by now is left as it is.
func (s *Spool) correct(o queued, end int64) error {
	f, err := os.OpenFile(s.state(o.key.Dir(), queueFile), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // what counts was synced
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
