// Package standin is an S3 server in memory for tests without a real server: gofakes3 with corrections.
// Without them, gofakes3 completes an upload in parts even if If-None-Match forbids it. In a bucket
// without versions, it reports that it has deleted the version "null", but keeps that version. It
// answers a request about Object Lock with a listing. The conformance test of storage/s3/s3test shows
// which parts of S3 it implements.
package standin

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// New returns a server without buckets.
func New() http.Handler {
	return lockless(onceInParts(gofakes3.New(nulls{s3mem.New()}).Server()))
}

// Bare returns gofakes3 as it is.
func Bare() http.Handler {
	return gofakes3.New(s3mem.New()).Server()
}

// onceInParts refuses to complete an upload whose name is taken:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html. No
// other write happens between the check and the end of the upload.
func onceInParts(next http.Handler) http.Handler {
	var one sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodPut && query.Has("uploadId") {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body) // before the lock, so that a slow client blocks nobody
		if err != nil {
			panic(http.ErrAbortHandler) // the client has disconnected
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		one.Lock()
		defer one.Unlock()
		if r.Method == http.MethodPost && query.Has("uploadId") && r.Header.Get("If-None-Match") == "*" && taken(next, r.URL.Path) {
			refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// lockless answers for every bucket that it has no Object Lock:
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html.
func lockless(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Query().Has("object-lock") {
			refuse(w, http.StatusNotFound, "ObjectLockConfigurationNotFoundError")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>`+code+`</Code></Error>`)
}

func taken(server http.Handler, path string) bool {
	probe := httptest.NewRecorder()
	server.ServeHTTP(probe, httptest.NewRequest(http.MethodHead, path, nil))
	return probe.Code == http.StatusOK
}

// nulls makes a delete of the version "null" delete the object if the bucket keeps no
// versions.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/versioning-workflows.html
type nulls struct{ *s3mem.Backend }

const null = "null"

// DeleteMultiVersions implements [gofakes3.VersionedBackend].
func (n nulls) DeleteMultiVersions(bucket string, objects ...gofakes3.ObjectID) (gofakes3.MultiDeleteResult, error) {
	config, err := n.VersioningConfiguration(bucket)
	if err != nil || config.Status != "" {
		return n.Backend.DeleteMultiVersions(bucket, objects...)
	}
	asked := slices.Clone(objects)
	for i := range asked {
		if asked[i].VersionID == null {
			asked[i].VersionID = ""
		}
	}
	result, err := n.Backend.DeleteMultiVersions(bucket, asked...)
	for i, d := range result.Deleted {
		if slices.Contains(objects, gofakes3.ObjectID{Key: d.Key, VersionID: null}) {
			result.Deleted[i].VersionID = null
		}
	}
	return result, err
}
