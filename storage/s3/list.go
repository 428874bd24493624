package s3

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/agentcompact/compact/storage"
)

// object is an entry of a listing, without the archive's prefix.
type object struct {
	name     string
	size     int64
	modified time.Time
	etag     string
}

// tryFolder is the folder for the objects of Try. It is not a key.
const tryFolder = ".try/"

// objects yields the objects whose names begin with prefix, in byte order.
func (a *Archive) objects(ctx context.Context, prefix string) iter.Seq2[object, error] {
	return func(yield func(object, error) bool) {
		var token *string
		for {
			var page *s3.ListObjectsV2Output
			err := a.call(ctx, 0, func(ctx context.Context, client *s3.Client) (err error) {
				page, err = client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
					Bucket: &a.cfg.Bucket, Prefix: text(a.root + prefix), ContinuationToken: token,
				})
				return err
			})
			if err != nil {
				yield(object{}, err)
				return
			}
			for _, o := range page.Contents {
				found := object{strings.TrimPrefix(aws.ToString(o.Key), a.root), aws.ToInt64(o.Size), aws.ToTime(o.LastModified), unquoted(o.ETag)}
				if !yield(found, nil) {
					return
				}
			}
			if token = page.NextContinuationToken; token == nil || !aws.ToBool(page.IsTruncated) {
				return
			}
		}
	}
}

func unquoted(etag *string) string { return strings.Trim(aws.ToString(etag), `"`) }

// below yields the object k, its segments, and the objects below it. It skips
// other objects with the same prefix, which can be many.
func (a *Archive) below(ctx context.Context, k storage.Key) iter.Seq2[object, error] {
	if k.IsZero() {
		return a.objects(ctx, "")
	}
	return func(yield func(object, error) bool) {
		name, others := k.String(), 0
		for o, err := range a.objects(ctx, name) {
			rest := strings.TrimPrefix(o.name, name)
			switch {
			case err != nil || rest == "" || strings.HasPrefix(rest, segmentMark) || rest[0] == '/':
				if !yield(o, err) || err != nil {
					return
				}
			case rest[0] > '/':
				return
			default:
				others++
			}
			if others == skipAfter {
				break
			}
		}
		if others < skipAfter {
			return
		}
		for o, err := range a.objects(ctx, name+"/") {
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

// skipAfter is the number of unrelated names that are read before the rest is
// skipped: about a page.
const skipAfter = 1000

// List implements [storage.Archive]. It needs one request for each 1,000
// objects; a log can have many. A complete listing also makes the deferred checks of the
// logs that it shows unchanged ([Archive.Settle]).
func (a *Archive) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(storage.Info{}, storage.Wrap("list", prefix, err))
			return
		}
		l, shown := lister{yield: yield}, a.unchecked(prefix)
		for o, err := range a.below(ctx, prefix) {
			if err != nil {
				if l.flush() {
					yield(storage.Info{}, storage.Wrap("list", prefix, err))
				}
				return
			}
			shown.see(o)
			if !l.add(o) {
				return
			}
		}
		a.checked(shown)
		l.flush()
	}
}

// lister joins the segments of a log into one entry.
type lister struct {
	yield func(storage.Info, error) bool
	log   storage.Info // current log, with the sizes added up so far
}

func (l *lister) add(o object) bool {
	if strings.HasPrefix(o.name, tryFolder) {
		return true
	}
	name, repeats, isSegment := logOf(o.name)
	if !isSegment {
		name = o.name
	}
	if repeats { // a roll-up without segments is listed as an empty log, so that it can be removed
		o.size, o.modified = 0, time.Time{}
	}
	key, err := storage.ParseKey(name)
	info := storage.Info{Key: key, Size: o.size, Modified: o.modified}
	switch {
	case err != nil:
		info.Key, info.Foreign = storage.Key{}, o.name
	case isSegment && key == l.log.Key:
		l.log.Size += o.size
		if o.modified.After(l.log.Modified) {
			l.log.Modified = o.modified
		}
		return true
	case isSegment:
		ok := l.flush()
		l.log = info
		return ok
	}
	return l.flush() && l.yield(info, nil)
}

// flush yields the current log.
func (l *lister) flush() bool {
	if l.log.Key.IsZero() {
		return true
	}
	info := l.log
	l.log = storage.Info{}
	return l.yield(info, nil)
}
