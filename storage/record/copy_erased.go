package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agentcompact/compact/storage"
)

// errErasing is the error for a session that src has begun to erase and that has no
// tombstone yet.
var errErasing = errors.New("its erase was started there and not finished; erase it again")

// A srcStone is a tombstone of src, with the result of checking the chain of its log.
type srcStone struct {
	Tombstone
	whole  bool // the next line, if any, holds the hash of this one
	linked bool // the line holds the hash of the previous one
}

// stoneCheck reads the tombstones of src, and checks each line against its neighbors.
type stoneCheck struct {
	key   storage.Key
	lines stoneReader
	all   []srcStone
	last  int    // index of the first tombstone of the last line
	hash  string // hash of the last line; "" = none
}

func (c *stoneCheck) line(l rawLine) error {
	link, ok := parseLink(l.text)
	linked := ok && (link.prev == c.hash || c.hash == "" && versionOf(link.prev, c.key) > 0)
	if ok {
		for i := c.last; i < len(c.all) && !linked; i++ {
			c.all[i].whole = false
		}
		c.last, c.hash = len(c.all), hashOf(l.text)
	}
	for _, t := range c.lines.read(l) {
		c.all = append(c.all, srcStone{t, !t.Damaged, linked})
	}
	return nil
}

// readStones reads the tombstones of src.
func (c *copier) readStones(ctx context.Context) error {
	x := &stoneCheck{key: keyOf(erasedName)}
	if err := eachLineOfLog(ctx, c.src, x.key, 0, x.line); err != nil {
		return err
	}
	c.known, c.ended, c.book = x.all, map[string][]srcStone{}, nil
	for _, t := range c.known {
		if t.Session != "" && t.Refused == "" {
			c.ended[t.Session] = append(c.ended[t.Session], t)
		}
	}
	return nil
}

// moved reports whether src has new tombstones.
func (c *copier) moved(ctx context.Context) (bool, error) {
	n := 0
	for _, err := range Tombstones(ctx, c.src) {
		if err != nil {
			return false, err
		}
		n++
	}
	return n != len(c.known), nil
}

// carryAll erases the sessions of dst that src has erased.
func (c *copier) carryAll(ctx context.Context) error {
	if len(c.ended) == 0 {
		return nil
	}
	var dirs []storage.Key
	for s, err := range Sessions(ctx, c.dst) {
		if err != nil {
			return err
		}
		if _, ok := c.ended[tombstoneID(keyOf(s.Dir))]; ok {
			dirs = append(dirs, keyOf(s.Dir))
		}
	}
	var errs []error
	for _, dir := range dirs {
		if _, err := c.carry(ctx, dir); err != nil {
			if c.left == nil {
				c.left = map[string]bool{}
			}
			c.left[tombstoneID(dir)] = true
			errs = append(errs, fmt.Errorf("%w; the source has a tombstone for this session; the destination keeps the session, without the new heads and the tombstone", err))
		}
	}
	return errors.Join(errs...)
}

// carry erases a session of dst if src has erased it. It returns true if src has no
// files of the session, and false if src has begun it again. It keeps a session of the
// same name that is not a copy of an erased one, and a session without a proof that src
// erased it.
func (c *copier) carry(ctx context.Context, dir storage.Key) (gone bool, err error) {
	stones := c.ended[tombstoneID(dir)]
	if len(stones) == 0 {
		return false, nil
	}
	here, err := openDir(ctx, c.src, dir)
	if err != nil {
		return false, err
	}
	mine, _ := here.manifest.known()
	gone = mine.seq == 0 || mine.facts.erasing
	there, err := openDir(ctx, c.dst, dir)
	if err != nil {
		return gone, err
	}
	theirs, _ := there.manifest.known()
	if theirs.seq == 0 || !gone && mine.first == theirs.first {
		return gone, nil
	}
	stone, err := c.stoneOf(ctx, dir, theirs.first, stones)
	if !gone && errors.Is(err, storage.ErrExists) {
		return false, nil // the copy of the new session reports that dst has another session of this name
	}
	if err != nil || stone == nil {
		return gone, err
	}
	return gone, c.erase(ctx, there, *stone)
}

