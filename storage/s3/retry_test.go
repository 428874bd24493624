package s3

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A large body over the slowest link that counts as working arrives at the first attempt: cut
// off and sent again it would never arrive.
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
			t.Errorf("%d attempts, %v", attempts, err)
		}
	})
}
