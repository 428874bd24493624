package compact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/lookup"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// Limits of what one compaction reads from the archive. A summary needs masked
// results to state the outcome of their calls.
const (
	originalsTime   = 2 * time.Second
	originalsAhead  = 30 * time.Second // if no call waits
	originalsBytes  = 16 << 20
	originalsAtOnce = 8
)

// originals returns a lookup of originals by reference: in the history if the
// caller keeps it, else in the archive, redacted. The first lookup reads the
// originals of all placeholders in the view.
func (r *run) originals() func(ref string) (string, bool) {
	var all map[string]string
	return func(ref string) (string, bool) {
		if all == nil && r.ahead {
			all, _ = r.c.remembered(0)
		}
		if all == nil {
			all = r.readOriginals(r.ctx)
		}
		text, ok := all[ref]
		return text, ok
	}
}

// readOriginals never fails the call. Originals that can't be read are left
// out, with a warning.
func (r *run) readOriginals(ctx context.Context) map[string]string {
	c := r.c
	all, missing := c.remembered(len(c.now.conv.Messages()))
	if len(missing) == 0 {
		return all
	}
	b := &readBack{s: c.s, all: all, left: originalsBytes}
	err := c.s.late.missing()
	if err == nil {
		r.desk.waiting(ctx, func() { err = b.read(ctx, missing, originalsTime, c.until(ctx)) })
	}
	if err != nil && ctx.Err() == nil {
		c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text(fmt.Sprintf(
			"only %d of %d earlier masked tool results could be read back; the summary does not state the outcomes of the others: %v",
			b.found, len(missing), err)).String())
	}
	return all
}

// remembered returns the originals that are in the history or were read in the
// background, and the references of the others in the first upTo messages of the
// view.
func (c *call) remembered(upTo int) (all map[string]string, missing []string) {
	all = c.held()
	c.lane.reading.into(all)
	return all, slices.DeleteFunc(c.shownRefs(upTo), func(ref string) bool { _, ok := all[ref]; return ok })
}

// held returns the results that are in the history but not in the view, by
// reference.
func (c *call) held() map[string]string {
	all := map[string]string{}
	for i := range c.history {
		if d, _ := c.now.conv.Decision(i); d == policy.Kept {
			continue
		}
		for _, p := range c.history[i].Parts {
			if p.Kind == message.KindToolResult {
				for _, with := range c.s.keys.All() { // a placeholder can have a reference of an older key
					all[with.Ref(p.Fingerprint())] = p.Text
				}
			}
		}
	}
	return all
}

// shownRefs returns the references of truncated and masked results in the first
// upTo messages of the view, newest first.
func (c *call) shownRefs(upTo int) (refs []string) {
	conv, forms := c.now.conv, c.ep.forms()
	msgs := conv.Messages()
	for i := upTo - 1; i >= 0; i-- {
		for p := range msgs[i].Parts {
			if msgs[i].Parts[p].Kind != message.KindToolResult {
				continue
			}
			mark, _ := forms.ParseMark(msgs[i].Parts[p].Text)
			if mark.Form == formname.Media {
				continue // an image does not show the outcome of a call
			}
			o, ours := conv.Origin(i, p) // any tool can print a text that looks like a placeholder
			if ref := cmp.Or(o.Ref, mark.Ref); ours && ref != "" && !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
	}
	return refs
}

// errMuchToRead is the error for originals above the limit of one call.
var errMuchToRead = fmt.Errorf("they exceed %d MiB", originalsBytes>>20)

// errNoTime is the error for a slow archive.
var errNoTime = errors.New("the archive takes too long")

// readBack reads several results concurrently.
type readBack struct {
	s *session

	mu    sync.Mutex // guards the fields below
	all   map[string]string
	found int
	left  int64 // bytes
	err   error // the first failure
}

// read reads the originals of references, within the limits of time and size.
func (b *readBack) read(ctx context.Context, refs []string, most time.Duration, until time.Time) error {
	ctx, cancel := context.WithTimeoutCause(ctx, most, errNoTime)
	defer cancel()
	if !until.IsZero() { // leaves time for the summary
		ctx, cancel = context.WithTimeoutCause(ctx, time.Until(until)/2, errNoTime)
		defer cancel()
	}
	steps, next := b.s.snapshot(), make(chan string)
	var wg sync.WaitGroup
	for range min(originalsAtOnce, len(refs)) {
		wg.Go(func() {
			for ref := range next {
				if err := b.one(ctx, steps, ref); err != nil {
					b.note(err)
					if !errors.Is(err, errMuchToRead) {
						cancel() // the other reads would fail, too
					}
				}
			}
		})
	}
	for _, ref := range refs {
		select {
		case next <- ref:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	if b.err == nil {
		b.err = b.pending(ctx, refs)
	}
	if errors.Is(b.err, context.DeadlineExceeded) || errors.Is(b.err, context.Canceled) {
		return context.Cause(ctx)
	}
	return b.err
}

func (b *readBack) note(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

// one reads the original of one reference, if a step has it.
func (b *readBack) one(ctx context.Context, steps []ledger.Step, ref string) (err error) {
	defer rescue(nil, nil, "the archive", &err)
	q, err := lookup.ParseRef(ref)
	if err != nil {
		return nil // not a reference of the archive
	}
	if q.Most = b.room(); q.Most <= 0 {
		return errMuchToRead
	}
	text, found, err := b.s.reads.FindInSteps(ctx, steps, q)
	if errors.Is(err, lookup.ErrMost) {
		err = errMuchToRead
	}
	if found {
		b.take(ref, text)
	}
	return err
}

func (b *readBack) room() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

func (b *readBack) take(ref, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all[ref], b.left = text, b.left-int64(len(text))
	b.found++
}

// pending reads originals that no step has archived, in one pass.
func (b *readBack) pending(ctx context.Context, refs []string) (err error) {
	defer rescue(nil, nil, "the archive", &err)
	for line, err := range b.s.reads.Unarchived(ctx) {
		switch {
		case err != nil:
			return err
		case b.room() <= 0:
			return errMuchToRead
		}
		b.line(line, refs)
	}
	return nil
}

// line collects the originals of references in one line of a transcript.
func (b *readBack) line(line []byte, refs []string) {
	a, err := ledger.ParseLine(line)
	if err != nil {
		return
	}
	for i, ref := range a.Refs {
		if _, known := b.all[ref]; !known && i < len(a.Message.Parts) && slices.Contains(refs, ref) {
			b.take(ref, strings.Clone(a.Message.Parts[i].Text))
		}
	}
}

// readAhead reports whether all results that a summary of the view's old part needs
// are in memory or unavailable. It starts to read the missing ones in the
// background, each once. The call that compacts tries the ones that are still
// missing again.
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
