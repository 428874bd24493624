// Package serve makes a reverse proxy of package hook/transport. It serves agents
// in every language, which only change the URL of their provider.
//
//	h, err := serve.New(m, serve.Config{})
//	err = h.Serve(ctx, listener)
//
// A [Handler] is an [http.Handler] for a server of the caller's own;
// [Handler.Serve] is a complete server, with limits, HTTP/2 without TLS, and a
// shutdown that waits for the calls in flight.
//
// # Paths
//
// The paths under /openai/, /anthropic/ and /gemini/ are the paths of the provider:
// /anthropic/v1/messages is https://api.anthropic.com/v1/messages. A client that can
// configure only a host omits the first part, and the path identifies the provider:
// /v1/messages and /v1/complete are Anthropic's, paths under /v1beta/ and verbs like
// :generateContent are Gemini's, and every other path under /v1/ is OpenAI's. Such a
// request is refused if it carries another provider's key, so that no provider
// receives a key of another.
//
// Model calls are compacted and answered as in package hook/transport. Every
// other request passes through unchanged. Upstreams are fixed when the handler
// is made ([Config.Upstreams]): no header and no path of a request can select
// another one.
//
// GET / is a live page about the running sessions, for browsers on this
// machine alone. GET /healthz answers while the process runs, and /readyz
// while it takes requests. /metrics has its counters in Prometheus' text form.
// POST /v1/preflight is [compact.CompactManager.Preflight] for hooks in other
// languages; /openapi.json describes it.
//
// # Failure
//
// An error of the handler does not stop the agent: the request is sent
// unchanged, a line is logged and a counter is incremented. With [Config.Strict] the
// request is refused instead. If an upstream can't be reached, the answer is a
// 502 in the form of the provider's own errors, with the header X-Compact-Error.
// If an upstream breaks off within an answer, the handler breaks off, too.
//
// # Secrets
//
// Keys pass through. Logs, metrics and archives hold neither a key nor the query of
// a URL.
package serve
