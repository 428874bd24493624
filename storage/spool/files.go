package spool

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"github.com/agentcompact/compact/storage"
)

// The files of DIR/state/SESSION. Whatever is in them, reading them ends, and
// what cannot be read is told or stands for nothing.
const (
	queueFile    = "queue"
	sentFile     = "sent"
	originFile   = "origin"
	conflictFile = "conflict"
)

// op is a line of the queue.
type op struct {
	key storage.Key
	log bool
	end int64 // of a log: send it up to here

	start int64 // how long the log was; not in the queue
}

// String writes the line: "c KEY" for a file, "a END KEY" for a log.
func (o op) String() string {
	if o.log {
		return fmt.Sprintf("a %d %s", o.end, o.key)
	}
	return "c " + o.key.String()
}

// parseOp reads a line. It is false for what a crash left of one.
func parseOp(line string) (op, bool) {
	kind, rest, _ := strings.Cut(line, " ")
	o := op{log: kind == "a"}
	if o.log {
		end, key, ok := strings.Cut(rest, " ")
		n, err := strconv.ParseInt(end, 10, 64)
		if !ok || err != nil || n < 0 {
			return op{}, false
		}
		o.end, rest = n, key
	} else if kind != "c" {
		return op{}, false
	}
	key, err := storage.ParseKey(rest)
	o.key = key
	return o, err == nil && !shared(key)
}

// queued is an operation and where its line begins and ends.
type queued struct {
	op
	at, next int64
}

// parseQueue reads the operations of a session from offset from on. A line
// without its end is still being written.
func parseQueue(data []byte, from int64) []queued {
	var out []queued
	at := min(max(from, 0), int64(len(data)))
	for {
		line, _, ok := bytes.Cut(data[at:], []byte("\n"))
		if !ok {
			return out
		}
		next := at + int64(len(line)) + 1
		if o, ok := parseOp(string(line)); ok {
			out = append(out, queued{o, at, next})
		}
		at = next
	}
}

// sentLine is what the file sent holds. It always has the same length, and is
// written over in place: that works on a full disk too.
func sentLine(n int64) []byte {
	digits := fmt.Sprintf("%020d", n)
	return fmt.Appendf(nil, "%s %08x\n", digits, crc32.ChecksumIEEE([]byte(digits)))
}

// parseSent reads how many bytes of the queue were dealt with. What it cannot
// read is 0, which only costs work.
func parseSent(data []byte) int64 {
	digits, _, _ := strings.Cut(string(data), " ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || !bytes.Equal(data, sentLine(n)) {
		return 0
	}
	return n
}

// origin says how a session came to the disk.
type origin struct {
	blind bool
	// files are those that the remote archive had and the disk has not.
	files []storage.Info
}

const (
	originHead = "compact spool 1"
	originEnd  = "end"
)

func (o origin) bytes() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s blind=%t\n", originHead, o.blind)
	for _, f := range o.files {
		fmt.Fprintf(&b, "%d %d %s\n", f.Size, f.Modified.UnixMilli(), f.Key)
	}
	b.WriteString(originEnd + "\n")
	return b.Bytes()
}

// parseOrigin reads what bytes wrote. Anything else is [storage.ErrDamaged]:
// a guess would take files for absent that are not.
func parseOrigin(data []byte) (origin, error) {
	lines := strings.Split(string(data), "\n")
	n := len(lines)
	if n < 3 || lines[n-1] != "" || lines[n-2] != originEnd {
		return origin{}, storage.ErrDamaged
	}
	var o origin
	switch lines[0] {
	case originHead + " blind=true":
		o.blind = true
	case originHead + " blind=false":
	default:
		return origin{}, storage.ErrDamaged
	}
	for _, line := range lines[1 : n-2] {
		parts := strings.SplitN(line, " ", 3)
		if len(parts) != 3 {
			return origin{}, storage.ErrDamaged
		}
		size, err1 := strconv.ParseInt(parts[0], 10, 64)
		ms, err2 := strconv.ParseInt(parts[1], 10, 64)
		key, err3 := storage.ParseKey(parts[2])
		if err1 != nil || err2 != nil || err3 != nil || size < 0 {
			return origin{}, storage.ErrDamaged
		}
		o.files = append(o.files, storage.Info{Key: key, Size: size, Modified: time.UnixMilli(ms)})
	}
	return o, nil
}

// has returns a file that only the remote archive has.
func (o *origin) has(k storage.Key) bool {
	for _, f := range o.files {
		if f.Key == k {
			return true
		}
	}
	return false
}

// without returns o without a file.
func (o origin) without(k storage.Key) origin {
	files := o.files
	o.files = nil
	for _, f := range files {
		if f.Key != k {
			o.files = append(o.files, f)
		}
	}
	return o
}
