package s3test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
)

func (b *bucket) head(key string) (*awss3.HeadObjectOutput, error) {
	return b.HeadObject(b.ctx, &awss3.HeadObjectInput{Bucket: b.name, Key: &key})
}

func readAfterWrite(b *bucket) error {
	for i := range 40 {
		key, body := fmt.Sprintf("r/%03d", i), strings.Repeat("x", i)
		if err := errors.Join(b.put(key, body, true), b.holds(key, body)); err != nil {
			return err
		}
		head, err := b.head(key)
		if err != nil || aws.ToInt64(head.ContentLength) != int64(i) {
			return fmt.Errorf("%s: %v", key, err)
		}
		names, err := b.names(key, 10)
		if err != nil || len(names) != 1 {
			return fmt.Errorf("%s is listed as %q, %v", key, names, err)
		}
		if err := b.remove(key); err != nil {
			return err
		}
		_, err = b.head(key)
		if err := is(err, http.StatusNotFound, ""); err != nil {
			return err
		}
		if names, err := b.names("r/", 10); err != nil || len(names) > 0 {
			return fmt.Errorf("after it was deleted %q are listed, %v", names, err)
		}
	}
	return nil
}

// names lists objects by pages of a given size.
func (b *bucket) names(prefix string, page int32) (out []string, err error) {
	in := &awss3.ListObjectsV2Input{Bucket: b.name, Prefix: &prefix, MaxKeys: &page}
	for {
		got, err := b.ListObjectsV2(b.ctx, in)
		if err != nil {
			return nil, err
		}
		if n := aws.ToInt32(got.KeyCount); n != int32(len(got.Contents)) || n > page {
			return nil, fmt.Errorf("a page of %d has %d, want at most %d", len(got.Contents), n, page)
		}
		for _, o := range got.Contents {
			out = append(out, *o.Key)
		}
		if aws.ToBool(got.IsTruncated) != (got.NextContinuationToken != nil) {
			return nil, errors.New("a page that is not the last has no token, or the last has one")
		}
		if in.ContinuationToken = got.NextContinuationToken; in.ContinuationToken == nil {
			return out, nil
		}
	}
}

var inOrder = []string{"o/B", "o/a!00001", "o/a!00002", "o/a-b", "o/a.x", "o/a0", "o/ab", "o/b/c", "o/z", "o/é"}

func (b *bucket) putAll(keys []string) error {
	for i := len(keys) - 1; i >= 0; i-- {
		if err := b.put(keys[i], strings.Repeat("x", i), false); err != nil {
			return err
		}
	}
	return b.put("outside", "x", false)
}

func listsInOrder(b *bucket) error {
	if err := b.putAll(inOrder); err != nil {
		return err
	}
	if got, err := b.names("o/", 1000); err != nil || !slices.Equal(got, inOrder) {
		return fmt.Errorf("got %q, %v; want %q and no error", got, err, inOrder)
	}
	all, err := b.ListObjectsV2(b.ctx, &awss3.ListObjectsV2Input{Bucket: b.name, Prefix: aws.String("o/")})
	if err != nil {
		return err
	}
	for i, o := range all.Contents {
		if age := time.Since(aws.ToTime(o.LastModified)); aws.ToInt64(o.Size) != int64(i) || age > time.Minute || age < -time.Minute {
			return fmt.Errorf("%s has %d bytes, of %s ago, want at most %s", *o.Key, aws.ToInt64(o.Size), age, time.Minute)
		}
	}
	return nil
}

func listsInPages(b *bucket) error {
	if err := b.putAll(inOrder); err != nil {
		return err
	}
	for _, page := range []int32{1, 3, 5, 10} {
		if got, err := b.names("o/", page); err != nil || !slices.Equal(got, inOrder) {
			return fmt.Errorf("by %d: %q, %v; want %q and no error", page, got, err, inOrder)
		}
	}
	for at, after := range map[int]string{3: "o/a!00002", 5: "o/a.y", 0: "o/"} { // there, between, before
		got, err := b.ListObjectsV2(b.ctx, &awss3.ListObjectsV2Input{Bucket: b.name, Prefix: aws.String("o/"), StartAfter: &after, MaxKeys: aws.Int32(2)})
		if err != nil || len(got.Contents) != 2 || *got.Contents[0].Key != inOrder[at] || !aws.ToBool(got.IsTruncated) {
			return fmt.Errorf("after %s: %d names, %v; want 2 and no error", after, len(got.Contents), err)
		}
	}
	return nil
}

