package s3_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage/s3"
)

// If the server does not answer, it is not known whether a roll-up equals its segments:
// a verification fails, and reports no difference.
func TestAnOutageIsNoDifferenceOfARollup(t *testing.T) {
	f, a, server, c := opened(t, func(c *s3.Config) { c.Timeout = 500 * time.Millisecond })
	k := key(t, "s/log")
	lines(t, a, k, "", 10)
	if len(rollupsOf(t, server, c)) == 0 {
		t.Fatal("the log has no roll-up")
	}
	f.set(func(f *front) {
		f.before = func(r *http.Request) bool { return r.Method == http.MethodGet && isRollup(r.URL.Path) }
	})
	if unlike, err := a.Unlike(t.Context(), k); !errors.Is(err, s3.ErrUnreachable) || len(unlike) > 0 {
		t.Errorf("%q, %v, want no difference and ErrUnreachable", unlike, err)
	}
}
