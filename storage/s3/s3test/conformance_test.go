package s3test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// A fact is a promise of AWS's documentation that the archive or its tests depend on.
type fact struct {
	name  string
	page  string // below https://docs.aws.amazon.com/AmazonS3/latest/
	check func(b *bucket) error
	// lacking means that the stand-in does not conform, so no test that needs the fact
	// may use [Plain].
	lacking bool
}

var facts = []fact{
	{"a PUT with If-None-Match creates, and does not replace", "API/API_PutObject.html", createsIfAbsent, false},
	{"one of many PUTs with If-None-Match succeeds", "userguide/conditional-writes.html", oneOfManyPuts, false},
	{"an upload in parts is completed if the name is free", "API/API_CompleteMultipartUpload.html", completesIfAbsent, false},
	{"one of many uploads and PUTs succeeds", "userguide/conditional-writes.html", oneOfManyWriters, false},
	{"the error for an aborted upload is NoSuchUpload", "API/API_CompleteMultipartUpload.html", uploadsEnd, false},
	{"an upload in parts is listed until it is aborted", "API/API_ListMultipartUploads.html", uploadsAreListed, false},
	{"a written object is read, headed and listed at once", "userguide/Welcome.html#ConsistencyModel", readAfterWrite, false},
	{"a listing is in the byte order of names", "API/API_ListObjectsV2.html", listsInOrder, false},
	{"a listing has pages, also after a name", "API/API_ListObjectsV2.html", listsInPages, false},
	{"a page has 1,000 names", "API/API_ListObjectsV2.html", pagesOfThousand, false},
	{"one request deletes many objects, including absent ones", "API/API_DeleteObjects.html", deletesMany, false},
	{"objects of a bucket without versions have the version null", "userguide/versioning-workflows.html", nullVersions, false},
	{"deleting an absent object is no error", "API/API_DeleteObject.html", deletesAbsent, false},
	{"HEAD returns size, ETag, metadata and time", "API/API_HeadObject.html", headTells, false},
	{"a range is answered with 206 and Content-Range", "API/API_GetObject.html", readsRanges, false},
	{"a range beyond the end is 416", "API/API_GetObject.html", rangeBeyondTheEnd, false},
	{"the error for an absent object is 404, and names its kind", "API/ErrorResponses.html", absentIsTold, false},
	{"a bucket without Object Lock reports that", "API/ErrorResponses.html", saysThatNothingLocks, false},
	{"a GET with If-Match reads that object only", "API/API_GetObject.html", readsIfMatch, true},
	{"the pages of versions contain all versions", "API/API_ListObjectVersions.html", pagesOfVersions, true},
	{"a bucket keeps versions, and HEAD describes each", "userguide/versioning-workflows.html", keepsVersions, true},
	{"bytes with another checksum are refused", "userguide/checking-object-integrity.html", refusesWrongChecksum, true},
	{"a wrong signature is refused", "API/sig-v4-authenticating-requests.html", refusesWrongKeys, true},
	{"a locked version is not deleted", "userguide/object-lock.html", keepsLocked, true},
}

// The real servers conform to all facts. The stand-in conforms to all facts except the
// listed gaps; a gap that was closed must be removed from the list.
func TestServersConformToAWS(t *testing.T) {
	for name, server := range map[string]func(testing.TB) *Server{"stand-in": StandIn, "versitygw": Versitygw, "MinIO": MinIO} {
		t.Run(name, func(t *testing.T) {
			s := server(t)
			for _, f := range facts {
				t.Run(f.name, func(t *testing.T) {
					err := f.check(newBucket(t, s, false))
					if name == "stand-in" && f.lacking {
						if err == nil {
							t.Error("the stand-in conforms to this fact now: remove it from the list")
						}
						return
					}
					if err != nil {
						t.Errorf("%v\nhttps://docs.aws.amazon.com/AmazonS3/latest/%s", err, f.page)
					}
				})
			}
		})
	}
}

// bucket is a bucket on a server, with the requests that the checks make.
type bucket struct {
	*awss3.Client
	t      testing.TB
	server *Server
	name   *string
	ctx    context.Context
}

func newBucket(t testing.TB, s *Server, locks bool) *bucket {
	name := s.Bucket(t, locks)
	return &bucket{s.Admin, t, s, &name, t.Context()}
}

func (b *bucket) put(key, body string, ifAbsent bool) error {
	in := &awss3.PutObjectInput{Bucket: b.name, Key: &key, Body: strings.NewReader(body)}
	if ifAbsent {
		in.IfNoneMatch = aws.String("*")
	}
	_, err := b.PutObject(b.ctx, in)
	return err
}

func (b *bucket) get(key string) (string, error) {
	out, err := b.GetObject(b.ctx, &awss3.GetObjectInput{Bucket: b.name, Key: &key})
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(out.Body)
	return string(data), errors.Join(err, out.Body.Close())
}

func (b *bucket) remove(key string) error {
	_, err := b.DeleteObject(b.ctx, &awss3.DeleteObjectInput{Bucket: b.name, Key: &key})
	return err
}

func (b *bucket) holds(key, want string) error {
	if got, err := b.get(key); err != nil || got != want {
		return fmt.Errorf("%s holds %.60q, %v; want %.60q", key, got, err, want)
	}
	return nil
}

// is checks the status and the code of an error; "" is any code.
func is(err error, status int, code string) error {
	var response *awshttp.ResponseError
	var api smithy.APIError
	if !errors.As(err, &response) || response.HTTPStatusCode() != status || code != "" && (!errors.As(err, &api) || api.ErrorCode() != code) {
		return fmt.Errorf("got %v, want %d %s", err, status, code)
	}
	return nil
}

// lost is the error of a writer whose name another writer has taken, or is taking now.
func lost(err error) bool {
	return is(err, http.StatusPreconditionFailed, "PreconditionFailed") == nil || is(err, http.StatusConflict, "ConditionalRequestConflict") == nil
}
