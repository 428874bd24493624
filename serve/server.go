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
)

// Serve answers what comes in at a listener, over HTTP/1 and HTTP/2 without TLS,
// until ctx ends. Then it takes nothing new, and waits for the requests that are
// under way, drain at most; after that they are cut off, which is the error. The
// listener is closed in any case.
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err := srv.Shutdown(ctx)
	if err != nil {
		_ = srv.Close()
		err = errors.Join(errors.New("serve: requests were cut off"), err)
	}
	<-served
	return errors.Join(err, h.transport.Settle(ctx))
}
