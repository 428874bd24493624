package s3

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/agentcompact/compact/storage"
)

// Remove implements [storage.Remover]. It deletes every version, because a versioned
// bucket would otherwise keep the bytes. If Object Lock forbids it, the error is a
// [*storage.LockedError]. The last segment of a log is deleted last, so that its last
// line, which records the erasure, remains until the end.
func (a *Archive) Remove(ctx context.Context, k storage.Key) error {
	if err := storage.Begin(ctx, "remove", k); err != nil {
		return err
	}
	err := a.Try(ctx)
	if err == nil {
		err = a.removeLog(ctx, k)
	}
	a.forget(k)
	return storage.Wrap("remove", k, err)
}

// removeLog removes a key. A concurrent writer of a roll-up checks afterwards whether the
// log exists, which is true until its last segment is deleted. So removeLog looks for new
// objects once more.
func (a *Archive) removeLog(ctx context.Context, k storage.Key) error {
	n := 0
	err := a.removeObjects(ctx, a.name(k), func(name string) bool {
		is := a.isOf(k)(name)
		if is {
			n++
		}
		return is
	})
	if err != nil || n < everySegments {
		return err
	}
	return a.removeObjects(ctx, a.name(k)+segmentMark, func(name string) bool {
		_, repeats, _ := logOf(name)
		return repeats && a.isOf(k)(name)
	})
}

// isOf returns a function that reports whether a name is the object of a key or
// one of its segments.
func (a *Archive) isOf(k storage.Key) func(name string) bool {
	return func(name string) bool {
		rest, ok := strings.CutPrefix(name, a.name(k))
		if !ok {
			return false
		}
		_, _, isPart := logOf(k.String() + rest)
		return rest == "" || isPart
	}
}

// removeObjects removes the versions of the wanted objects with a prefix.
func (a *Archive) removeObjects(ctx context.Context, prefix string, want func(name string) bool) error {
	all, err := a.versions(ctx, prefix, want)
	if err != nil || len(all) == 0 {
		return err
	}
	// The last segment of a log is deleted last, because a server can delete a
	// batch in any order.
	last := slices.IndexFunc(all, func(v version) bool { return v.name == all[len(all)-1].name })
	if err := a.removeVersions(ctx, all[:last]); err != nil {
		return err
	}
	return a.removeVersions(ctx, all[last:])
}

// RemoveAll implements [storage.BulkRemover] with a listing for each folder and each
// 1,000 of its objects, and a request for each 1,000 deleted objects.
func (a *Archive) RemoveAll(ctx context.Context, keys []storage.Key) error {
	folders := map[string]map[string]bool{}
	for _, k := range keys {
		if err := storage.Begin(ctx, "remove", k); err != nil {
			return err
		}
		if k.Base() == k.Dir() { // not in a folder
			if err := a.Remove(ctx, k); err != nil {
				return err
			}
			continue
		}
		a.forget(k)
		if folders[k.Dir()] == nil {
			folders[k.Dir()] = map[string]bool{}
		}
		folders[k.Dir()][a.name(k)] = true
	}
	for dir, names := range folders {
		if err := a.removeBelow(ctx, a.root+dir+"/", names); err != nil {
			return storage.Wrap("remove", keys[0], err)
		}
	}
	return nil
}

// removeBelow removes the versions of the named objects and segments.
func (a *Archive) removeBelow(ctx context.Context, prefix string, names map[string]bool) error {
	if err := a.Try(ctx); err != nil {
		return err
	}
	all, err := a.versions(ctx, prefix, func(name string) bool {
		if log, _, ok := logOf(name); ok {
			name = log
		}
		return names[name]
	})
	if err != nil {
		return err
	}
	return a.removeVersions(ctx, all)
}

// atOnce is the maximum number of objects that one request deletes.
const atOnce = 1000

