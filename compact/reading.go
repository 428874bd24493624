package compact

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/agentcompact/compact/message"
)

// A reading is what the archive is asked for beside the calls: results that a
// summary is of which is prepared, where the caller keeps the view. A call that
// compacts nothing waits for no archive.
type reading struct {
	asked  []string          // references, those of the readings before it included
	before map[string]string // what those found
	done   chan struct{}     // closed when found is there

	found map[string]string
	bytes int64 // of both
}

// isDone reports whether nothing is being read; of nil nothing is.
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

// into adds what was found so far.
func (r *reading) into(all map[string]string) {
	if r == nil {
		return
	}
	maps.Copy(all, r.before)
	if r.isDone() {
		maps.Copy(all, r.found)
	}
}

// unasked returns those of some references that the archive was not asked for.
func (r *reading) unasked(refs []string) (out []string) {
	for _, ref := range refs {
		if r == nil || !slices.Contains(r.asked, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// weight is about what it costs in memory, in bytes.
func (r *reading) weight() int64 {
	if r == nil || !r.isDone() {
		return 0
	}
	return r.bytes + seenWeight*int64(len(r.before)+len(r.found))
}

// readAhead reports whether all is at hand, as far as it can be had, that a
// summary of what is old in the view needs. What is not is read beside the calls,
// each result once; the call that compacts asks for what was not found again.
func (c *call) readAhead(ctx context.Context) bool {
	_, missing := c.remembered(len(c.now.conv.Messages()))
	if len(missing) == 0 || c.s.late.missing() != nil { // there is no more to be had
		return true
	}
	l := c.lane
	if l.reading.isDone() {
		c.read(ctx, l.reading.unasked(missing))
	}
	_, old := c.remembered(c.recentFrom())
	return len(old) == 0 || l.reading.isDone() && len(l.reading.unasked(old)) == 0
}

// read reads results beside the calls.
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

// recentFrom is where in the view the turns begin that no summary is of.
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
