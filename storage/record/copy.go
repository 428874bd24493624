package record

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agentcompact/compact/storage"
)

// CopyOptions is for [Copy]. The zero value copies everything.
type CopyOptions struct {
	// Sessions are the folders to copy; none: all folders, with the heads, the access
	// records and the tombstones beside them.
	Sessions []string
	// Heads, if not nil, records each session that Sessions names, after it was copied.
	Heads *Heads
	// Public are the keys that may have signed the heads of src. If there are any, an
	// erase is only repeated in dst if a signed head records it.
	Public []ed25519.PublicKey
	// Progress, if not nil, is called from one goroutine with each key.
	Progress func(k storage.Key)
}

// Copied counts the work of [Copy].
type Copied struct {
	Sessions int   `json:"sessions"`
	Files    int   `json:"files"`            // files that were created or extended
	Bytes    int64 `json:"bytes"`            // bytes that were written
	Same     int   `json:"same"`             // files that existed already
	Erased   int   `json:"erased,omitempty"` // sessions that were erased in dst, because src has erased them
}

// Copy copies sessions from one archive into another, byte for byte, including holds and
// everything else in the manifest. A manifest is copied before the files that it names, so that
// an incomplete copy is not mistaken for a complete session. An interrupted copy can be
// continued: existing files are compared, and only a log may be shorter. If a file differs
// (after a scrub of src), its whole session in dst is left unchanged, without new heads, and
// the error is [storage.ErrExists]. If a session is scrubbed in src while it is copied, it is
// copied again, provided that dst had no file of it and is a [storage.Remover]; otherwise the
// rest of the session is not copied, with the same error. A session that dst has erased is not
// copied, and the error is [ErrErased]. In these cases the other sessions are copied. No other
// process may write to the copies in the meantime. If two copies into one archive run at the same
// time, one of them ends with [ErrInUse], and can be repeated. Agents may write to src.
//
// A session that src has erased is erased in dst as well, if dst has a copy of it. The copy stays,
// without the new heads of src, if a hold or a lock in dst keeps it; the error is then [ErrHeld] or
// [storage.ErrLocked]. The copy also stays, with the error [storage.ErrExists], if the erase is not
// proven. The proof is a tombstone that fits the lines beside it and, if src has heads, a head of
// the erase.
//
// A copy of all sessions includes the heads, the access records, and the tombstones
// that dst lacks.
func Copy(ctx context.Context, dst, src storage.Archive, opts CopyOptions) (Copied, error) {
	c := &copier{dst: dst, src: src, opts: opts, graves: NewGraves(dst)}
	if err := c.keys(ctx); err != nil {
		return c.done, err
	}
	if len(opts.Sessions) > 0 {
		var errs []error
		for _, dir := range opts.Sessions {
			errs = append(errs, c.named(ctx, dir))
		}
		return c.done, errors.Join(errs...)
	}
	return c.done, c.all(ctx)
}

// keys records in dst the ids of the keys that seal the fingerprints of src. It runs
// before any session is copied, so that no process assumes another key for the copied
// fingerprints.
func (c *copier) keys(ctx context.Context) error {
	ids, err := KeyIDs(ctx, c.src)
	if err != nil {
		return err
	}
	for _, id := range ids {
		there := func(have []string) bool { return slices.Contains(have, id) }
		if _, err := AddKeyID(ctx, c.dst, id, there); err != nil {
			return err
		}
	}
	return nil
}

type copier struct {
	dst, src storage.Archive
	opts     CopyOptions
	graves   *Graves // tombstones of dst
	done     Copied

	known []srcStone            // tombstones of src
	ended map[string][]srcStone // tombstones that are not refusals, by session
	book  *HeadBook             // heads of src, nil if they were not read yet
	left  map[string]bool       // tombstoneID of sessions that could not be erased in dst
	gone  map[storage.Key]bool  // the name records of sessions that dst has erased
}

// all copies the sessions first and the files beside them afterwards, because heads
// without their sessions would report the sessions as missing. It starts again if a
// session of src was erased in the meantime, because the heads that were read before do
// not record that erase.
func (c *copier) all(ctx context.Context) error {
	for round := 0; ; round++ {
		if err := c.readStones(ctx); err != nil {
			return err
		}
		// The heads are listed before the sessions are copied, because later lines are about
		// data that is not copied.
		heads, err := c.list(ctx, keyOf(headsName))
		if err != nil {
			return err
		}
		err = c.sessions(ctx)
		moved, merr := c.moved(ctx)
		if merr != nil {
			return errors.Join(err, merr)
		}
		if (moved || errors.Is(err, errErasing)) && round < copyRounds {
			if err := sleep(ctx, 10*time.Millisecond<<round); err != nil {
				return &storage.Error{Op: "copy", Key: storage.Key{}, Err: err}
			}
			continue
		}
		if errors.Is(err, storage.ErrExists) || errors.Is(err, ErrInUse) || errors.Is(err, errErasing) || errors.Is(err, errStone) || len(c.left) > 0 || moved {
			heads = nil // the heads describe a session that differs in dst, or that dst does not have
		}
		return errors.Join(err, c.stones(ctx), c.names(ctx), c.these(ctx, keyOf(headsName), heads, nil), c.files(ctx, keyOf(accessName)))
	}
}

