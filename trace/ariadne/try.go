package ariadne

import (
	"context"
	"io"
)

// Try posts an empty batch, which Ariadne accepts and does not show. It waits
// as long as ctx allows, at most two seconds. Its errors contain no password.
func Try(ctx context.Context, rawURL string) error {
	e := New(rawURL, &Options{ErrorLog: io.Discard})
	if e.err != nil {
		return e.err
	}
	defer e.client.CloseIdleConnections()
	return e.post(ctx, nil)
}
