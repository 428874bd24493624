package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
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

// The network drops the bytes that are sent on a connection, as after a sleep of the
// machine. The request on it fails, and the next one gets a new connection.
func TestSilentConnectionToAProviderIsGivenUp(t *testing.T) {
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
	up.EnableHTTP2 = true
	up.StartTLS()
	defer up.Close()
	base := newBase()
	defer base.CloseIdleConnections()
	base.TLSClientConfig = up.Client().Transport.(*http.Transport).TLSClientConfig
	if base.HTTP2 == nil || base.HTTP2.SendPingTimeout <= 0 {
		t.Fatal("no connection is asked")
	}
	// The second is for connections that are not silent, on a machine with other work.
	base.HTTP2.SendPingTimeout, base.HTTP2.PingTimeout = 5*time.Millisecond, time.Second
	var first *lossy
	base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, address)
		if first != nil || err != nil {
			return conn, err
		}
		first = &lossy{Conn: conn}
		return first, nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	call := func() (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, up.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := base.RoundTrip(req)
		if err != nil {
			return "", err
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	if got, err := call(); got != "HTTP/2.0" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	first.swallows.Store(true)
	if _, err := call(); err == nil || ctx.Err() != nil {
		t.Errorf("on the silent connection: %v", err)
	}
	if got, err := call(); got != "HTTP/2.0" || err != nil {
		t.Errorf("the next request: %q, %v", got, err)
	}
}

// lossy is a connection that can lose the bytes that are written to it.
type lossy struct {
	net.Conn
	swallows atomic.Bool
}

func (l *lossy) Write(b []byte) (int, error) {
	if l.swallows.Load() {
		return len(b), nil
	}
	return l.Conn.Write(b)
}