// copyRounds limits how often a copy begins again. Each repetition means another erase in
// src.
const copyRounds = 6

// names copies the names of sessions, except of those that dst has erased. It lists them
// again if an erase has removed one.
func (c *copier) names(ctx context.Context) (err error) {
	for range copyRounds {
		var all []storage.Info
		if all, err = c.list(ctx, keyOf(namesName)); err == nil {
			all = slices.DeleteFunc(all, func(i storage.Info) bool { return c.gone[i.Key] })
			err = c.these(ctx, keyOf(namesName), all, nil)
		}
		if !errors.Is(err, storage.ErrNotExist) {
			return err
		}
	}
	return err
}

// sessions erases in dst the sessions that src has erased, and copies the sessions of
// src.
func (c *copier) sessions(ctx context.Context) error {
	c.done.Sessions, c.done.Same, c.left, c.gone = 0, 0, nil, map[storage.Key]bool{}
	errs := []error{c.carryAll(ctx)}
	var dirs []string
	for s, err := range Sessions(ctx, c.src) {
		if err != nil {
			return err
		}
		dirs = append(dirs, s.Dir)
	}
	for _, dir := range dirs {
		errs = append(errs, c.session(ctx, keyOf(dir)))
	}
	return errors.Join(errs...)
}

// named copies one session, and records it in the heads.
func (c *copier) named(ctx context.Context, dir string) error {
	if err := c.readStones(ctx); err != nil {
		return err
	}
	if _, err := c.carry(ctx, keyOf(dir)); err != nil { // dst may still have an erased session of this name
		return err
	}
	err := c.session(ctx, keyOf(dir))
	if err := c.readStones(ctx); err != nil { // the session may have been erased in the meantime
		return err
	}
	if gone, err := c.carry(ctx, keyOf(dir)); gone || err != nil {
		return cmp.Or(err, error(&storage.Error{Op: "copy", Key: keyOf(dir), Err: ErrErased}))
	}
	if err != nil || c.opts.Heads == nil {
		return err
	}
	s, err := openDir(ctx, c.dst, keyOf(dir))
	if err != nil {
		return err
	}
	s.KeepHeads(c.opts.Heads)
	return s.tellEnd(ctx, head{Op: headMark})
}

func (c *copier) session(ctx context.Context, dir storage.Key) error {
	if !IsFolder(dir.String()) {
		return &storage.KeyError{Text: dir.String(), Reason: "it is not the folder of a session"}
	}
	s, err := openDir(ctx, c.src, dir)
	if err != nil {
		return err
	}
	now, _ := s.manifest.known()
	if now.facts.erasing {
		if len(c.ended[tombstoneID(dir)]) > 0 {
			return nil
		}
		return &storage.Error{Op: "copy", Key: dir, Err: errErasing}
	}
	if err := c.alive(ctx, dir, now.first); err != nil {
		return err
	}
	c.done.Sessions++
	return c.folder(ctx, dir)
}

// alive returns an error for a session that dst has erased, unless it exists again, or
// src has begun it again after an erase.
func (c *copier) alive(ctx context.Context, dir storage.Key, life string) error {
	for info, err := range c.dst.List(ctx, dir) {
		if err != nil || info.Foreign == "" { // an erase leaves the files of other programs
			return err
		}
	}
	stone, gone, err := c.graves.of(ctx, dir)
	if errors.Is(err, errStone) {
		return c.lost(ctx, dir, life, err)
	}
	if err != nil || !gone {
		return err
	}
	if also := len(c.ended[stone.Session]) > 0; also && stone.Life != life {
		return nil
	}
	if c.gone != nil { // named copies no names
		c.gone[nameKey(headID(dir))] = true
	}
	return &storage.Error{Op: "copy", Key: dir, Err: ErrErased}
}

// list returns the files of src below a folder.
func (c *copier) list(ctx context.Context, dir storage.Key) ([]storage.Info, error) {
	return listed(ctx, c.src, dir)
}

