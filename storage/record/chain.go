package record

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/storage"
)

// chain appends lines to a log, each with the hash of the previous one. Several
// chains in several processes can append to one log: if the log is longer than
// expected, append reads the new lines and tries again.
type chain struct {
	a   storage.Archive
	key storage.Key
	// full makes load read every line, not only the last one, because the facts
	// are needed.
	full bool

	busy   ctxlock.Mutex // held while the log is read or written; guards loaded and state
	loaded bool
	state  tail

	mu       sync.Mutex // guards said and saidLoad, the copy for known, which does not wait for busy
	said     tail
	saidLoad bool
	heard    time.Time // when the log was last read or written, by this process's clock
}

// tail is the state of a log that an append needs. It is a value: a caller that reads
// further lines in advance discards them by not storing the new tail.
type tail struct {
	seq   int64
	first string // hash of the first line if it was read, else ""
	head  string // hash of the last line
	end   int64  // offset after the last whole line
	from  int64  // offset at which the last append began
	open  bool   // the last line lacks only its line feed
	junk  []byte // bytes after end that are not a valid line
	gap   bool   // a line that was read does not follow the line before it
	watch bool   // the log is a manifest, so facts are kept
	facts facts
	// seen is the time of the last line after which the log's existence was checked.
	// Lines appended without the check follow it.
	seen time.Time
	// sign, if not nil, completes a line before it is written.
	sign func(line string) string
	// sure is facts.ledgers without the last line. If the next line does not hold the hash
	// of the last line, facts.ledgers is set back to sure.
	sure *ledgerLines
}

// facts holds the state of a session that its manifest records.
type facts struct {
	hold    LegalHold
	erasing bool
	eraser  holder    // process that erases the session
	last    time.Time // time of the last record
	ledgers *ledgerLines
	names   *nameList // announced files
	lines   int64     // number of lines of the manifest
	scrubs  int       // number of recorded scrubs, placed or not
	scrub   *unplaced // scrub with files that are not in place yet; nil: none
	fence   fence     // fence in the last line, for a log that is not a manifest
	size    int64     // size of the log, for appends
	strange bool      // the read lines do not continue the known ones
}

func newChain(a storage.Archive, k storage.Key, full bool) *chain {
	return &chain{a: a, key: k, full: full, state: tail{head: genesis(k), watch: full}}
}

// size returns the size of the log in bytes.
func (t tail) size() int64 { return t.end + int64(len(t.junk)) }

// advance updates the tail with the next line of the log.
func (t *tail) advance(l rawLine) {
	link, ok := parseLink(l.text)
	if !ok {
		t.junk = append(t.junk, l.text...)
		if l.ended {
			t.junk = append(t.junk, '\n')
		}
		return
	}
	if t.watch {
		if link.prev != t.head {
			t.facts.ledgers = t.sure // the previous line was changed
		}
		t.observe(link.body())
	} else {
		t.facts.fence = fenceOf(link.body())
	}
	t.gap = t.gap || t.seq > 0 && link.seq != t.seq+1
	t.seq, t.head, t.end, t.open, t.junk = link.seq, hashOf(l.text), l.next(), !l.ended, nil
	if t.seq == 1 {
		t.first = t.head
	}
}

// observe updates the facts with a line of a manifest.
func (t *tail) observe(body []byte) {
	t.sure = t.facts.ledgers
	t.facts.observe(body)
}

// extend returns the bytes that append bodies to the log, and the tail after
// them.
func (t tail) extend(bodies []string) (storage.Blob, tail) {
	var parts []string
	size := t.size()
	t.from = size
	add := func(s string) {
		parts = append(parts, s)
		size += int64(len(s))
	}
	region := t.junk
	if n := len(region); t.open || n > 0 && region[n-1] != '\n' {
		add("\n")
		region = append(region[:n:n], '\n')
	}
	if len(t.junk) > 0 {
		bodies = append([]string{tornBody(region)}, bodies...)
	}
	for _, body := range bodies {
		line := link(t.seq+1, t.head, body)
		if t.sign != nil {
			line = t.sign(line)
		}
		t.seq, t.head = t.seq+1, hashOf([]byte(line))
		if t.seq == 1 {
			t.first = t.head
		}
		if t.watch {
			t.observe([]byte(body))
		} else {
			t.facts.fence = fenceOf([]byte(body))
		}
		add(line)
		add("\n")
	}
	t.end, t.open, t.junk = size, false, nil
	return blobOf(parts...), t
}

// maxAttempts limits the attempts of an append. Each failed attempt means that
// another writer succeeded, so a correct archive never reaches the limit.
const maxAttempts = 10_000

// append adds the lines that build returns for the current facts; build can be
// called several times. When append returns the new tail, the lines are
// durable.
func (c *chain) append(ctx context.Context, build func(facts) ([]string, error)) (tail, error) {
	return c.appendBy(ctx, c.a.Append, true, build)
}

