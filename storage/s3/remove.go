package s3

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/agentcompact/compact/storage"
)

// Remove implements [storage.Remover]: it deletes every version, for a bucket
// that keeps versions would else keep the bytes. Where Object Lock forbids it
// the error is a [*storage.LockedError]. Of a log the first segment goes first, so that
// its last line says to the end that it is being erased.
func (a *Archive) Remove(ctx context.Context, k storage.Key) error {
	if err := storage.Begin(ctx, "remove", k); err != nil {
		return err
	}
	err := a.Try(ctx)
	if err == nil {
		err = a.removeObjects(ctx, a.name(k), a.isOf(k))
	}
	a.forgetTail(k)
	return storage.Wrap("remove", k, err)
}

// isOf tells the object of a key, and its segments, from others.
func (a *Archive) isOf(k storage.Key) func(name string) bool {
	return func(name string) bool {
		rest, ok := strings.CutPrefix(name, a.name(k))
		if !ok {
			return false
		}
		_, _, isSegment := parseSegment(k.String() + rest)
		return rest == "" || isSegment
	}
}

// removeObjects removes the versions of what begins with prefix and is wanted.
func (a *Archive) removeObjects(ctx context.Context, prefix string, want func(name string) bool) error {
	all, err := a.versions(ctx, prefix, want)
	if err != nil {
		return err
	}
	for _, v := range all {
		if err := a.removeVersion(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// version is one version of an object; id is "" where there are none.
type version struct {
	name, id string
	marker   bool // a delete marker, which holds nothing
}

// versions lists the versions of what begins with prefix and is wanted, the
// names in byte order.
func (a *Archive) versions(ctx context.Context, prefix string, want func(string) bool) ([]version, error) {
	var out []version
	in := &s3.ListObjectVersionsInput{Bucket: &a.cfg.Bucket, Prefix: &prefix}
	for {
		var page *s3.ListObjectVersionsOutput
		err := a.call(ctx, 0, func(ctx context.Context, client *s3.Client) (err error) {
			page, err = client.ListObjectVersions(ctx, in)
			return err
		})
		if status(err) == http.StatusNotImplemented {
			return a.unversioned(ctx, prefix, want)
		}
		if err != nil {
			return nil, err
		}
		for _, v := range page.Versions {
			out = append(out, version{aws.ToString(v.Key), aws.ToString(v.VersionId), false})
		}
		for _, m := range page.DeleteMarkers {
			out = append(out, version{aws.ToString(m.Key), aws.ToString(m.VersionId), true})
		}
		if !aws.ToBool(page.IsTruncated) {
			break
		}
		in.KeyMarker, in.VersionIdMarker = page.NextKeyMarker, page.NextVersionIdMarker
	}
	kept := out[:0]
	for _, v := range out {
		if want(v.name) {
			kept = append(kept, v)
		}
	}
	return kept, nil
}

// unversioned is versions for a server that knows none.
func (a *Archive) unversioned(ctx context.Context, prefix string, want func(string) bool) ([]version, error) {
	var out []version
	for o, err := range a.objects(ctx, strings.TrimPrefix(prefix, a.root)) {
		if err != nil {
			return nil, err
		}
		if want(a.root + o.name) {
			out = append(out, version{name: a.root + o.name})
		}
	}
	return out, nil
}

func (a *Archive) removeVersion(ctx context.Context, v version) error {
	err := a.call(ctx, 0, func(ctx context.Context, client *s3.Client) error {
		_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &a.cfg.Bucket, Key: &v.name, VersionId: text(v.id)})
		return err
	})
	if err == nil || absent(err) {
		return nil
	}
	if until, keeps, herr := a.lockedUntil(ctx, v); herr == nil && keeps {
		return errors.Join(locked(until), err)
	}
	return err
}

// lockedUntil reports whether Object Lock keeps a version, and until when; the
// zero time is a legal hold.
func (a *Archive) lockedUntil(ctx context.Context, v version) (time.Time, bool, error) {
	if v.marker {
		return time.Time{}, false, nil
	}
	head, err := a.head(ctx, v.name, v.id)
	if absent(err) {
		return time.Time{}, false, nil
	}
	if err != nil {
		return time.Time{}, false, err
	}
	if head.ObjectLockLegalHoldStatus == types.ObjectLockLegalHoldStatusOn {
		return time.Time{}, true, nil
	}
	until := aws.ToTime(head.ObjectLockRetainUntilDate)
	return until, until.After(time.Now()), nil
}

// Kept implements [storage.Keeper].
func (a *Archive) Kept(ctx context.Context, k storage.Key) error {
	if err := storage.Begin(ctx, "look for a lock", k); err != nil {
		return err
	}
	all, err := a.versions(ctx, a.name(k), a.isOf(k))
	if err != nil {
		return storage.Wrap("look for a lock", k, err)
	}
	var longest *storage.LockedError
	for _, v := range all {
		until, keeps, err := a.lockedUntil(ctx, v)
		if err != nil {
			return storage.Wrap("look for a lock", k, err)
		}
		if keeps && (longest == nil || until.IsZero() || !longest.Until.IsZero() && until.After(longest.Until)) {
			longest = locked(until)
		}
	}
	if longest == nil {
		return nil
	}
	return storage.Wrap("look for a lock", k, longest)
}
