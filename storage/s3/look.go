package s3

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/agentcompact/compact/storage"
)

// unlooked is what was appended to a log since it was last seen to be there. A log that
// somebody removes while it is appended to leaves the new segments alone, which are the
// end of nothing.
type unlooked struct {
	after segment   // was there
	added []segment // by this Archive since
}

// unseen notes a segment that was added after the last one that is known.
func (a *Archive) unseen(k storage.Key, last segment, now segment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u, ok := a.unlooked[k]
	if !ok || last.end() == 0 { // the log begins, whatever was under its name
		u = unlooked{after: last}
	}
	if len(a.unlooked) >= maxTails {
		clear(a.unlooked)
	}
	u.added = append(slices.Clip(u.added), now)
	a.unlooked[k] = u
}

// look looks whether a log was removed, or written anew, since it was last seen: then it
// takes away what this Archive has added, and is [storage.ErrSeq].
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

// is reports whether an object is the segment, as far as it is known.
func (s segment) is(o *s3.HeadObjectOutput) bool {
	if etag := unquoted(o.ETag); s.etag != "" && etag != "" && s.etag != etag {
		return false
	}
	return (o.ContentLength == nil || *o.ContentLength == s.size) && (s.mark == "" || o.Metadata[markName] == s.mark)
}

// takeBack removes segments, unless their names are others' by now.
func (a *Archive) takeBack(ctx context.Context, k storage.Key, segments []segment) error {
	var errs []error
	for _, s := range segments {
		name := a.nameOf(k, s)
		if !s.repeats { // a roll-up helps only, whose ever it is
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

// lookAgain puts off a look that failed.
func (a *Archive) lookAgain(k storage.Key, u unlooked) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u.added = append(slices.Clip(u.added), a.unlooked[k].added...)
	a.unlooked[k] = u
}
