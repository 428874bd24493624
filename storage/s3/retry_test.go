package s3

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A large body arrives at the first attempt, even over the slowest link that counts as
// working. If the attempt were cut off and repeated, the body would never arrive.
func TestALargeBodyHasTheTimeOfASlowLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &Archive{cfg: Config{Timeout: time.Minute}}
		const size = 64 << 20
		attempts := 0
		err := a.do(t.Context(), size, func(ctx context.Context) error {
			attempts++
			select {
			case <-time.After(size / slowest * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil || attempts != 1 {
			t.Errorf("%d attempts, %v; want 1 and no error", attempts, err)
		}
	})
}
