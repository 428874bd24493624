package s3

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/agentcompact/compact/storage"
)

// uncheckedSegments holds the segments that were appended to a log since its existence was last
// checked. If a log is removed during an append, only the new segments remain.
type uncheckedSegments struct {
	after segment   // segment that existed at the last check
	added []segment // segments added by this Archive since
}

// unseen records a segment that was added after the last known one.
func (a *Archive) unseen(k storage.Key, last segment, now segment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u, ok := a.unlooked[k]
	if !ok || last.end() == 0 { // the log is new; its name may have belonged to an earlier log
		u = uncheckedSegments{after: last}
	}
	if len(a.unlooked) >= maxTails {
		clear(a.unlooked)
	}
	u.added = append(slices.Clip(u.added), now)
	a.unlooked[k] = u
}

// look checks whether a log was removed or rewritten since the last check. If so, it
// removes the segments that this Archive added, and returns [storage.ErrSeq].
func (a *Archive) look(ctx context.Context, k storage.Key) error {
	a.mu.Lock()
	u, ok := a.unlooked[k]
	delete(a.unlooked, k)
	a.mu.Unlock()
	if !ok || u.after.end() == 0 {
		return nil
	}
	got, err := a.head(ctx, segmentName(a.name(k), u.after.start), "")
	if err == nil && u.after.is(got) {
		return nil
	}
	if err == nil || absent(err) {
		if err = a.takeBack(ctx, k, u.added); err == nil {
			return storage.ErrSeq
		}
	}
	a.lookAgain(k, u)
	return err
}

// is reports whether an object can be the segment.
func (s segment) is(o *s3.HeadObjectOutput) bool {
	if etag := unquoted(o.ETag); s.etag != "" && etag != "" && s.etag != etag {
		return false
	}
	return (o.ContentLength == nil || *o.ContentLength == s.size) && (s.mark == "" || o.Metadata[markName] == s.mark)
}

// takeBack removes segments, unless other writers have used their names since.
func (a *Archive) takeBack(ctx context.Context, k storage.Key, segments []segment) error {
	var errs []error
	for _, s := range segments {
		name := a.nameOf(k, s)
		if !s.repeats { // a roll-up is only a copy, so its writer does not matter
			got, err := a.head(ctx, name, "")
			if absent(err) || err == nil && !s.is(got) {
				continue
			}
			if err != nil {
				errs = append(errs, err)
				continue
			}
		}
		err := a.removeObjects(ctx, name, func(n string) bool { return n == name })
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// lookAgain restores the state after a check that failed, so that the next append or
// Settle repeats it.
func (a *Archive) lookAgain(k storage.Key, u uncheckedSegments) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u.added = append(slices.Clip(u.added), a.unlooked[k].added...)
	a.unlooked[k] = u
}

// shownLog is an unchecked log during a listing.
type shownLog struct {
	unchecked uncheckedSegments // when the listing began
	is        bool              // the listing shows the segment that existed at the last check
}

// shownLogs holds unchecked logs by the object name of the segment that existed at the
// last check.
type shownLogs map[string]*shownLog

// unchecked returns the logs with a prefix that a listing can check, before it begins.
func (a *Archive) unchecked(prefix storage.Key) shownLogs {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := shownLogs{}
	for k, u := range a.unlooked {
		if k.Has(prefix) && u.after.end() > 0 && u.after.etag != "" {
			out[segmentName(k.String(), u.after.start)] = &shownLog{unchecked: u}
		}
	}
	return out
}

// see records whether an object of the listing is the segment that existed at the last
// check.
func (s shownLogs) see(o object) {
	if l := s[o.name]; l != nil {
		l.is = o.etag == l.unchecked.after.etag && o.size == l.unchecked.after.size
	}
}

// checked removes the checks that a listing has made. A segment that was added since the
// listing began still needs its check.
func (a *Archive) checked(shown shownLogs) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, l := range shown {
		of, _, _ := parseSegment(name)
		for k, u := range a.unlooked {
			if l.is && k.String() == of && len(u.added) == len(l.unchecked.added) && u.after == l.unchecked.after {
				delete(a.unlooked, k)
			}
		}
	}
}
