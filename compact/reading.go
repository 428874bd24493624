package compact

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/agentcompact/compact/message"
)

// A reading reads results from the archive in the background, for a prepared
// summary, if the caller keeps only the view. So a call without a compaction
// never waits for the archive.
type reading struct {
	asked  []string          // references, including references of earlier readings
	before map[string]string // results of the earlier readings
	done   chan struct{}     // closed when found is set

	found map[string]string
	bytes int64 // memory of before and found
}

// isDone reports whether the reading has ended. The receiver may be nil.
func (r *reading) isDone() bool {
	if r == nil {
		return true
	}
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// into adds the results found so far to all.
func (r *reading) into(all map[string]string) {
	if r == nil {
		return
	}
	maps.Copy(all, r.before)
	if r.isDone() {
		maps.Copy(all, r.found)
	}
}

// unasked returns the references that were not read before.
func (r *reading) unasked(refs []string) (out []string) {
	for _, ref := range refs {
		if r == nil || !slices.Contains(r.asked, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// weight returns the approximate memory in bytes.
func (r *reading) weight() int64 {
	if r == nil || !r.isDone() {
		return 0
	}
	return r.bytes + seenWeight*int64(len(r.before)+len(r.found))
}

// readAhead reports whether all results that a summary of the view's old part
// needs are in memory or unavailable. It starts to read missing ones in the
// background, each once; the call that compacts tries missing ones again.
func (c *call) readAhead(ctx context.Context) bool {
	_, missing := c.remembered(len(c.now.conv.Messages()))
	if len(missing) == 0 || c.s.late.missing() != nil { // nothing more is available
		return true
	}
	l := c.lane
	if l.reading.isDone() {
		c.read(ctx, l.reading.unasked(missing))
	}
	_, old := c.remembered(c.recentFrom())
	return len(old) == 0 || l.reading.isDone() && len(l.reading.unasked(old)) == 0
}

// read reads results in the background.
func (c *call) read(ctx context.Context, refs []string) {
	if len(refs) == 0 {
		return
	}
	r := &reading{asked: refs, before: map[string]string{}, done: make(chan struct{})}
	if last := c.lane.reading; last != nil {
		r.asked = append(slices.Clip(last.asked), refs...)
		last.into(r.before)
	}
	held := sizeOfTexts(r.before)
	b := &readBack{s: c.s, all: map[string]string{}, left: originalsBytes - held}
	if c.m.fly(ctx, c.s, c.lane, func(ctx context.Context) {
		defer close(r.done)
		_ = b.read(ctx, refs, originalsAhead, time.Time{})
		r.found, r.bytes = b.all, held+sizeOfTexts(b.all)
	}) {
		c.lane.reading = r
	}
}

// recentFrom returns the index in the view of the first kept turn, which no
// summary covers.
func (c *call) recentFrom() int {
	msgs, turns := c.now.conv.Messages(), c.ep.engine.Keep.Turns
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role != message.RoleAssistant {
			continue
		}
		if turns--; turns <= 0 {
			return i
		}
	}
	return 0
}

func sizeOfTexts(texts map[string]string) (n int64) {
	for _, s := range texts {
		n += int64(len(s))
	}
	return n
}
