package tracetest

import (
	"context"
	"net"
	"testing"
)

// DeadURL returns the base URL of a port on which nothing listens.
func DeadURL(tb testing.TB) string {
	tb.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = l.Close() }() // only the address is needed
	return "http://" + l.Addr().String()
}
