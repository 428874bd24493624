package transport

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/wire"
)

// An Option says how a transport works.
type Option func(*Transport)

// Base is what sends the requests; default [http.DefaultTransport]. A
// middleware has its next instead.
func Base(rt http.RoundTripper) Option { return func(t *Transport) { t.base = rt } }

// Strict makes a model call fail when it can't be compacted, instead of
// sending it as it came in. What the caller gets is an answer in the form of
// the provider's own errors, with a status that clients don't retry, 400 or
// 413; [ErrorOf] finds the *[Error] in it. What is passed over on purpose goes
// out nonetheless.
func Strict() Option { return func(t *Transport) { t.strict = true } }

// OnError is told why a request went out as it came in, or why an overflow was
// not answered by a compaction; of what is passed over on purpose ([ErrPassed])
// once a conversation. The error is an *[Error]. f may be called from many
// goroutines at once, and must return quickly. Default: it is logged.
func OnError(f func(ctx context.Context, err error)) Option {
	return func(t *Transport) { t.voice.onError = f }
}

// Logger is where that is logged which [OnError] is told of, with what results
// warn of: redacted, once a minute a cause, or once a conversation. Default:
// [slog.Default]; with OnError only the warnings go there. Nil silences it.
func Logger(l *slog.Logger) Option {
	return func(t *Transport) {
		t.voice.logger, t.voice.chosen = nil, l != nil
		if l != nil {
			t.voice.logger = func() *slog.Logger { return l }
		}
	}
}

// Clock is what the minutes of the log are taken from; default [time.Now].
func Clock(now func() time.Time) Option { return func(t *Transport) { t.voice.now = now } }

// OnResult is told what became of each request that was held against the
// budget, before it is sent; a request that overflows is told of twice. f may
// be called from many goroutines at once, and must not modify the result.
func OnResult(f func(ctx context.Context, res *compact.Result)) Option {
	return func(t *Transport) { t.onResult = f }
}

// SessionHeader names the headers that may name the session, the first that is
// there counts; default X-Compact-Session. Headers X-Compact-… never go out;
// others belong to somebody and do.
func SessionHeader(names ...string) Option { return func(t *Transport) { t.headers = names } }

// MaxBody is the size in bytes above which a request body goes out unread;
// default 256 MiB. A body is held in memory once. Below that a body is made as small as its
// provider takes it, see [compact.Config.MaxRequestBytes].
func MaxBody(bytes int64) Option { return func(t *Transport) { t.maxBody = bytes } }

// CacheSize is how many bytes of JSON are remembered to have been read, so
// that reading them again costs nothing; default 64 MiB. What is derived from
// the JSON can take several times as much, and the last 16 bodies are kept
// beside it, which together can be as many bytes again.
func CacheSize(bytes int) Option { return func(t *Transport) { t.cache = wire.NewCache(bytes) } }

// Models says which model a request means, where the name is an alias: that of
// an Azure deployment, say. f gets the name from the body or the path, "" where
// there is none; what it returns decides tokenizer and window, and "" stands
// for the configured model. The request is not changed.
func Models(f func(named string) string) Option { return func(t *Transport) { t.models = f } }

// Route adds paths that are model calls of a wire: those that end with suffix.
// Later routes go over earlier ones.
func Route(suffix string, f wire.Format) Option {
	return func(t *Transport) { t.routes = append(t.routes, route{suffix: suffix, format: f}) }
}

// Call adds options to every call of the manager, [compact.WithProtected] for
// example.
func Call(opts ...compact.Option) Option {
	return func(t *Transport) { t.call = append(t.call, opts...) }
}
