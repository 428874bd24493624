package transport

import (
	"context"
	"time"
)

// Pauses makes a transport call f with each pause instead of waiting.
func (t *Transport) Pauses(f func(time.Duration)) {
	t.pause = func(ctx context.Context, d time.Duration) error { f(d); return ctx.Err() }
}

// UsageOf returns the usage of an answer, for tests.
var UsageOf = usageOf
