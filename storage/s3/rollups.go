package s3

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/unchecked"
)

const (
	// everySegments is the number of segments after which a log is rolled up again.
	everySegments = 4
	// everyRemoval is the number of segments after which old roll-ups are removed.
	everyRemoval = 16
	// fanout is the factor between two levels of roll-ups. A roll-up begins at a
	// multiple of 8, 64 or 512 segments.
	fanout = 8
	// rangeMark separates the two offsets in the name of a roll-up.
	rangeMark = "-"
	// ofName is the metadata of a roll-up with the bond of its segments ([bond]).
	ofName = "compact-segments"
)

// rollup is an object with a copy of consecutive whole segments. It only saves
// requests for readers: it is not a file, and can be removed at any time.
type rollup = segment

// rollupName returns the name of a roll-up; end is exclusive.
func rollupName(key string, start, end int64) string {
	return fmt.Sprintf("%s%s%0*d", segmentName(key, start), rangeMark, segmentDigits, end)
}

// parseRollup parses the name of a roll-up. It returns false for any other
// name.
func parseRollup(name string) (key string, start, end int64, ok bool) {
	first, digits, ok := cutLast(name, rangeMark)
	if !ok || len(digits) != segmentDigits {
		return "", 0, 0, false
	}
	key, start, ok = parseSegment(first)
	end, err := strconv.ParseInt(digits, 10, 64)
	return key, start, end, ok && err == nil && end > start && rollupName(key, start, end) == name
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// logOf returns the key of the log of an object, and whether the object is a
// roll-up; ok is false for an object that is not part of a log.
func logOf(name string) (key string, repeats, ok bool) {
	if key, _, ok := parseSegment(name); ok {
		return key, false, true
	}
	key, _, _, ok = parseRollup(name)
	return key, ok, ok
}

// parts holds the objects of a log in a listing.
type parts struct {
	segments []segment
	rollups  []rollup
}

// bond returns a hash of the ETags of segments. If the segments of a roll-up were removed
// since, their bond is different, even if other segments have their names now.
func bond(segments []segment) string {
	h := sha256.New()
	for _, s := range segments {
		fmt.Fprintf(h, "%d %q\n", s.start, s.etag)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// run returns the segments of a roll-up, and the index of the first; false means
// that its ends are not ends of segments, or that its size does not fit.
func (p parts) run(r rollup) (segments []segment, first int, ok bool) {
	first, ok = slices.BinarySearchFunc(p.segments, r.start, func(s segment, at int64) int { return int(max(-1, min(1, s.start-at))) })
	if !ok {
		return nil, 0, false
	}
	at := r.start
	for i, s := range p.segments[first:] {
		if s.start != at {
			return nil, 0, false
		}
		if at = s.end(); at >= r.end() {
			return p.segments[first : first+i+1], first, at == r.end() && !r.odd
		}
	}
	return nil, 0, false
}

// choice is a roll-up that a reader can use.
type choice struct {
	rollup
	first, segments int // index of its first segment, and number of segments
	next            int // index of the first piece after it
}

// choices returns the roll-ups that cover several pieces, by the index of the first one.
func (p parts) choices(pieces []piece) map[int][]choice {
	out := map[int][]choice{}
	at := func(segment int) int {
		i, _ := slices.BinarySearchFunc(pieces, segment, func(p piece, segment int) int { return p.first - segment })
		return i
	}
	for _, r := range p.rollups {
		segments, first, ok := p.run(r)
		from, next := at(first), at(first+len(segments))
		if ok && next-from > 1 && (from == 0 || pieces[from].first == first) {
			out[from] = append(out[from], choice{r, first, len(segments), next})
		}
	}
	return out
}

// shorten replaces pieces by roll-ups, so that as few objects as possible are read.
func (p parts) shorten(name string, pieces []piece) []piece {
	choices := p.choices(pieces)
	objects := make([]int, len(pieces)+1) // number of objects from a piece to the end
	best := make([]*choice, len(pieces))  // nil: the piece itself
	for i := len(pieces) - 1; i >= 0; i-- {
		objects[i] = objects[i+1] + 1
		for _, c := range choices[i] {
			if n := objects[c.next] + 1; n < objects[i] {
				objects[i], best[i] = n, &c
			}
		}
	}
	var out []piece
	for i := 0; i < len(pieces); {
		if best[i] == nil {
			out, i = append(out, pieces[i]), i+1
			continue
		}
		out = append(out, p.whole(name, *best[i], pieces[i:best[i].next:best[i].next]))
		i = best[i].next
	}
	return out
}

// whole returns the piece of a roll-up that replaces other pieces.
func (p parts) whole(name string, c choice, replaced []piece) piece {
	out := piece{
		name: rollupName(name, c.start, c.end()), start: c.start, first: c.first, segments: c.segments,
		bond: bond(p.segments[c.first : c.first+c.segments]), parts: replaced,
		off: replaced[0].start - c.start + replaced[0].off,
	}
	for _, part := range replaced {
		out.n += part.n
	}
	return out
}

// fetchRollup fetches a range of a roll-up. If that fails, or its bond differs, it
// fetches the segments instead.
func (a *Archive) fetchRollup(ctx context.Context, p piece) opened {
	if o := a.fetchObject(ctx, p); o.err == nil && int64(len(o.data)) == p.n && o.bond == p.bond {
		return o
	}
	var all strings.Builder
	for _, part := range p.parts {
		o := a.fetch(ctx, part)
		if o.err != nil {
			return o
		}
		all.WriteString(o.data)
	}
	return opened{data: all.String()}
}

// rollUp starts to write the roll-up that is due, if any, concurrently with the next
// segment. wait returns the roll-up, even if it could not be written, which is not a
// failure.
func (a *Archive) rollUp(ctx context.Context, k storage.Key, last segment) (wait func() (rollup, bool)) {
	segments, data, ok := a.due(k, last)
	if !ok {
		return func() (rollup, bool) { return rollup{}, false }
	}
	t := a.terms(a.now())
	t.of = bond(segments)
	r := rollup{start: segments[0].start, size: int64(len(data)), mark: t.mark, repeats: true}
	done := make(chan struct{})
	go func() {
		defer close(done)
		blob, _ := unchecked.Blob(data).(storage.Blob) // never fails
		id, err := a.putOnce(ctx, a.nameOf(k, r), blob, t)
		if err == nil {
			a.dropOld(ctx, k, copied{r, id})
		}
	}()
	return func() (rollup, bool) { <-done; return r, true }
}

// copied is a known roll-up. The id of its version is "" if the bucket keeps none, or if
// another process wrote the roll-up.
type copied struct {
	rollup
	id string
}

// covers reports whether a reader that finds c does not need o.
func (c copied) covers(o copied) bool { return c.start <= o.start && o.end() <= c.end() }

// dropOld removes the roll-ups that a new one covers, after each everyRemoval segments.
// The newest of them stays for the readers that have listed it. A failure is ignored,
// because a roll-up that stays takes only space. If the failure may be permanent, dropOld
// does not try again.
func (a *Archive) dropOld(ctx context.Context, k storage.Key, now copied) {
	old := a.supersede(k, now)
	if len(old) == 0 || a.cfg.Lock.Mode != NoLock || a.single.Load() || a.keeps.Load() {
		return
	}
	in := &s3.DeleteObjectsInput{Bucket: &a.cfg.Bucket, Delete: &types.Delete{Quiet: aws.Bool(true)}}
	for _, c := range old[:min(len(old), atOnce)] {
		if c.id == "" && now.id != "" {
			continue // without the id of its version it would only be hidden
		}
		in.Delete.Objects = append(in.Delete.Objects, types.ObjectIdentifier{Key: aws.String(a.nameOf(k, c.rollup)), VersionId: text(c.id)})
	}
	if len(in.Delete.Objects) == 0 {
		return
	}
	client, err := a.api(ctx)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	out, err := client.DeleteObjects(ctx, in, s3.WithAPIOptions(smithyhttp.AddContentChecksumMiddleware))
	if err == nil && len(out.Errors) > 0 || err != nil && !isTransient(err) && ctx.Err() == nil {
		a.keeps.Store(true)
	}
}

// supersede adds a new roll-up to the known ones of a log. If old roll-ups are to be removed
// now, it returns those that the new one covers, without the newest of them.
func (a *Archive) supersede(k storage.Key, now copied) (old []copied) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.runs[k]
	if r == nil {
		return nil
	}
	r.copies = slices.DeleteFunc(r.copies, func(c copied) bool { return c.covers(now) && now.covers(c) }) // from a listing
	var newest int64
	for _, c := range r.copies {
		if now.covers(c) {
			newest = max(newest, c.end())
		}
	}
	if r.rolled%everyRemoval == 0 {
		r.copies = slices.DeleteFunc(r.copies, func(c copied) bool {
			is := now.covers(c) && c.end() < newest
			if is {
				old = append(old, c)
			}
			return is
		})
	}
	r.copies = append(r.copies, now)
	return old
}

// Unlike implements [storage.Repeater] with a GET for each segment and each roll-up.
func (a *Archive) Unlike(ctx context.Context, k storage.Key) (unlike []string, err error) {
	if err := storage.Begin(ctx, "compare", k); err != nil {
		return nil, err
	}
	all, err := a.list(ctx, k)
	for _, r := range all.rollups {
		if err != nil {
			break
		}
		var same bool
		if same, err = a.repeats(ctx, k, all, r); err == nil && !same {
			unlike = append(unlike, rollupName(a.Location(k), r.start, r.end()))
		}
	}
	return unlike, storage.Wrap("compare", k, err)
}

// repeats reports whether a roll-up equals its segments.
func (a *Archive) repeats(ctx context.Context, k storage.Key, all parts, r rollup) (bool, error) {
	segments, _, ok := all.run(r)
	if !ok {
		return false, nil
	}
	got, err := a.readAll(ctx, []piece{{name: a.nameOf(k, r), n: r.size}})
	switch {
	case errors.Is(err, storage.ErrNotExist):
		return true, nil // removed in the meantime
	case errors.Is(err, ErrUnreachable), ctx.Err() != nil:
		return false, err
	case err != nil: // such as a wrong checksum
		return false, nil
	}
	want, err := a.readAll(ctx, a.pieces(k, segments, 0, -1))
	return got == want, err
}

func (a *Archive) readAll(ctx context.Context, pieces []piece) (string, error) {
	r := a.readPieces(ctx, pieces, nil)
	data, err := io.ReadAll(r)
	return string(data), errors.Join(err, r.Close())
}