// stoneOf returns the last tombstone for a life of a session in dst, nil if there is
// none. A life of a session ends with its erase; a session that is begun again under
// the name is another life. It returns an error if there is a tombstone but no proof of
// it, or if the tombstone may belong to another life.
func (c *copier) stoneOf(ctx context.Context, dir storage.Key, first string, stones []srcStone) (*Tombstone, error) {
	var unproven error
	for _, t := range slices.Backward(stones) {
		life, err := c.lifeOf(ctx, dir, t)
		if err != nil {
			return nil, err
		}
		if life != "" && life != first {
			continue
		}
		why, err := c.doubt(ctx, dir, t, first)
		switch {
		case err != nil:
			return nil, err
		case why == "" && life != "":
			return &t.Tombstone, nil
		case why == "":
			why = "the source erased a session of this name, and nothing proves that it was this one"
		}
		if unproven == nil {
			unproven = &storage.Error{Op: "copy", Key: dir, Err: fmt.Errorf("%w: %s; erase it here, or keep it in another archive", storage.ErrExists, why)}
		}
	}
	return nil, unproven
}

// lifeOf returns the life of an erased session, "" if it is unknown. A tombstone of
// version 0.1.0 does not name the life, but the heads of src may.
func (c *copier) lifeOf(ctx context.Context, dir storage.Key, stone srcStone) (string, error) {
	if stone.Life != "" || stone.Head == "" {
		return stone.Life, nil
	}
	b, err := c.heads(ctx)
	if err != nil {
		return "", err
	}
	for _, l := range b.sessions[headID(dir)] {
		if l.Head == stone.Head {
			return l.Life, nil
		}
	}
	return "", nil
}

// doubt returns the missing part of the proof of an erase in src, "" if nothing is
// missing. If src has heads, one of them must record the erase.
func (c *copier) doubt(ctx context.Context, dir storage.Key, stone srcStone, first string) (string, error) {
	if !stone.whole || !stone.linked {
		return "its tombstone in the source, or the tombstone before that one, was changed", nil
	}
	b, err := c.heads(ctx)
	if err != nil {
		return "", err
	}
	if len(b.sessions) == 0 && len(c.opts.Public) == 0 {
		return "", nil
	}
	for _, x := range b.lives(headID(dir)) {
		for _, l := range x.lines {
			if l.Op == opErase && l.Life == first && l.Head == stone.Head {
				return "", nil
			}
		}
	}
	return "the source has a tombstone for it, but the heads of the source do not record its erase", nil
}

// heads returns the heads of src, which are read once, after the tombstones.
func (c *copier) heads(ctx context.Context) (*HeadBook, error) {
	if c.book != nil {
		return c.book, nil
	}
	b, err := ReadHeads(ctx, c.src, HeadsOptions{Public: c.opts.Public})
	c.book = b
	if err != nil {
		c.book = nil
	}
	return c.book, err
}

// erase erases a session of dst, with the reason and the user in the tombstone of src.
func (c *copier) erase(ctx context.Context, s *Session, stone Tombstone) error {
	s.KeepHeads(c.opts.Heads)
	e, err := s.condemn(ctx, time.Time{})
	if err != nil {
		return err
	}
	if _, err := e.erase(ctx, s.stone(stone.Reason, stone.Who)); err != nil {
		return err
	}
	c.done.Erased++
	return nil
}

// lost returns an error if a damaged tombstone of dst may belong to this life of the
// session. It returns nil if dst did not erase this life. The heads of dst show that;
// without heads, the readable fields of each damaged tombstone must show it.
func (c *copier) lost(ctx context.Context, dir storage.Key, life string, why error) error {
	b, err := ReadHeads(ctx, c.dst, HeadsOptions{})
	if err != nil {
		return err
	}
	for t, err := range Tombstones(ctx, c.dst) {
		switch {
		case err != nil:
			return err
		case !t.Damaged || t.Session != "":
		case t.Life == life, t.Life == "" && len(b.sessions) == 0:
			return fmt.Errorf("%w; %s is not copied, because it may be that session", why, dir)
		}
	}
	for _, l := range b.sessions[headID(dir)] {
		if l.Op == opErase && l.Life == life {
			return &storage.Error{Op: "copy", Key: dir, Err: ErrErased}
		}
	}
	return nil
}

// stones copies the missing tombstones, except damaged tombstones and the tombstones of sessions that
// stay in dst. If dst had no tombstones and src has no damaged ones, the copied log is equal byte for
// byte, because the chain of hashes covers only tombstones.
func (c *copier) stones(ctx context.Context) error {
	there := map[string]bool{}
	for t, err := range Tombstones(ctx, c.dst) {
		if err != nil {
			return err
		}
		there[t.body()] = true
	}
	graves := newChain(c.dst, keyOf(erasedName), false)
	for _, t := range c.known {
		if !t.whole || there[t.body()] || c.left[t.Session] {
			continue
		}
		if err := bury(ctx, graves, t.Tombstone); err != nil {
			return err
		}
		c.done.Files++
	}
	return nil
}