// listed returns the files below a folder.
func listed(ctx context.Context, a storage.Archive, dir storage.Key) (all []storage.Info, err error) {
	for info, err := range a.List(ctx, dir) {
		if err != nil {
			return nil, err
		}
		if info.Foreign == "" {
			all = append(all, info)
		}
	}
	return all, nil
}

// files copies the files below a folder.
func (c *copier) files(ctx context.Context, dir storage.Key) error {
	all, err := c.list(ctx, dir)
	if err != nil {
		return err
	}
	return c.these(ctx, dir, all, nil)
}

// these copies the given files of a folder, the manifest first and the ledgers last. If
// over is not nil, it ends with [errOvertaken] before it writes a file of a scrubbed
// session.
func (c *copier) these(ctx context.Context, dir storage.Key, all []storage.Info, over *watch) error {
	there := map[storage.Key]int64{}
	for info, err := range c.dst.List(ctx, dir) {
		if err != nil {
			return err
		}
		there[info.Key] = info.Size
	}
	slices.SortStableFunc(all, func(x, y storage.Info) int { return cmp.Compare(removalRank(y), removalRank(x)) })
	// All files are compared before any is written, so that a scrub of src does not
	// damage a complete copy.
	for _, info := range all {
		if size, ok := there[info.Key]; ok {
			if err := c.same(ctx, info, size); err != nil {
				return err
			}
		}
	}
	for _, info := range all {
		if c.opts.Progress != nil {
			c.opts.Progress(info.Key)
		}
		size, ok := there[info.Key]
		if err := c.file(ctx, info, size, ok, over); err != nil {
			return err
		}
	}
	return nil
}

// file copies one file, of which size bytes exist in dst.
func (c *copier) file(ctx context.Context, info storage.Info, size int64, there bool, over *watch) error {
	if there && size == info.Size {
		c.done.Same++
		return nil
	}
	b, err := c.read(ctx, info, size)
	if err != nil {
		return err
	}
	if over != nil && !over.unchanged(ctx) {
		return errOvertaken
	}
	if grows(info.Key) {
		err = c.dst.Append(ctx, info.Key, size, b)
	} else {
		err = c.dst.Create(ctx, info.Key, b)
	}
	switch {
	case err == nil:
		c.done.Files++
		c.done.Bytes += b.Size()
	case errors.Is(err, storage.ErrSeq), errors.Is(err, storage.ErrExists):
		err = &storage.Error{Op: "copy", Key: info.Key, Err: fmt.Errorf("%w there: copy again when the writer has ended", ErrInUse)}
	}
	return err
}

func grows(k storage.Key) bool {
	return isLog(k.Base()) || k.Dir() == headsName || k.Dir() == accessName
}

// same compares the existing part of a file with the source.
func (c *copier) same(ctx context.Context, info storage.Info, size int64) error {
	if size > info.Size || size < info.Size && !grows(info.Key) {
		return differently(info.Key, fmt.Sprintf("it has %d bytes there, %d here", size, info.Size))
	}
	mine, err := sumOf(ctx, c.src, info.Key, size)
	if err != nil {
		return err
	}
	theirs, err := sumOf(ctx, c.dst, info.Key, size)
	if err != nil {
		return err
	}
	if mine != theirs {
		return differently(info.Key, "it holds something else there")
	}
	return nil
}

func differently(k storage.Key, how string) error {
	return &storage.Error{Op: "copy", Key: k, Err: fmt.Errorf("%w: %s, and its folder was not copied; if it was scrubbed in the source, copy it into an empty archive", storage.ErrExists, how)}
}

// sumOf hashes the first n bytes of a file.
func sumOf(ctx context.Context, a storage.Archive, k storage.Key, n int64) (string, error) {
	r, err := a.Open(ctx, k, 0, n)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, &ctxReader{ctx, r})
	return hex.EncodeToString(h.Sum(nil)), storage.Wrap("read", k, errors.Join(err, r.Close()))
}

// read reads a file from off to its end at the time of the listing.
func (c *copier) read(ctx context.Context, info storage.Info, off int64) (storage.Blob, error) {
	r, err := c.src.Open(ctx, info.Key, off, info.Size-off)
	if err != nil {
		return storage.Blob{}, err
	}
	var b strings.Builder
	_, err = io.Copy(&b, &ctxReader{ctx, r})
	if err := errors.Join(err, r.Close()); err != nil {
		return storage.Blob{}, storage.Wrap("read", info.Key, err)
	}
	if int64(b.Len()) != info.Size-off {
		return storage.Blob{}, &storage.Error{Op: "read", Key: info.Key, Err: io.ErrUnexpectedEOF}
	}
	return blobOf(b.String()), nil
}
