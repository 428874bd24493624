package s3

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

const (
	// tryLock is the retention of Try's objects, in the configured mode but for
	// a short time.
	tryLock = 2 * time.Minute
	// tryAge is the least age of abandoned objects of Try that are swept.
	tryAge = time.Hour
)

var tryText = storage.Redacted(redact.Lit("compact tries whether this bucket does what it is asked for\n"))

// Try writes a small object and tests whether the server enforces the properties that the
// archive needs: create-once, also for objects in parts, ranged reads, and, if
// configured, encryption with the key and Object Lock. If the server does not enforce one
// of these properties, Try returns [ErrNotEnforced]. The first success is remembered, and
// later calls make no request. If Try locks its object, the lock lasts two minutes, and a
// Try at least an hour later removes the object.
func (a *Archive) Try(ctx context.Context) error {
	if a.tried.Load() {
		return nil
	}
	if err := a.trying.Lock(ctx); err != nil {
		return &storage.Error{Op: "open archive", Err: err}
	}
	defer a.trying.Unlock()
	if a.tried.Load() {
		return nil
	}
	if err := a.try(ctx); err != nil {
		return &storage.Error{Op: "open archive", Err: fmt.Errorf("%s: %w", a.Location(storage.Key{}), err)}
	}
	a.tried.Store(true)
	return nil
}

func (a *Archive) try(ctx context.Context) error {
	a.sweep(ctx)
	name := a.root + tryFolder + rand.Text()
	t := a.terms(a.now())
	if t.lock != "" {
		t.until = a.now().Add(tryLock).UTC().Truncate(time.Second)
	}
	if err := a.put(ctx, name, tryText, t); err != nil {
		return err
	}
	for _, check := range []func(context.Context, string, terms) error{a.tryOnce, a.tryOnceInParts, a.tryRange, a.tryKey, a.tryUnlock} {
		if err := check(ctx, name, t); err != nil {
			return err
		}
	}
	if t.lock != "" {
		return nil // locked for now
	}
	return a.endTry(ctx, name)
}

// endTry removes Try's object. No permission to delete is required. If the bucket has a
// default retention, the object stays: AWS refuses its deletion with 403, MinIO with 400.
func (a *Archive) endTry(ctx context.Context, name string) error {
	err := a.removeObjects(ctx, name, func(n string) bool { return n == name })
	if status(err) == http.StatusForbidden || errors.Is(err, storage.ErrLocked) {
		return nil
	}
	return err
}