func pagesOfThousand(b *bucket) error {
	const many = 1003
	errs := make([]error, many)
	slots := make(chan struct{}, 32)
	var group sync.WaitGroup
	for i := range many {
		slots <- struct{}{}
		group.Go(func() {
			errs[i] = b.put(fmt.Sprintf("p/%04d", i), "", false)
			<-slots
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	first, err := b.ListObjectsV2(b.ctx, &awss3.ListObjectsV2Input{Bucket: b.name})
	if err != nil || len(first.Contents) != 1000 || !aws.ToBool(first.IsTruncated) {
		return fmt.Errorf("the first page has %d names, %v", len(first.Contents), err)
	}
	last, err := b.ListObjectsV2(b.ctx, &awss3.ListObjectsV2Input{Bucket: b.name, ContinuationToken: first.NextContinuationToken})
	if err != nil || len(last.Contents) != many-1000 || *last.Contents[0].Key != "p/1000" || aws.ToBool(last.IsTruncated) {
		return fmt.Errorf("the second page has %d names, %v", len(last.Contents), err)
	}
	return nil
}

func headTells(b *bucket) error {
	key := "h"
	put, err := b.PutObject(b.ctx, &awss3.PutObjectInput{Bucket: b.name, Key: &key, Body: strings.NewReader("12345"), Metadata: map[string]string{"writer-of-it": "ABC def"}})
	if err != nil {
		return err
	}
	head, err := b.head(key)
	if err != nil {
		return err
	}
	age := time.Since(aws.ToTime(head.LastModified))
	if aws.ToInt64(head.ContentLength) != 5 || aws.ToString(head.ETag) != aws.ToString(put.ETag) || aws.ToString(put.ETag) == "" ||
		head.Metadata["writer-of-it"] != "ABC def" || age > time.Minute || age < -time.Minute {
		return fmt.Errorf("%d bytes, %s, %v, %s ago", aws.ToInt64(head.ContentLength), aws.ToString(head.ETag), head.Metadata, age)
	}
	return nil
}

const letters = "abcdefghijklmnopqrstuvwxyz"

func readsRanges(b *bucket) error {
	if err := b.put("f", letters, false); err != nil {
		return err
	}
	for span, want := range map[string]string{"0-0": "a", "4-8": "efghi", "20-": "uvwxyz", "20-99": "uvwxyz", "-3": "xyz"} {
		out, err := b.GetObject(b.ctx, &awss3.GetObjectInput{Bucket: b.name, Key: aws.String("f"), Range: aws.String("bytes=" + span)})
		if err != nil {
			return fmt.Errorf("%s: %v", span, err)
		}
		data, err := io.ReadAll(out.Body)
		at := strings.Index(letters, want)
		told := fmt.Sprintf("bytes %d-%d/26", at, at+len(want)-1)
		if err := errors.Join(err, out.Body.Close()); err != nil || string(data) != want || aws.ToInt64(out.ContentLength) != int64(len(want)) || aws.ToString(out.ContentRange) != told {
			return fmt.Errorf("%s: %q, %s, %v; want %s and no error", span, data, aws.ToString(out.ContentRange), err, told)
		}
	}
	return nil
}

func rangeBeyondTheEnd(b *bucket) error {
	if err := b.put("f", letters, false); err != nil {
		return err
	}
	for _, span := range []string{"bytes=26-", "bytes=100-120"} {
		_, err := b.GetObject(b.ctx, &awss3.GetObjectInput{Bucket: b.name, Key: aws.String("f"), Range: &span})
		if err := is(err, http.StatusRequestedRangeNotSatisfiable, "InvalidRange"); err != nil {
			return fmt.Errorf("%s: %v", span, err)
		}
	}
	return nil
}

func absentIsTold(b *bucket) error {
	_, get := b.get("absent")
	_, head := b.head("absent")
	name := *b.name + "-none"
	_, list := b.ListObjectsV2(b.ctx, &awss3.ListObjectsV2Input{Bucket: &name})
	_, put := b.PutObject(b.ctx, &awss3.PutObjectInput{Bucket: &name, Key: &name, Body: strings.NewReader("x")})
	return errors.Join(is(get, 404, "NoSuchKey"), is(head, 404, ""), is(list, 404, "NoSuchBucket"), is(put, 404, "NoSuchBucket"))
}
