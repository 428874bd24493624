package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/agentcompact/compact/trace/metrics"
)

// tokenHeader is the header for the token, if the handler requires one.
const tokenHeader = "X-Compact-Token"

// own returns the handler of one of this proxy's own paths; nil = any other path.
func (h *Handler) own(r *http.Request) http.HandlerFunc {
	switch r.URL.Path {
	case "/", "/live":
		return h.pageOf(r)
	case "/healthz":
		return only(http.MethodGet, say(func() (int, string) { return http.StatusOK, "ok" }))
	case "/readyz":
		return only(http.MethodGet, say(h.ready))
	case "/metrics":
		return h.guarded(only(http.MethodGet, h.metrics))
	case "/v1/preflight":
		return h.guarded(only(http.MethodPost, h.preflight))
	case "/openapi.json":
		return only(http.MethodGet, describe)
	}
	return nil
}

// ready answers whether the proxy takes requests.
func (h *Handler) ready() (int, string) {
	if h.draining.Load() {
		return http.StatusServiceUnavailable, "draining"
	}
	return http.StatusOK, "ok"
}

func (h *Handler) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", metrics.ContentType)
	text := h.expose()
	if h.cfg.Metrics != nil {
		text = h.cfg.Metrics.AppendText(text)
	}
	_, _ = w.Write(text)
}

// say answers with a line of text.
func say(f func() (status int, text string)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		status, text := f()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text + "\n"))
	}
}

// only refuses every other method.
func only(method string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method && (r.Method != http.MethodHead || method != http.MethodGet) {
			w.Header().Set("Allow", method)
			refuse(w, r.URL.Path, http.StatusMethodNotAllowed, "this path takes "+method)
			return
		}
		next(w, r)
	}
}

// guarded refuses requests without the token.
func (h *Handler) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !h.allowed(r, true) {
			refuse(w, r.URL.Path, http.StatusUnauthorized, "this path requires the token of the proxy, as a bearer token")
			return
		}
		next(w, r)
	}
}

// allowed reports whether a request carries the token. On the handler's own paths it
// may also be a bearer token: there, no provider needs that header.
func (h *Handler) allowed(r *http.Request, own bool) bool {
	if h.cfg.Token == "" {
		return true
	}
	given := r.Header.Get(tokenHeader)
	if _, password, ok := r.BasicAuth(); ok && own && given == "" {
		given = password // a browser asks its user for the token as a password
	}
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); own && given == "" && strings.EqualFold(scheme, "bearer") {
		given = token
	}
	want, got := sha256.Sum256([]byte(h.cfg.Token)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}
