package transport

import (
	"context"
	"time"
)

// Pauses makes a transport tell f how long it would wait, and wait no moment.
func (t *Transport) Pauses(f func(time.Duration)) {
	t.pause = func(ctx context.Context, d time.Duration) error { f(d); return ctx.Err() }
}

// UsageOf returns the usage of an answer, for tests.
var UsageOf = usageOf
