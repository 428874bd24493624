package s3_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/storagetest"
)

// hanging returns a server that takes requests, and answers none.
func hanging(t testing.TB) (url string, there <-chan struct{}, release func()) {
	asked, done := make(chan struct{}), make(chan struct{})
	var once, ended sync.Once
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(asked) })
		select {
		case <-done:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	release = func() { ended.Do(func() { close(done) }) }
	t.Cleanup(func() {
		release()
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL, asked, release
}

// The first user of an archive tests it and connects, which may take long;
// other callers wait at most as long as their contexts allow.
func TestWaitsForTheFirstCallAreBounded(t *testing.T) {
	withKeys(t)
	storagetest.RunHanging(t, func(t testing.TB) (storage.Archive, func() (<-chan struct{}, func())) {
		url, there, release := hanging(t)
		return at(t, url, time.Minute), func() (<-chan struct{}, func()) { return there, release }
	})
}