// removeVersions deletes versions, in any order.
func (a *Archive) removeVersions(ctx context.Context, all []version) error {
	for batch := range slices.Chunk(all, atOnce) {
		left := batch
		if len(batch) > 1 && !a.single.Load() {
			var err error
			if left, err = a.deleteObjects(ctx, batch); err != nil {
				return err
			}
		}
		// Refused versions are deleted one by one, which retries or returns the reason.
		for _, v := range left {
			if err := a.removeLeft(ctx, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteObjects deletes versions with one request, and returns those that the server does
// not confirm. If the server does not support the request or refuses it, it returns all
// keys, and does not use the request again.
func (a *Archive) deleteObjects(ctx context.Context, all []version) (left []version, err error) {
	in := &s3.DeleteObjectsInput{Bucket: &a.cfg.Bucket, Delete: &types.Delete{}}
	for _, v := range all {
		in.Delete.Objects = append(in.Delete.Objects, types.ObjectIdentifier{Key: aws.String(v.name), VersionId: text(v.id)})
	}
	var out *s3.DeleteObjectsOutput
	err = a.call(ctx, 0, func(try context.Context, client *s3.Client) (err error) {
		if err := overdue(ctx); err != nil {
			return err
		}
		// Some servers need the MD5, which the SDK omits if it sends another checksum.
		out, err = client.DeleteObjects(try, in, s3.WithAPIOptions(smithyhttp.AddContentChecksumMiddleware))
		return err
	})
	if s := status(err); s >= 300 && !isTransient(err) {
		a.single.Store(true)
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	gone := map[[2]string]bool{}
	for _, d := range out.Deleted {
		if d.VersionId == nil && aws.ToBool(d.DeleteMarker) {
			continue // the server keeps versions, so the object is only hidden
		}
		gone[[2]string{aws.ToString(d.Key), aws.ToString(d.VersionId)}] = true
	}
	for _, v := range all {
		if !gone[[2]string{v.name, v.id}] {
			left = append(left, v)
		}
	}
	return left, nil
}

// errSlept means that the time for a removal is over by the wall clock only.
var errSlept = errors.New("the time for the removal is over by the wall clock: the machine was suspended, or its clock was set")

// overdue reports whether the deadline of ctx has passed by the wall clock. The timer of
// ctx stands still while a machine is suspended, and another process may have continued
// the removal since.
func overdue(ctx context.Context) error {
	if end, ok := ctx.Deadline(); ok && time.Now().Round(0).After(end.Round(0)) {
		return errors.Join(errSlept, ctx.Err())
	}
	return nil
}

var errEndless = errors.New("the server says that its listing of versions continues, but not where the next page begins")

// version is one version of an object; id is "" without versions.
type version struct {
	name, id string
	size     int64
	modified time.Time
	etag     string
	marker   bool // a delete marker, without content
	hidden   bool // a later version or a delete marker hides it
	unlisted bool // it is unknown whether the object exists, and has versions
}

// versions returns the versions of the wanted objects with a prefix, in byte order of
// the names. It sorts, because the delete markers of a page follow its versions.
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
			out = append(out, version{name: aws.ToString(v.Key), id: aws.ToString(v.VersionId), size: aws.ToInt64(v.Size), modified: aws.ToTime(v.LastModified), etag: unquoted(v.ETag), hidden: v.IsLatest != nil && !*v.IsLatest})
		}
		for _, m := range page.DeleteMarkers {
			out = append(out, version{name: aws.ToString(m.Key), id: aws.ToString(m.VersionId), marker: true, hidden: true})
		}
		if !aws.ToBool(page.IsTruncated) {
			break
		}
		if aws.ToString(page.NextKeyMarker) == aws.ToString(in.KeyMarker) && aws.ToString(page.NextVersionIdMarker) == aws.ToString(in.VersionIdMarker) {
			return nil, errEndless
		}
		in.KeyMarker, in.VersionIdMarker = page.NextKeyMarker, page.NextVersionIdMarker
	}
	out = slices.DeleteFunc(out, func(v version) bool { return !want(v.name) })
	slices.SortStableFunc(out, func(x, y version) int { return strings.Compare(x.name, y.name) })
	return out, nil
}

// unversioned is versions for a server without versioning.
func (a *Archive) unversioned(ctx context.Context, prefix string, want func(string) bool) ([]version, error) {
	var out []version
	for o, err := range a.objects(ctx, strings.TrimPrefix(prefix, a.root)) {
		if err != nil {
			return nil, err
		}
		if want(a.root + o.name) {
			out = append(out, version{name: a.root + o.name, size: o.size, modified: o.modified, etag: o.etag})
		}
	}
	return out, nil
}

// removeVersion deletes one version. If Object Lock keeps it, the error says
// so.
func (a *Archive) removeVersion(ctx context.Context, v version) error {
	err := a.call(ctx, 0, func(try context.Context, client *s3.Client) error {
		if err := overdue(ctx); err != nil {
			return err
		}
		_, err := client.DeleteObject(try, &s3.DeleteObjectInput{Bucket: &a.cfg.Bucket, Key: &v.name, VersionId: text(v.id)})
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
// zero time means a legal hold.
func (a *Archive) lockedUntil(ctx context.Context, v version) (time.Time, bool, error) {
	if v.marker {
		return time.Time{}, false, nil
	}
	head, err := a.head(ctx, v.name, v.id)
	if status(err) == http.StatusBadRequest && v.id == "null" {
		// A server without versioning lists the only version as "null", but may refuse that id.
		head, err = a.head(ctx, v.name, "")
	}
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
	return until, until.After(answeredAt(head.ResultMetadata)), nil
}

// answeredAt returns the server's time of an answer. The clock of this machine can be wrong by
// hours, as the SDK corrects the time of its requests, and the server's clock ends a lock.
func answeredAt(answer middleware.Metadata) time.Time {
	if at, ok := awsmiddleware.GetServerTime(answer); ok && !at.IsZero() {
		return at
	}
	return time.Now()
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

// KeptAny implements [storage.BulkKeeper]. It needs one request if Object Lock is not
// enabled for the bucket, because nothing can be locked then. It also checks the files in
// the folders of the keys that delete markers hide, because [Archive.RemoveAllBut] removes
// them.
func (a *Archive) KeptAny(ctx context.Context, keys []storage.Key) error {
	if err := ctx.Err(); err != nil || len(keys) == 0 {
		return storage.Wrap("look for a lock", storage.Key{}, err)
	}
	if a.Free(ctx) {
		return nil
	}
	for _, k := range keys {
		if err := a.Kept(ctx, k); err != nil {
			return err
		}
	}
	return a.hiddenKept(ctx, keys)
}

// hiddenKept is Kept for the hidden versions in the folders of keys.
func (a *Archive) hiddenKept(ctx context.Context, keys []storage.Key) error {
	folders := map[string]bool{}
	for _, k := range keys {
		if k.Base() == k.Dir() || folders[k.Dir()] {
			continue
		}
		folders[k.Dir()] = true
		if err := a.hiddenKeptIn(ctx, k); err != nil {
			return storage.Wrap("look for a lock", k, err)
		}
	}
	return nil
}

// hiddenKeptIn is hiddenKept for the folder of a key.
func (a *Archive) hiddenKeptIn(ctx context.Context, k storage.Key) error {
	all, err := a.inFolder(ctx, k)
	if err != nil {
		return err
	}
	for _, v := range all {
		if !v.hidden {
			continue
		}
		switch until, keeps, err := a.lockedUntil(ctx, v); {
		case keeps:
			return locked(until)
		case err != nil:
			return err
		}
	}
	return nil
}

// Free implements [storage.FreeKeeper] with one request. Any answer but a missing
// configuration of Object Lock means that each key must be checked.
func (a *Archive) Free(ctx context.Context) bool {
	err := a.call(ctx, 0, func(ctx context.Context, client *s3.Client) error {
		_, err := client.GetObjectLockConfiguration(ctx, &s3.GetObjectLockConfigurationInput{Bucket: &a.cfg.Bucket})
		return err
	})
	return code(err) == "ObjectLockConfigurationNotFoundError"
}
