package transport

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/wire"
)

// An Option configures a transport.
type Option func(*Transport)

// Base sets the round tripper that sends the requests; default
// [http.DefaultTransport]. A middleware uses its next function instead.
func Base(rt http.RoundTripper) Option { return func(t *Transport) { t.base = rt } }

// Strict makes a model call fail when it can't be compacted, instead of sending
// it unchanged. The caller gets an answer in the form of the provider's errors,
// with status 400 or 413, which clients don't retry; [ErrorOf] returns its
// *[Error]. Requests that are passed over on purpose are still sent.
func Strict() Option { return func(t *Transport) { t.strict = true } }

// OnError sets the function that receives the reason why a request was sent
// unchanged, or why no smaller request was sent after an overflow. Requests
// that are sent unchanged on purpose ([ErrPassed]) are reported once for each
// conversation. The error is an *[Error]. f may be called concurrently, and
// must return quickly; if it panics, the panic is logged. By default the reason
// is logged.
func OnError(f func(ctx context.Context, err error)) Option {
	return func(t *Transport) { t.voice.onError = f }
}

// Logger sets the log for failures and for the warnings of results. The default
// is [slog.Default]; nil disables the log. Lines are redacted. A failure is
// logged at most once a minute per cause, and a request that is sent unchanged
// on purpose once per conversation. If [OnError] is set, failures are also
// logged only to a log that is set here; the default log then gets only the
// warnings.
func Logger(l *slog.Logger) Option {
	return func(t *Transport) {
		t.voice.logger, t.voice.chosen = nil, l != nil
		if l != nil {
			t.voice.logger = func() *slog.Logger { return l }
		}
	}
}

// Clock sets the clock that limits the log to one line a minute; default
// [time.Now].
func Clock(now func() time.Time) Option { return func(t *Transport) { t.voice.now = now } }

// OnResult sets the function that receives the result of each compaction check,
// before the request is sent, and a second time after an overflow. f may be
// called concurrently. The result is a copy that f may keep and modify.
func OnResult(f func(ctx context.Context, res *compact.Result)) Option {
	return func(t *Transport) { t.onResult = f }
}

// SessionHeader sets the headers that can name the session; the default is
// X-Compact-Session. The first of them that a request has is used. The
// transport removes headers X-Compact-… from the request, but no others.
func SessionHeader(names ...string) Option { return func(t *Transport) { t.headers = names } }

// MaxBody sets the size in bytes above which a request body is sent unread; default 256 MiB. A body
// is held in memory once. A body below this size that exceeds the limit of its provider is made
// smaller, see [compact.Config.MaxRequestBytes].
func MaxBody(bytes int64) Option { return func(t *Transport) { t.maxBody = bytes } }

// CacheSize bounds the cache of parsed JSON, in bytes of JSON; default 64 MiB.
// The parsed data may take several times as much memory, and the last 16
// bodies, which are kept in addition, may take as much again.
func CacheSize(bytes int) Option { return func(t *Transport) { t.cache = wire.NewCache(bytes) } }

// Models maps model names that are aliases, such as the name of an Azure
// deployment. f gets the name from the body or the path, "" if there is none;
// its result selects tokenizer and window. The result "" means the configured
// model. The request is not changed.
func Models(f func(named string) string) Option { return func(t *Transport) { t.models = f } }

// Route makes paths that end with suffix model calls of a wire. Later routes take
// precedence over earlier ones.
func Route(suffix string, f wire.Format) Option {
	return func(t *Transport) { t.routes = append(t.routes, route{suffix: suffix, format: f}) }
}

// Call adds options to every call of the manager, for example
// [compact.WithProtected].
func Call(opts ...compact.Option) Option {
	return func(t *Transport) { t.call = append(t.call, opts...) }
}
