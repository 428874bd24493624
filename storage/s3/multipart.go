package s3

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/agentcompact/compact/storage"
)

const (
	// partSize is the size of parts. A larger object is sent in parts.
	partSize = 16 << 20
	// partsAtOnce limits the concurrent parts.
	partsAtOnce = 4
)

// putParts creates a large object: it sends parts, and then one request that
// joins them if the name is still free. After an error the parts are removed.
func (a *Archive) putParts(ctx context.Context, name string, b storage.Blob, t terms) error {
	upload, err := a.beginParts(ctx, name, t)
	if err != nil {
		return err
	}
	parts, err := a.sendParts(ctx, name, upload, b)
	if err == nil {
		err = a.endParts(ctx, name, upload, parts, t)
	}
	if err != nil {
		a.abort(ctx, name, upload)
	}
	return err
}

func (a *Archive) beginParts(ctx context.Context, name string, t terms) (upload string, err error) {
	err = a.call(ctx, 0, func(ctx context.Context, client *s3.Client) error {
		out, err := client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
			Bucket: &a.cfg.Bucket, Key: &name, ChecksumAlgorithm: types.ChecksumAlgorithmSha256, Metadata: t.metadata(),
			ServerSideEncryption: t.encryption(), SSEKMSKeyId: text(t.kms),
			ObjectLockMode: t.lock, ObjectLockRetainUntilDate: t.retainUntil(),
		})
		if err != nil {
			return err
		}
		upload = aws.ToString(out.UploadId)
		return nil
	})
	return upload, err
}

// sendParts sends the parts, some concurrently, and stops at the first error.
func (a *Archive) sendParts(ctx context.Context, name, upload string, b storage.Blob) ([]types.CompletedPart, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	parts := make([]types.CompletedPart, (b.Size()+partSize-1)/partSize)
	slots := make(chan struct{}, partsAtOnce)
	var sending sync.WaitGroup
	for i := range parts {
		slots <- struct{}{}
		sending.Go(func() {
			defer func() { <-slots }()
			from := int64(i) * partSize
			part, err := a.sendPart(ctx, name, upload, int32(i+1), b, from, min(partSize, b.Size()-from))
			if err != nil {
				cancel(err)
			}
			parts[i] = part
		})
	}
	sending.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return parts, nil
}

func (a *Archive) sendPart(ctx context.Context, name, upload string, number int32, b storage.Blob, off, n int64) (types.CompletedPart, error) {
	sum, err := hashOf(&section{b.Reader(), off, n, 0})
	if err != nil {
		return types.CompletedPart{}, err
	}
	part := types.CompletedPart{PartNumber: &number, ChecksumSHA256: &sum}
	err = a.call(ctx, n, func(ctx context.Context, client *s3.Client) error {
		out, err := client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: &a.cfg.Bucket, Key: &name, UploadId: &upload, PartNumber: &number,
			Body: &section{b.Reader(), off, n, 0}, ContentLength: &n, ChecksumSHA256: &sum,
		})
		if err != nil {
			return err
		}
		part.ETag = out.ETag
		return nil
	})
	return part, err
}

// endParts creates the object from its parts. If an answer is lost, the next
// attempt finds no upload, and the object's mark shows who created it.
func (a *Archive) endParts(ctx context.Context, name, upload string, parts []types.CompletedPart, t terms) error {
	err := a.call(ctx, 0, func(ctx context.Context, client *s3.Client) error {
		_, err := client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
			Bucket: &a.cfg.Bucket, Key: &name, UploadId: &upload, IfNoneMatch: aws.String("*"),
			MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		})
		return err
	})
	if err != nil && code(err) != "NoSuchUpload" {
		return err
	}
	return a.whose(ctx, name, t) // servers don't report the encryption in this answer
}

// abort removes the parts. If that fails, a lifecycle rule of the bucket removes
// them later.
func (a *Archive) abort(ctx context.Context, name, upload string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
	defer cancel()
	if client, err := a.api(ctx); err == nil {
		_, _ = client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &a.cfg.Bucket, Key: &name, UploadId: &upload})
	}
}

// section is a range of a ReadSeeker, like io.SectionReader for a ReaderAt.
type section struct {
	r      io.ReadSeeker
	off, n int64
	at     int64 // offset of the next byte in the section
}

func (s *section) Read(p []byte) (int, error) {
	if s.at >= s.n {
		return 0, io.EOF
	}
	if _, err := s.r.Seek(s.off+s.at, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p[:min(int64(len(p)), s.n-s.at)])
	s.at += int64(n)
	return n, err
}

func (s *section) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.at
	case io.SeekEnd:
		offset += s.n
	}
	if offset < 0 {
		return s.at, errors.New("s3: seek before the beginning")
	}
	s.at = offset
	return offset, nil
}
