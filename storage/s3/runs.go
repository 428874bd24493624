package s3

import (
	"io"
	"slices"

	"github.com/agentcompact/compact/storage"
)

const (
	runBytes    = 128 << 10 // bytes of a log that are kept in memory
	runSegments = 512
	maxRuns     = 256 // number of logs
)

// run is the end of a log in memory, as this Archive appended or read it.
type run struct {
	before   int   // number of earlier segments that it does not have
	end      int64 // end of the log
	segments []segment
	data     []byte   // bytes of the segments
	rolled   int      // number of segments at the last roll-up or attempt of one
	copies   []copied // known roll-ups
	used     int64
}

// count returns the number of segments of the log.
func (r *run) count() int { return r.before + len(r.segments) }

// add adds segments with their bytes, and drops the oldest ones above the
// limits.
func (r *run) add(segments []segment, data []byte) {
	r.segments, r.data = append(r.segments, segments...), append(r.data, data...)
	r.end = segments[len(segments)-1].end()
	drop, size := 0, int64(len(r.data))
	for drop < len(r.segments) && (size > runBytes || len(r.segments)-drop > runSegments) {
		size -= r.segments[drop].size
		drop++
	}
	if drop > 0 {
		r.before += drop
		r.segments, r.data = slices.Clone(r.segments[drop:]), slices.Clone(r.data[int64(len(r.data))-size:])
	}
}

// is reports whether a listing has the segments of the run at the same places, with
// the same ETags. The listing may have more segments after them.
func (r *run) is(segments []segment) bool {
	if r.count() > len(segments) || r.count() > 0 && segments[r.count()-1].end() != r.end {
		return false
	}
	for i, s := range r.segments {
		if have := segments[r.before+i]; have.start != s.start || have.etag != s.etag {
			return false
		}
	}
	return true
}

// rollsFrom returns the index of the first segment of the roll-up that is due, if any.
func (r *run) rollsFrom() (first int, due bool) {
	for level := runSegments; level >= fanout && r.count()%everySegments == 0; level /= fanout {
		if first = (r.count() - 1) / level * level; first >= r.before {
			return first, true
		}
	}
	return 0, false
}

// setRun stores a run; the caller holds mu.
func (a *Archive) setRun(k storage.Key, r *run) {
	if _, ok := a.runs[k]; !ok && len(a.runs) >= maxRuns {
		var oldest storage.Key
		for k, r := range a.runs {
			if o, ok := a.runs[oldest]; !ok || r.used < o.used {
				oldest = k
			}
		}
		delete(a.runs, oldest)
	}
	a.used++
	r.used = a.used
	a.runs[k] = r
}

// forget discards the known state of a removed log.
func (a *Archive) forget(k storage.Key) {
	a.forgetTail(k)
	a.forgetRun(k)
}

func (a *Archive) forgetRun(k storage.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.runs, k)
}

// learnRun updates the run with a listing of a log without holes. If a run does not
// fit the listing, it is replaced by an empty one. With anew, a run that lacks the
// newest segments is replaced, too, because no reader will add them.
func (a *Archive) learnRun(k storage.Key, all parts, anew bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(all.segments)
	r := a.runs[k]
	if r == nil || !r.is(all.segments) || anew && r.count() < n {
		r = &run{before: n}
		if n > 0 {
			r.end = all.segments[n-1].end()
		}
		a.setRun(k, r)
	}
	if r.count() == n && all.isRolledUp() {
		r.rolled = n
	}
	r.learnCopies(all)
}

// learnCopies adds the roll-ups of a listing to the known ones.
func (r *run) learnCopies(all parts) {
	known := map[[2]int64]string{}
	for _, c := range r.copies {
		known[[2]int64{c.start, c.end()}] = c.id
	}
	r.copies = nil
	for _, c := range all.rollups {
		if c.odd { // it was changed, and stays for verify
			continue
		}
		r.copies = append(r.copies, copied{c, known[[2]int64{c.start, c.end()}]})
	}
}

