// Package s3test gives tests buckets on the real servers that .ci/s3 starts.
// A test that needs one is skipped, loudly, where it is not there;
// COMPACT_S3=require makes that a failure.
//
// A test that lives on what every S3 does takes [Plain] instead, and runs on a
// stand-in where no real server is. The conformance test of this package holds the
// stand-in and the real servers against AWS's documentation, and lists what the
// stand-in lacks: a test that needs one of those takes a real server.
package s3test

import (
	"crypto/rand"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/agentcompact/compact/storage/internal/needs"
	"github.com/agentcompact/compact/storage/s3"
)

// Needs skips a test where something it needs is not there.
func Needs(t testing.TB, ok bool, what string) {
	t.Helper()
	needs.Skip(t, ok, "COMPACT_S3", what, "run it as ./.ci/s3 with go test ./storage/s3/...")
}

// variable returns an environment variable that .ci/s3 prints.
func variable(t testing.TB, name string) string {
	t.Helper()
	v := os.Getenv(name)
	Needs(t, v != "", name)
	return v
}

// Server is one that speaks S3.
type Server struct {
	Endpoint string
	Admin    *awss3.Client // may do everything
}

// Versitygw is a server that ignores encryption and enforces all else.
func Versitygw(t testing.TB) *Server { return Connect(t, variable(t, "COMPACT_S3_VERSITYGW")) }

// MinIO is a server that enforces all, encryption with [KMSKey] too.
func MinIO(t testing.TB) *Server { return Connect(t, variable(t, "COMPACT_S3_MINIO")) }

// KMSKey is the key that MinIO encrypts with.
func KMSKey(t testing.TB) string { return variable(t, "COMPACT_S3_KMS_KEY") }

// Binary returns the path of the program of a server, for tests that start
// their own.
func Binary(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(variable(t, "COMPACT_S3_BIN"), name)
	_, err := os.Stat(path)
	Needs(t, err == nil, path)
	return path
}

// Keys are the credentials of the servers.
func Keys(t testing.TB) (id, secret string) {
	return variable(t, "COMPACT_S3_KEY"), variable(t, "COMPACT_S3_SECRET")
}

// Connect puts the credentials where the default chain of an archive finds
// them, and makes a client with the same.
func Connect(t testing.TB, endpoint string) *Server {
	t.Helper()
	id, secret := Keys(t)
	return connect(t, endpoint, id, secret)
}

func connect(t testing.TB, endpoint, id, secret string) *Server {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", id)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	static := aws.Credentials{AccessKeyID: id, SecretAccessKey: secret}
	return &Server{endpoint, awss3.New(awss3.Options{
		BaseEndpoint: &endpoint, UsePathStyle: true, Region: "us-east-1",
		Credentials: aws.NewCredentialsCache(credentials(static)),
	})}
}

// Front hands requests on to the server as they were signed.
func (s *Server) Front(t testing.TB) *httputil.ReverseProxy {
	t.Helper()
	behind, err := url.Parse(s.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(behind)
		r.Out.Host = r.In.Host // it is signed
	}}
}

// Bucket makes a new bucket; locks makes it one for Object Lock.
func (s *Server) Bucket(t testing.TB, locks bool) string {
	t.Helper()
	name := "b-" + strings.ToLower(rand.Text()[:16])
	if _, err := s.Admin.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &name, ObjectLockEnabledForBucket: aws.Bool(locks)}); err != nil {
		t.Fatal(err)
	}
	return name
}

// Config is of an archive in a bucket.
func (s *Server) Config(bucket string) s3.Config {
	return s3.Config{Bucket: bucket, Prefix: "team/agents", Endpoint: s.Endpoint, PathStyle: true}
}

// Names are the objects of a bucket, but those that an archive tries it with.
func (s *Server) Names(t testing.TB, bucket string) []string {
	t.Helper()
	var out []string
	pages := awss3.NewListObjectsV2Paginator(s.Admin, &awss3.ListObjectsV2Input{Bucket: &bucket})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Contents {
			if !strings.Contains(*o.Key, "/.try/") {
				out = append(out, *o.Key)
			}
		}
	}
	return out
}
