package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	headerTimeout = 20 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 1 << 20 // bytes

	cutOff = time.Second // time for requests that were cut off: the usage that their answers have reported is added to the bill
)

// Serve answers the requests at a listener, over HTTP/1 and HTTP/2 without TLS, until
// ctx ends. It then continues for Config.Notice, while /readyz answers that it drains.
// After that it takes no new requests, and waits for the requests in flight for at most
// drain. If it has to cut off requests, it returns an error. It closes the listener in
// any case.
func (h *Handler) Serve(ctx context.Context, l net.Listener, drain time.Duration) error {
	var p http.Protocols
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(true)
	srv := &http.Server{
		Handler: h, Protocols: &p, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, DisableGeneralOptionsHandler: true,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	h.draining.Store(true)
	if ended, err := h.notice(srv, served); ended {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err := srv.Shutdown(ctx)
	if err != nil {
		_ = srv.Close()
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), cutOff)
		defer cancel()
		err = errors.Join(errors.New("serve: requests were cut off"), err)
	}
	<-served //nolint:errcheck // the error only states that Shutdown was called
	return errors.Join(err, h.transport.Settle(ctx))
}

// notice gives load balancers the time to redirect requests. Connections are closed
// after their answers. It reports whether the server has ended during that time, and
// the server's error.
func (h *Handler) notice(srv *http.Server, served <-chan error) (ended bool, err error) {
	if h.cfg.Notice <= 0 {
		return false, nil
	}
	srv.SetKeepAlivesEnabled(false)
	select {
	case err := <-served:
		return true, err
	case <-time.After(h.cfg.Notice):
		return false, nil
	}
}
