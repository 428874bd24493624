package storage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errErasing: the erase of a session of src has begun, and has no tombstone yet.
var errErasing = errors.New("its erase was begun there and did not come to its end; erase it again")

// readStones reads the tombstones of src.
func (c *copier) readStones(ctx context.Context) error {
	c.known, c.ended = nil, map[string]Tombstone{}
	for t, err := range Tombstones(ctx, c.src) {
		if err != nil {
			return err
		}
		c.known = append(c.known, t)
		if t.Refused == "" {
			c.ended[t.Session] = t
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
	var dirs []Key
	for s, err := range Sessions(ctx, c.dst) {
		if err != nil {
			return err
		}
		if _, ok := c.ended[tombstoneID(Key{s.Dir})]; ok {
			dirs = append(dirs, Key{s.Dir})
		}
	}
	var errs []error
	for _, dir := range dirs {
		if _, err := c.carry(ctx, dir); err != nil {
			if c.left == nil {
				c.left = map[string]bool{}
			}
			c.left[tombstoneID(dir)] = true
			errs = append(errs, fmt.Errorf("%w; it is erased where it was copied from, and stays here without the new heads and its tombstone", err))
		}
	}
	return errors.Join(errs...)
}

// carry erases a session of dst if src has erased it, which it reports. A session of the
// same name that is not a copy of the erased one stays.
func (c *copier) carry(ctx context.Context, dir Key) (gone bool, err error) {
	stone, ok := c.ended[tombstoneID(dir)]
	if !ok {
		return false, nil
	}
	here, err := openDir(ctx, c.src, dir)
	if err != nil {
		return false, err
	}
	if now, _ := here.manifest.known(); now.seq > 0 && !now.facts.erasing {
		return false, nil // it was begun anew
	}
	there, err := openDir(ctx, c.dst, dir)
	if err != nil {
		return true, err
	}
	now, _ := there.manifest.known()
	life, err := c.lifeOf(ctx, dir, stone)
	if err != nil || now.seq == 0 || now.first != life {
		return true, err
	}
	return true, c.erase(ctx, there, stone)
}

// lifeOf returns the life of an erased session. A tombstone of version 0.1.0 does not
// have it, but the heads of src can.
func (c *copier) lifeOf(ctx context.Context, dir Key, stone Tombstone) (string, error) {
	if stone.Life != "" {
		return stone.Life, nil
	}
	b, err := ReadHeads(ctx, c.src, HeadsOptions{})
	if err != nil {
		return "", err
	}
	for _, l := range b.sessions[headID(dir)] {
		if l.Head == stone.Head {
			return l.Life, nil
		}
	}
	return "", &Error{"copy", dir, fmt.Errorf("%w: nothing says whether it is what was erased there under its name; erase it here, or keep it in another archive", ErrExists)}
}

// erase erases a session of dst for the reason that src has.
func (c *copier) erase(ctx context.Context, s *Session, stone Tombstone) error {
	s.KeepHeads(c.opts.Heads)
	remover, files, err := s.condemn(ctx, time.Time{})
	if err != nil {
		return err
	}
	if _, err := s.erase(ctx, s.stone(stone.Reason, stone.Who), remover, files); err != nil {
		return err
	}
	c.done.Erased++
	return nil
}

// stones copies the missing tombstones, except those of sessions that stay in dst. If
// dst has none, the copy is equal byte for byte, because their chain depends on nothing
// else.
func (c *copier) stones(ctx context.Context) error {
	there := map[string]bool{}
	for t, err := range Tombstones(ctx, c.dst) {
		if err != nil {
			return err
		}
		there[t.body()] = true
	}
	graves := newChain(c.dst, Key{}.child(erasedName), false)
	for _, t := range c.known {
		if t.Session == "" || there[t.body()] || c.left[t.Session] {
			continue
		}
		if err := bury(ctx, graves, t); err != nil {
			return err
		}
		c.done.Files++
	}
	return nil
}