// appendUnseen appends without checking whether the log was removed. The caller
// must append again or call settle, which makes the check ([storage.Deferrer]).
func (c *chain) appendUnseen(ctx context.Context, build func(facts) ([]string, error)) (tail, error) {
	if d, ok := c.a.(storage.Deferrer); ok {
		return c.appendBy(ctx, d.AppendUnseen, false, build)
	}
	return c.append(ctx, build)
}

// appendLazily is append, except that the lines can be lost if the machine stops before
// the next append. An archive that has no such operation appends unseen.
func (c *chain) appendLazily(ctx context.Context, build func(facts) ([]string, error)) (tail, error) {
	if l, ok := c.a.(storage.LazyAppender); ok {
		return c.appendBy(ctx, l.AppendLazily, true, build)
	}
	return c.appendUnseen(ctx, build)
}

// settle makes the check that appendUnseen has deferred.
func (c *chain) settle(ctx context.Context) error {
	if d, ok := c.a.(storage.Deferrer); ok {
		return d.Settle(ctx, c.key)
	}
	return nil
}

func (c *chain) appendBy(ctx context.Context, by func(context.Context, storage.Key, int64, storage.Blob) error, looks bool, build func(facts) ([]string, error)) (tail, error) {
	if err := c.busy.Lock(ctx); err != nil {
		return tail{}, &storage.Error{Op: "append", Key: c.key, Err: err}
	}
	defer c.busy.Unlock()
	if err := c.load(ctx); err != nil {
		return tail{}, err
	}
	now := c.state
	for attempt := range maxAttempts {
		now.facts.size = now.size()
		bodies, err := build(now.facts)
		if err != nil {
			return tail{}, &storage.Error{Op: "append", Key: c.key, Err: err}
		}
		if len(bodies) == 0 {
			return now, nil
		}
		if c.full && now.seq == 0 {
			bodies[0] = withLife(bodies[0])
		}
		blob, next := now.extend(bodies)
		err = by(ctx, c.key, now.size(), blob)
		if err == nil {
			if looks {
				next.seen = next.facts.last
			}
			c.set(next)
			return next, nil
		}
		if !errors.Is(err, storage.ErrSeq) {
			return tail{}, err
		}
		if err := backOff(ctx, attempt); err != nil {
			return tail{}, &storage.Error{Op: "append", Key: c.key, Err: err}
		}
		if now, err = c.read(ctx); err != nil {
			return tail{}, err
		}
	}
	return tail{}, &storage.Error{Op: "append", Key: c.key, Err: storage.ErrSeq}
}

// reset discards the known state of the log, which may have been rewritten.
func (c *chain) reset(ctx context.Context) error {
	if err := c.busy.Lock(ctx); err != nil {
		return &storage.Error{Op: "read", Key: c.key, Err: err}
	}
	defer c.busy.Unlock()
	c.state, c.loaded = tail{head: genesis(c.key), watch: c.full}, false
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said, c.saidLoad = tail{}, false
	return nil
}

// reread reads the log from its beginning and remembers it. If the log is missing or
// begins with another line than before, it returns [ErrErased] and keeps its earlier
// state.
func (c *chain) reread(ctx context.Context) error {
	if err := c.busy.Lock(ctx); err != nil {
		return &storage.Error{Op: "read", Key: c.key, Err: err}
	}
	defer c.busy.Unlock()
	now := newChain(c.a, c.key, c.full)
	if err := now.load(ctx); err != nil {
		return err
	}
	if c.state.first != "" && now.state.first != c.state.first {
		return &storage.Error{Op: "read", Key: c.key, Err: ErrErased}
	}
	c.set(now.state)
	return nil
}

// refresh returns the current tail. Only the first read of a chain is remembered:
// later lines of other writers may not be durable yet, and may still disappear.
func (c *chain) refresh(ctx context.Context) (tail, error) {
	if err := c.busy.Lock(ctx); err != nil {
		return tail{}, &storage.Error{Op: "read", Key: c.key, Err: err}
	}
	defer c.busy.Unlock()
	if !c.loaded {
		err := c.load(ctx)
		return c.state, err
	}
	return c.read(ctx)
}

// known returns the remembered tail: the tail after this chain's last append, or after
// its first read. It returns false if the chain was neither appended to nor read. It
// does not wait for a running append.
func (c *chain) known() (tail, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said, c.saidLoad
}

// set stores a tail that was read or written; the caller holds busy.
func (c *chain) set(t tail) {
	t.facts.strange = false
	c.state, c.loaded = t, true
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said, c.saidLoad, c.heard = t, true, time.Now()
}

// heardSince returns how long ago the log was last read or written.
func (c *chain) heardSince() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.heard)
}

