package serve

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestUpstreamErrorReportsAClosedConnection(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("post: %w", io.EOF), "the provider closed the connection before it answered (post: EOF)"},
		{errors.New("connection refused"), "connection refused"},
	} {
		err := error(&upstreamError{err: c.err})
		if err.Error() != c.want || !errors.Is(err, c.err) {
			t.Errorf("got %q, want %q", err, c.want)
		}
	}
}