// isRolledUp reports whether a roll-up covers the end.
func (p parts) isRolledUp() bool {
	return slices.ContainsFunc(p.rollups, func(r rollup) bool {
		segments, first, ok := p.run(r)
		return ok && first+len(segments) == len(p.segments)
	})
}

// extendRun adds a segment that this Archive appended to the run.
func (a *Archive) extendRun(k storage.Key, now segment, b storage.Blob) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.runs[k]
	if now.start == 0 {
		r = &run{}
	}
	if r == nil || r.end != now.start || now.etag == "" {
		delete(a.runs, k)
		return
	}
	if now.size > runBytes {
		r.before, r.segments, r.data, r.end = r.count()+1, nil, nil, now.end()
	} else if data, err := io.ReadAll(b.Reader()); err == nil {
		r.add([]segment{now}, data)
	}
	a.setRun(k, r)
}

// due returns the longest roll-up of a log that ends with last for which all segments
// are in memory.
func (a *Archive) due(k storage.Key, last segment) (segments []segment, data string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.runs[k]
	if r == nil || r.rolled == r.count() || r.end != last.end() || len(r.segments) == 0 || r.segments[len(r.segments)-1].etag != last.etag {
		return nil, "", false
	}
	first, ok := r.rollsFrom()
	if !ok {
		return nil, "", false
	}
	r.rolled = r.count()
	segments = slices.Clone(r.segments[first-r.before:])
	return segments, string(r.data[int64(len(r.data))-(r.end-segments[0].start):]), true
}

// keeper stores the end of a log while the log is read, so that a process that opens
// a log and appends to it can make a roll-up. It must be used by one goroutine.
type keeper struct {
	a      *Archive
	k      storage.Key
	all    parts
	pieces []piece // pieces still to come
	skip   int     // number of pieces that are not stored
	first  int     // first stored segment
	data   []byte
}

// keeper returns a keeper for the pieces, or nil if they are not the end of a log.
func (a *Archive) keeper(k storage.Key, all parts, pieces []piece) *keeper {
	n := len(all.segments)
	skip, size, first := len(pieces), int64(0), n
	for ; skip > 0; skip-- {
		p := pieces[skip-1]
		s := all.segments[first-1]
		if p.first+p.segments != first || p.start+p.off+p.n != s.end() || p.off > 0 || size+p.n > runBytes {
			break
		}
		first, size = p.first, size+p.n
	}
	if first == n {
		return nil
	}
	return &keeper{a: a, k: k, all: all, pieces: pieces, skip: skip, first: first}
}

func (kp *keeper) add(o opened) {
	if kp == nil || len(kp.pieces) == 0 {
		return
	}
	p := kp.pieces[0]
	kp.pieces = kp.pieces[1:]
	switch {
	case kp.skip > 0:
		kp.skip--
	case o.err != nil || int64(len(o.data)) != p.n:
		kp.all.segments = nil
	default:
		kp.data = append(kp.data, o.data...)
	}
}

// end stores the data if it is complete.
func (kp *keeper) end() {
	if kp == nil || kp.all.segments == nil {
		return
	}
	kp.a.mu.Lock()
	defer kp.a.mu.Unlock()
	segments := kp.all.segments
	r := kp.a.runs[kp.k]
	switch {
	case r == nil || !r.is(segments):
		return // another append was made in the meantime, or it is another log
	case r.before <= kp.first && r.count() == len(segments):
		return // the known run is longer
	case r.before <= kp.first && r.count() >= kp.first:
		r.add(segments[r.count():], kp.data[r.end-segments[kp.first].start:])
	default:
		r = &run{before: kp.first, copies: r.copies}
		r.add(segments[kp.first:], kp.data)
	}
	if kp.all.isRolledUp() {
		r.rolled = r.count()
	}
	kp.a.setRun(kp.k, r)
}