// read reads the lines after the known tail.
func (c *chain) read(ctx context.Context) (tail, error) {
	t := c.state
	t.junk = nil
	r, size, err := openEnd(ctx, c.a, c.key, t.end)
	switch {
	case errors.Is(err, storage.ErrNotExist) && t.end > 0:
		return tail{}, &storage.Error{Op: "append", Key: c.key, Err: ErrErased}
	case errors.Is(err, storage.ErrNotExist):
		return t, nil
	case err != nil:
		return tail{}, err
	case size < t.end:
		return tail{}, errors.Join(cmp.Or(c.replaced(ctx), error(&storage.Error{Op: "append", Key: c.key, Err: storage.ErrDamaged})), r.Close())
	}
	follows := follower{head: t.head}
	err = eachLine(ctx, r, t.end, func(l rawLine) error {
		if t.open && l.off == c.state.end && len(l.text) == 0 && l.ended {
			t.end, t.open = l.next(), false // the line feed that was missing
			return nil
		}
		follows.see(l)
		if len(t.junk)+len(l.text) > maxLineBytes {
			return storage.ErrDamaged
		}
		t.advance(l)
		return nil
	})
	t.seen = t.facts.last
	err = errors.Join(err, r.Close())
	if t.facts.strange = c.state.seq > 0 && follows.strange(); t.facts.strange && err == nil {
		err = c.replaced(ctx)
	}
	return t, storage.Wrap("read", c.key, err)
}

// load reads the tail of the log if it is not known.
func (c *chain) load(ctx context.Context) error {
	for attempt := 0; !c.loaded; attempt++ {
		err := c.loadOnce(ctx)
		if err == nil || c.full || attempt == loadAttempts || !errors.Is(err, storage.ErrNotExist) && !errors.Is(err, storage.ErrDamaged) {
			return err
		}
		// A scrub removed the log, or a part of it, during the read.
		if err := backOff(ctx, attempt); err != nil {
			return &storage.Error{Op: "read", Key: c.key, Err: err}
		}
	}
	return nil
}

const loadAttempts = 20

func (c *chain) loadOnce(ctx context.Context) error {
	if !c.full {
		return c.loadEnd(ctx)
	}
	t, err := c.read(ctx)
	if err != nil {
		c.state.end = 0
		return err
	}
	c.set(t)
	return nil
}

// loadEnd reads the last valid line of a log and what follows it. It reads from the end, in
// growing pieces. A missing log is empty.
func (c *chain) loadEnd(ctx context.Context) error {
	for chunk := int64(64 << 10); ; chunk *= 4 {
		r, off, err := openLast(ctx, c.a, c.key, chunk)
		if errors.Is(err, storage.ErrNotExist) {
			c.set(c.state)
			return nil
		}
		if err != nil {
			return err
		}
		t, found, err := c.lastLine(ctx, r, off)
		if err := errors.Join(err, r.Close()); err != nil {
			return storage.Wrap("read", c.key, err)
		}
		if found || off == 0 {
			c.set(t)
			return nil
		}
	}
}

// lastLine returns the tail of a log after its last valid line, which may lack its line
// feed. It reads the log from off, which may be within a line. It returns false if there is
// no valid line.
func (c *chain) lastLine(ctx context.Context, r io.Reader, off int64) (t tail, found bool, err error) {
	t = c.state
	within := off > 0
	if within { // the end of a line is skipped, not kept: it can be as long as the log
		br := bufio.NewReaderSize(&ctxReader{ctx, r}, 64<<10)
		n, err := skipLine(br)
		if errors.Is(err, io.EOF) {
			return t, false, nil
		}
		if err != nil {
			return t, false, err
		}
		r, off = br, off+n
	}
	err = eachLine(ctx, r, off, func(l rawLine) error {
		_, ok := parseLink(l.text)
		switch {
		case ok:
			t, found = c.state, true
		case !found && within:
			return nil // it is read again if no valid line follows
		case len(t.junk)+len(l.text) > maxLineBytes:
			return storage.ErrDamaged
		}
		t.advance(l)
		return nil
	})
	return t, found, err
}

// skipLine reads up to the next line feed, and returns the number of bytes.
func skipLine(br *bufio.Reader) (n int64, err error) {
	for {
		part, err := br.ReadSlice('\n')
		n += int64(len(part))
		if !errors.Is(err, bufio.ErrBufferFull) {
			return n, err
		}
	}
}

// backOff waits for a random time, and not at all in the first attempts.
func backOff(ctx context.Context, attempt int) error {
	if attempt < 4 {
		return ctx.Err()
	}
	most := 1 << min(attempt, 14) // about 16 ms
	return sleep(ctx, time.Duration(1+rand.IntN(most))*time.Microsecond)
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
