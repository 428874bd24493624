package s3test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func readsIfMatch(b *bucket) error {
	if err := b.put("f", letters, false); err != nil {
		return err
	}
	head, err := b.head("f")
	if err != nil {
		return err
	}
	in := &awss3.GetObjectInput{Bucket: b.name, Key: aws.String("f"), IfMatch: head.ETag}
	out, err := b.GetObject(b.ctx, in)
	if err != nil {
		return err
	}
	if err := errors.Join(out.Body.Close(), b.put("f", "another", false)); err != nil {
		return err
	}
	_, err = b.GetObject(b.ctx, in)
	return is(err, http.StatusPreconditionFailed, "PreconditionFailed")
}

// version writes a version of an object, and returns the version's ID.
func (b *bucket) version(body string) (*string, error) {
	out, err := b.PutObject(b.ctx, &awss3.PutObjectInput{Bucket: b.name, Key: aws.String("f"), Body: strings.NewReader(body)})
	if err != nil {
		return nil, err
	}
	return out.VersionId, nil
}

func keepsVersions(b *bucket) error {
	_, err := b.PutBucketVersioning(b.ctx, &awss3.PutBucketVersioningInput{Bucket: b.name, VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled}})
	if err != nil {
		return err
	}
	one, err1 := b.version("1")
	two, err2 := b.version("22")
	if err := errors.Join(err1, err2, b.holds("f", "22"), b.remove("f")); err != nil {
		return err
	}
	_, err = b.get("f")
	if err := is(err, http.StatusNotFound, "NoSuchKey"); err != nil {
		return err
	}
	for size, id := range map[int64]*string{1: one, 2: two} {
		head, err := b.HeadObject(b.ctx, &awss3.HeadObjectInput{Bucket: b.name, Key: aws.String("f"), VersionId: id})
		if err != nil || aws.ToInt64(head.ContentLength) != size {
			return fmt.Errorf("the version of %d bytes: %v", size, err)
		}
	}
	all, err := b.ListObjectVersions(b.ctx, &awss3.ListObjectVersionsInput{Bucket: b.name})
	if err != nil || len(all.Versions) != 2 || len(all.DeleteMarkers) != 1 {
		return fmt.Errorf("%d versions and %d markers, %v; want 2, 1 and no error", len(all.Versions), len(all.DeleteMarkers), err)
	}
	for _, id := range []*string{all.DeleteMarkers[0].VersionId, two} {
		if _, err := b.DeleteObject(b.ctx, &awss3.DeleteObjectInput{Bucket: b.name, Key: aws.String("f"), VersionId: id}); err != nil {
			return err
		}
	}
	return b.holds("f", "1")
}

// nullVersions checks that a bucket without versions lists the version "null" of each
// object, and deletes the object by that version.
func nullVersions(b *bucket) error {
	if err := b.putAll(inOrder); err != nil {
		return err
	}
	all, err := b.versions(1000)
	if err != nil {
		return err
	}
	for _, v := range all {
		if aws.ToString(v.VersionId) != "null" {
			return fmt.Errorf("%s has the version %q, want %q", *v.Key, aws.ToString(v.VersionId), "null")
		}
	}
	if _, err := b.DeleteObject(b.ctx, &awss3.DeleteObjectInput{Bucket: b.name, Key: all[0].Key, VersionId: all[0].VersionId}); err != nil {
		return err
	}
	out, err := b.DeleteObjects(b.ctx, &awss3.DeleteObjectsInput{Bucket: b.name, Delete: &types.Delete{Objects: all[1:]}})
	if err != nil || len(out.Deleted) != len(all)-1 || aws.ToString(out.Deleted[0].VersionId) != "null" {
		return fmt.Errorf("%d are reported as deleted, %v", len(out.Deleted), err)
	}
	if left, err := b.names("o/", 1000); err != nil || len(left) > 0 {
		return fmt.Errorf("these objects are left: %q, %v", left, err)
	}
	return nil
}

func pagesOfVersions(b *bucket) error {
	if err := b.putAll(inOrder); err != nil {
		return err
	}
	_, err := b.versions(4)
	return err
}

// versions lists the versions of the objects in [inOrder].
func (b *bucket) versions(atOnce int32) (all []types.ObjectIdentifier, err error) {
	in := &awss3.ListObjectVersionsInput{Bucket: b.name, Prefix: aws.String("o/"), MaxKeys: &atOnce}
	for {
		page, err := b.ListObjectVersions(b.ctx, in)
		if err != nil || len(page.DeleteMarkers) > 0 || len(page.Versions) > int(atOnce) {
			return nil, fmt.Errorf("%d versions, %d markers, %v; want none and no error", len(page.Versions), len(page.DeleteMarkers), err)
		}
		if n := len(all); n > 0 && len(page.Versions) > 0 && *page.Versions[0].Key == *all[n-1].Key {
			page.Versions = page.Versions[1:] // some start with the marker
		}
		for _, v := range page.Versions {
			if len(all) == len(inOrder) || *v.Key != inOrder[len(all)] {
				return nil, fmt.Errorf("%s is number %d", *v.Key, len(all))
			}
			all = append(all, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
		}
		if !aws.ToBool(page.IsTruncated) {
			break
		}
		in.KeyMarker, in.VersionIdMarker = page.NextKeyMarker, page.NextVersionIdMarker
	}
	if len(all) != len(inOrder) {
		return nil, fmt.Errorf("%d of %d are listed", len(all), len(inOrder))
	}
	return all, nil
}

func saysThatNothingLocks(b *bucket) error {
	_, err := b.GetObjectLockConfiguration(b.ctx, &awss3.GetObjectLockConfigurationInput{Bucket: b.name})
	return is(err, http.StatusNotFound, "ObjectLockConfigurationNotFoundError")
}

func refusesWrongChecksum(b *bucket) error {
	wrong := base64.StdEncoding.EncodeToString(make([]byte, 32))
	_, err := b.PutObject(b.ctx, &awss3.PutObjectInput{Bucket: b.name, Key: aws.String("f"), Body: strings.NewReader("x"), ChecksumSHA256: &wrong})
	if err := is(err, http.StatusBadRequest, ""); err != nil {
		return err
	}
	_, err = b.get("f")
	return is(err, http.StatusNotFound, "NoSuchKey")
}

func refusesWrongKeys(b *bucket) error {
	id, _ := PlainKeys(b.t)
	_, err := connect(b.t, b.server.Endpoint, id, "not-the-secret").Admin.ListObjectsV2(b.ctx, &awss3.ListObjectsV2Input{Bucket: b.name})
	return is(err, http.StatusForbidden, "SignatureDoesNotMatch")
}

func keepsLocked(b *bucket) error {
	b = newBucket(b.t, b.server, true)
	until := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
	out, err := b.PutObject(b.ctx, &awss3.PutObjectInput{
		Bucket: b.name, Key: aws.String("f"), Body: strings.NewReader("x"), ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
		ObjectLockMode: types.ObjectLockModeCompliance, ObjectLockRetainUntilDate: &until,
	})
	if err != nil {
		return err
	}
	if _, err = b.DeleteObject(b.ctx, &awss3.DeleteObjectInput{Bucket: b.name, Key: aws.String("f"), VersionId: out.VersionId}); err == nil {
		return errors.New("it was deleted")
	}
	return b.holds("f", "x")
}
