package s3test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func createsIfAbsent(b *bucket) error {
	if err := b.put("f", "one", true); err != nil {
		return err
	}
	if err := is(b.put("f", "two", true), http.StatusPreconditionFailed, "PreconditionFailed"); err != nil {
		return err
	}
	if err := b.holds("f", "one"); err != nil {
		return err
	}
	if err := errors.Join(b.put("f", "over", false), b.holds("f", "over"), b.remove("f")); err != nil {
		return fmt.Errorf("without a condition: %v", err)
	}
	return errors.Join(b.put("f", "anew", true), b.holds("f", "anew"))
}

const rounds, writers = 12, 12

func oneOfManyPuts(b *bucket) error {
	return b.race("puts", func(key, body string, _ int) (func() error, error) {
		return func() error { return b.put(key, body, true) }, nil
	})
}

// race lets many writers write the same name at once, each with its own body.
// prepare returns the function that writes.
func (b *bucket) race(prefix string, prepare func(key, body string, writer int) (func() error, error)) error {
	for round := range rounds {
		key := fmt.Sprintf("%s-%d", prefix, round)
		errs := make([]error, writers)
		begin := make(chan struct{})
		var group sync.WaitGroup
		for i := range errs {
			write, err := prepare(key, fmt.Sprint("of ", i), i)
			if err != nil {
				return err
			}
			group.Go(func() {
				<-begin
				errs[i] = write()
			})
		}
		close(begin)
		group.Wait()
		won := -1
		for i, err := range errs {
			switch {
			case err == nil && won >= 0:
				return fmt.Errorf("%d and %d both won", won, i)
			case err == nil:
				won = i
			case !lost(err):
				return fmt.Errorf("a loser gets %v", err)
			}
		}
		if err := b.holds(key, fmt.Sprint("of ", won)); err != nil {
			return err
		}
	}
	return nil
}

// upload sends parts, and leaves the end to the caller.
func (b *bucket) upload(key string, parts ...string) (end func(ifAbsent bool) error, id *string, err error) {
	up, err := b.CreateMultipartUpload(b.ctx, &awss3.CreateMultipartUploadInput{Bucket: b.name, Key: &key})
	if err != nil {
		return nil, nil, err
	}
	var sent []types.CompletedPart
	for i, body := range parts {
		number := aws.Int32(int32(i + 1))
		part, err := b.UploadPart(b.ctx, &awss3.UploadPartInput{Bucket: b.name, Key: &key, UploadId: up.UploadId, PartNumber: number, Body: strings.NewReader(body)})
		if err != nil {
			return nil, nil, err
		}
		sent = append(sent, types.CompletedPart{PartNumber: number, ETag: part.ETag, ChecksumCRC32: part.ChecksumCRC32})
	}
	return func(ifAbsent bool) error {
		in := &awss3.CompleteMultipartUploadInput{Bucket: b.name, Key: &key, UploadId: up.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: sent}}
		if ifAbsent {
			in.IfNoneMatch = aws.String("*")
		}
		_, err := b.CompleteMultipartUpload(b.ctx, in)
		return err
	}, up.UploadId, nil
}

func (b *bucket) abort(key string, id *string) error {
	_, err := b.AbortMultipartUpload(b.ctx, &awss3.AbortMultipartUploadInput{Bucket: b.name, Key: &key, UploadId: id})
	return err
}

func completesIfAbsent(b *bucket) error {
	large := strings.Repeat("0123456789abcdef", 5<<16) // the minimum size of a part; only the last part may be smaller
	end, _, err := b.upload("f", large, "the end")
	if err != nil {
		return err
	}
	if err := errors.Join(end(true), b.holds("f", large+"the end")); err != nil {
		return err
	}
	end, id, err := b.upload("f", "another")
	if err != nil {
		return err
	}
	if err := is(end(true), http.StatusPreconditionFailed, "PreconditionFailed"); err != nil {
		return err
	}
	return errors.Join(b.holds("f", large+"the end"), b.abort("f", id))
}

func oneOfManyWriters(b *bucket) error {
	return b.race("writers", func(key, body string, writer int) (func() error, error) {
		if writer%3 == 0 {
			return func() error { return b.put(key, body, true) }, nil
		}
		end, id, err := b.upload(key, body)
		return func() error {
			err := end(true)
			if err != nil {
				_ = b.abort(key, id)
			}
			return err
		}, err
	})
}

func uploadsEnd(b *bucket) error {
	end, id, err := b.upload("f", "part")
	if err != nil {
		return err
	}
	if err := b.abort("f", id); err != nil {
		return err
	}
	if err := is(end(true), http.StatusNotFound, "NoSuchUpload"); err != nil {
		return err
	}
	_, err = b.get("f")
	return is(err, http.StatusNotFound, "NoSuchKey")
}

func uploadsAreListed(b *bucket) error {
	end, id, err := b.upload("f", "part")
	if err != nil {
		return err
	}
	for _, want := range []int{1, 0} {
		out, err := b.ListMultipartUploads(b.ctx, &awss3.ListMultipartUploadsInput{Bucket: b.name, Prefix: aws.String("f")})
		if err != nil || len(out.Uploads) != want {
			return fmt.Errorf("%d uploads are listed, %v; want %d", len(out.Uploads), err, want)
		}
		if want == 1 {
			if err := b.abort("f", id); err != nil {
				return err
			}
		}
	}
	return is(end(false), http.StatusNotFound, "NoSuchUpload")
}

func deletesAbsent(b *bucket) error { return b.remove("never-was") }

func deletesMany(b *bucket) error {
	var want []types.ObjectIdentifier
	for i := range 30 {
		key := fmt.Sprintf("d/%03d", i)
		if err := b.put(key, "x", false); err != nil {
			return err
		}
		want = append(want, types.ObjectIdentifier{Key: &key})
	}
	want = append(want, types.ObjectIdentifier{Key: aws.String("d/absent")})
	if err := b.put("d/stays", "x", false); err != nil {
		return err
	}
	out, err := b.DeleteObjects(b.ctx, &awss3.DeleteObjectsInput{Bucket: b.name, Delete: &types.Delete{Objects: want}})
	if err != nil || len(out.Deleted) != len(want) || len(out.Errors) > 0 {
		return fmt.Errorf("%d of %d are said to be deleted, %d errors, %v", len(out.Deleted), len(want), len(out.Errors), err)
	}
	left, err := b.names("d/", 1000)
	if err != nil || fmt.Sprint(left) != "[d/stays]" {
		return fmt.Errorf("these objects are left: %q, %v", left, err)
	}
	return nil
}
