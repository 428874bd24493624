package s3

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Creating the client may request credentials from a server: another caller stops waiting
// for the client when its own context ends.
func TestWaitForTheConnectionEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := New(Config{Bucket: "bucket"})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.connecting.Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer a.connecting.Unlock()
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := a.api(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the deadline's error", err)
		}
		if waited := time.Since(began); waited != 100*time.Millisecond {
			t.Errorf("waited %v", waited)
		}
	})
}
