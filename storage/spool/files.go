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

// Files of DIR/state/SESSION. Reading tolerates any content: invalid data is
// reported or ignored.
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
	end int64 // for a log: the offset up to which the log is sent; 0: the log was removed
	had bool  // for a log: the remote archive had these bytes when the log came to the disk

	start int64 // length of the log before the append; it is not written to the queue
}

// removal reports whether a log was removed, so that its next append begins at 0.
func (o op) removal() bool { return o.log && o.end == 0 }

// String returns the line: "c KEY" for a file, "a END KEY" for a log, and "a +END KEY" for
// bytes of a log that the remote archive had. Earlier versions read that as "a END KEY".
func (o op) String() string {
	switch {
	case o.had:
		return fmt.Sprintf("a +%d %s", o.end, o.key)
	case o.log:
		return fmt.Sprintf("a %d %s", o.end, o.key)
	}
	return "c " + o.key.String()
}

// parseOp parses a line. It returns false for an incomplete or invalid line, and for a key that
// belongs to no session.
func parseOp(line string) (op, bool) {
	kind, rest, _ := strings.Cut(line, " ")
	o := op{log: kind == "a"}
	if o.log {
		end, key, ok := strings.Cut(rest, " ")
		n, err := strconv.ParseInt(end, 10, 64)
		if !ok || err != nil || n < 0 {
			return op{}, false
		}
		o.end, o.had, rest = n, end[0] == '+', key
	} else if kind != "c" {
		return op{}, false
	}
	key, err := storage.ParseKey(rest)
	o.key = key
	return o, err == nil && !belongsToNoSession(key)
}

// queued is an operation with the start and end of its line.
type queued struct {
	op
	at, next int64
}

// parseQueue parses the operations in the queue from an offset. A line without
// a line feed is still being written.
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

// sentLine returns the content of the file "sent". The file has a fixed length and is
// overwritten in place, which works even on a full disk.
func sentLine(n int64) []byte {
	digits := fmt.Sprintf("%020d", n)
	return fmt.Appendf(nil, "%s %08x\n", digits, crc32.ChecksumIEEE([]byte(digits)))
}

// parseSent returns the number of processed bytes of the queue; 0 for invalid
// data, which only costs repeated work.
func parseSent(data []byte) int64 {
	digits, _, _ := strings.Cut(string(data), " ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || !bytes.Equal(data, sentLine(n)) {
		return 0
	}
	return n
}

// origin describes the state of a session in the remote archive when the
// session came to the disk.
type origin struct {
	blind bool // the session was taken for new, because the remote archive did not answer
	// files are the files in the remote archive that are not on the disk.
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

// parseOrigin parses the output of [origin.bytes]. For any other data it returns
// [storage.ErrDamaged], because a guess could treat existing files as missing.
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

// has reports whether only the remote archive has a file.
func (o *origin) has(k storage.Key) bool {
	for _, f := range o.files {
		if f.Key == k {
			return true
		}
	}
	return false
}

// without returns a copy of o without a file.
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
