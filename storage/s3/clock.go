package s3

import (
	"context"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// slightSkew is the difference of clocks below which this machine's clock counts as right.
// The measurement includes the time that an answer was on its way.
const slightSkew = time.Minute

// now returns the time by the server's clock, which begins and ends locks. This machine's
// clock can be wrong by hours without a failed request, because the SDK corrects the time
// of its signatures. Before the first answer, now returns the time of this machine.
func (a *Archive) now() time.Time { return time.Now().Add(time.Duration(a.skew.Load())) }

// readClock adds a step to each call that compares the clocks.
func (a *Archive) readClock(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("CompactReadClock", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleInitialize(ctx, in)
		if skew, ok := awsmiddleware.GetAttemptSkew(metadata); ok {
			if skew.Abs() < slightSkew {
				skew = 0
			}
			a.skew.Store(int64(skew))
		}
		return out, metadata, err
	}), middleware.After)
}
