// Package serve is package hook/transport as a reverse proxy: the same for
// agents in every language, which only change the URL that they call.
//
//	h, err := serve.New(m, serve.Config{})
//	err = h.Serve(ctx, listener)
//
// A [Handler] is an [http.Handler] and can stand behind a server of the
// caller's own; [Handler.Serve] is one with limits, HTTP/2 without TLS, and an
// end that waits for the calls that are under way.
//
// # Paths
//
// Under /openai/, /anthropic/ and /gemini/ stands what the provider has there:
// /anthropic/v1/messages is https://api.anthropic.com/v1/messages. Clients that
// can be given a host only find the same without the first part, as far as the
// path says whose it is: /v1/messages is Anthropic's, /v1beta/… Gemini's, all
// else under /v1/ OpenAI's. A request there that carries another provider's key
// is refused, so that nobody gets a key that is not meant for them.
//
// Model calls are compacted, and answered, as that package says. All else
// passes through as it is. Upstreams are fixed when the handler is made
// ([Config.Upstreams]): no header and no path of a request names another.
//
// GET / is a page of what runs, live, for browsers on this machine alone.
// GET /healthz says that the process runs, /readyz that it takes requests, and
// /metrics has its counters in Prometheus' text form. POST /v1/preflight is
// [compact.CompactManager.Preflight] for hooks in other languages, which
// /openapi.json describes.
//
// # Failure
//
// What goes wrong here does not stop the agent: the request goes out as it came
// in, a line is logged and a counter goes up. With [Config.Strict] it is refused
// instead. An upstream that can't be reached is a 502 in the form of the
// provider's own errors, with the header X-Compact-Error; one that breaks off
// within an answer breaks off here, too.
//
// # Secrets
//
// Keys go through. They are in no log, no metric and no archive, and neither is
// the query of a URL.
package serve