// tryOnce tests that the server refuses to create a taken name.
func (a *Archive) tryOnce(ctx context.Context, name string, t terms) error {
	t.mark = rand.Text()
	err := a.put(ctx, name, tryText, t)
	if errors.Is(err, errTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	return &NotEnforcedError{"create-once", "the server wrote over an object that was to be created if absent (If-None-Match)"}
}

// tryOnceInParts tests that an upload in parts can't take a taken name.
func (a *Archive) tryOnceInParts(ctx context.Context, name string, t terms) error {
	t.mark = rand.Text()
	upload, err := a.beginParts(ctx, name, t)
	if err != nil {
		return err
	}
	defer a.abort(ctx, name, upload)
	part, err := a.sendPart(ctx, name, upload, 1, tryText, 0, tryText.Size())
	if err != nil {
		return err
	}
	err = a.endParts(ctx, name, upload, []types.CompletedPart{part}, t)
	switch {
	case status(err) == http.StatusPreconditionFailed:
		return nil
	case err != nil:
		return err
	}
	return &NotEnforcedError{"create-once", "the server wrote over an object when an upload in parts was completed"}
}

// tryRange tests ranged reads, which recalls need.
func (a *Archive) tryRange(ctx context.Context, name string, _ terms) error {
	const off, n = 8, 5
	r, err := a.openObject(ctx, name, off, n)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	want := make([]byte, n)
	if _, err := io.ReadFull(&section{tryText.Reader(), off, n, 0}, want); err != nil {
		return err
	}
	if string(got) != string(want) {
		return &NotEnforcedError{"ranged reads", fmt.Sprintf("a read of bytes %d-%d returned %d bytes that differ from the stored ones", off, off+n-1, len(got))}
	}
	return nil
}

// tryKey tests that the server reports the key of an object, and refuses a key
// that does not exist.
func (a *Archive) tryKey(ctx context.Context, name string, t terms) error {
	if t.kms == "" {
		return nil
	}
	head, err := a.head(ctx, name, "")
	if err != nil {
		return err
	}
	if err := a.sameKey(head.ServerSideEncryption, aws.ToString(head.SSEKMSKeyId)); err != nil {
		return err
	}
	t.mark, t.kms = rand.Text(), "no-such-key-"+strings.ToLower(rand.Text())
	other := a.root + tryFolder + rand.Text()
	_, err = a.putWhole(ctx, other, tryText, t)
	// sameKey detects this as well, but only after the object was created.
	var accepted *NotEnforcedError
	if err == nil || errors.As(err, &accepted) {
		return &NotEnforcedError{"SSE-KMS", "the server accepts a key that does not exist, so it cannot be encrypting with it"}
	}
	if s := status(err); s == 0 || s >= http.StatusInternalServerError && s != http.StatusNotImplemented {
		return err
	}
	return nil
}

// tryUnlock tests that the server reports the object as locked, and Object Lock
// as enabled for the bucket, and refuses the deletion.
func (a *Archive) tryUnlock(ctx context.Context, name string, t terms) error {
	if t.lock == "" {
		return nil
	}
	const what = "Object Lock"
	if err := a.bucketLocks(ctx); err != nil {
		return err
	}
	head, err := a.head(ctx, name, "")
	if err != nil {
		return err
	}
	if string(head.ObjectLockMode) != string(t.lock) || aws.ToTime(head.ObjectLockRetainUntilDate).Before(t.until.Add(-time.Second)) {
		return &NotEnforcedError{what, fmt.Sprintf("an object was to be kept in mode %s until %s, the server says mode %q until %s",
			t.lock, t.until.Format(time.RFC3339), head.ObjectLockMode, aws.ToTime(head.ObjectLockRetainUntilDate).Format(time.RFC3339))}
	}
	id := aws.ToString(head.VersionId)
	if id == "" {
		return &NotEnforcedError{what, "the bucket keeps no versions, and only versions can be locked"}
	}
	client, err := a.api(ctx)
	if err != nil {
		return err
	}
	_, err = client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &a.cfg.Bucket, Key: &name, VersionId: &id})
	switch s := status(err); {
	case err == nil:
		return &NotEnforcedError{what, "the server deleted an object that was locked"}
	case s < 400 || s >= 500:
		return err
	}
	return nil
}

// bucketLocks checks that Object Lock is enabled for the bucket.
func (a *Archive) bucketLocks(ctx context.Context) error {
	var out *s3.GetObjectLockConfigurationOutput
	err := a.call(ctx, 0, func(ctx context.Context, client *s3.Client) (err error) {
		out, err = client.GetObjectLockConfiguration(ctx, &s3.GetObjectLockConfigurationInput{Bucket: &a.cfg.Bucket})
		return err
	})
	switch {
	case code(err) == "ObjectLockConfigurationNotFoundError", status(err) == http.StatusNotImplemented, absent(err):
		return &NotEnforcedError{"Object Lock", "the bucket was not made with Object Lock: " + err.Error()}
	case err != nil:
		return err
	case out.ObjectLockConfiguration == nil || out.ObjectLockConfiguration.ObjectLockEnabled != types.ObjectLockEnabledEnabled:
		return &NotEnforcedError{"Object Lock", "the bucket's configuration does not enable it"}
	}
	return nil
}

// sweep removes old objects of Try. It ignores errors.
func (a *Archive) sweep(ctx context.Context) {
	for o, err := range a.objects(ctx, tryFolder) {
		if err != nil {
			return
		}
		if name := a.root + o.name; a.now().Sub(o.modified) > tryAge {
			if a.removeObjects(ctx, name, func(n string) bool { return n == name }) != nil {
				return
			}
		}
	}
}
