// Package s3test provides buckets for tests, on the real servers that .ci/s3
// starts. A test that needs a missing server is skipped with a message, or
// fails with COMPACT_S3=require.
//
// A test that needs only basic S3 uses [Plain], which falls back to a stand-in.
// The conformance test of this package checks the stand-in and the real servers
// against AWS's documentation, and lists the gaps of the stand-in; a test that
// needs one of these features uses a real server.
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

// Needs skips a test if a required tool or server is missing.
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

// Server is an S3 server.
type Server struct {
	Endpoint string
	Admin    *awss3.Client // has all permissions
}

// Versitygw returns a server that ignores encryption and enforces all other
// protections.
func Versitygw(t testing.TB) *Server { return Connect(t, variable(t, "COMPACT_S3_VERSITYGW")) }

// MinIO returns a server that enforces all protections, including encryption
// with [KMSKey].
func MinIO(t testing.TB) *Server { return Connect(t, variable(t, "COMPACT_S3_MINIO")) }

// KMSKey returns the id of MinIO's encryption key.
func KMSKey(t testing.TB) string { return variable(t, "COMPACT_S3_KMS_KEY") }

// Binary returns the path of a server's program, for tests that start their
// own.
func Binary(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(variable(t, "COMPACT_S3_BIN"), name)
	_, err := os.Stat(path)
	Needs(t, err == nil, path)
	return path
}

// Keys returns the credentials of the servers.
func Keys(t testing.TB) (id, secret string) {
	return variable(t, "COMPACT_S3_KEY"), variable(t, "COMPACT_S3_SECRET")
}

// Connect sets the environment so that an archive finds the credentials, and
// returns a server with a client that uses them.
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

// Front returns a proxy that passes signed requests on to the server.
func (s *Server) Front(t testing.TB) *httputil.ReverseProxy {
	t.Helper()
	behind, err := url.Parse(s.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(behind)
		r.Out.Host = r.In.Host // part of the signature
	}}
}

// Bucket creates a bucket; with locks, Object Lock is enabled.
func (s *Server) Bucket(t testing.TB, locks bool) string {
	t.Helper()
	name := "b-" + strings.ToLower(rand.Text()[:16])
	if _, err := s.Admin.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &name, ObjectLockEnabledForBucket: aws.Bool(locks)}); err != nil {
		t.Fatal(err)
	}
	return name
}

// Config returns the configuration of an archive in a bucket.
func (s *Server) Config(bucket string) s3.Config {
	return s3.Config{Bucket: bucket, Prefix: "team/agents", Endpoint: s.Endpoint, PathStyle: true}
}

// Names returns the objects of a bucket, except the objects of Archive.Try.
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
