// Package openai implements a summarizer that calls any server with OpenAI's
// chat completions API: OpenAI itself, Azure-compatible gateways, vLLM, Ollama,
// llama.cpp, OpenRouter.
//
// It makes one call per draft, at temperature 0 and with a fixed seed, and classifies
// every failure. Retries are up to the caller.
package openai

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	api "github.com/sashabaranov/go-openai"

	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/token"
)

// Name is the name of this backend in reports and events.
const Name = "openai"

// DefaultSeed is the seed of requests if none is configured.
const DefaultSeed = 42

// A Key is an API key. It prints as [redacted].
type Key string

// String returns "[redacted]", or "" for an empty key.
func (k Key) String() string {
	if k == "" {
		return ""
	}
	return "[redacted]"
}

// GoString returns the text of String.
func (k Key) GoString() string { return k.String() }

// MarshalText returns the text of String.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Config configures a [Client].
type Config struct {
	Model   string // required
	BaseURL string // default https://api.openai.com/v1
	APIKey  Key    // if empty, no Authorization header is sent; this package reads no environment
	// KeyFrom names the origin of APIKey, for the error if a server does not accept the
	// key. Default: "APIKey of the openai.Config in Config.Summarize".
	KeyFrom string
	Seed    *int // default 42
	// Window is the model's context window in tokens. The default depends on the
	// model's name.
	Window int
	// HTTP makes the calls; deadlines come from the context. The default client follows
	// no redirect to another host, so that a history goes only to the configured host.
	HTTP *http.Client
}

// ErrModel is returned by [New] if Config has no model.
var ErrModel = errors.New("strategy/openai: a model is required")

// A Client is the summarizer. It is safe for concurrent use.
type Client struct {
	config Config
	client *api.Client
	server string // host:port

	mu      sync.Mutex
	dialect dialect // parameters that the server accepts
}

var (
	_ strategy.Summarizer = (*Client)(nil)
	_ strategy.Describer  = (*Client)(nil)
)

// New returns a client. Nothing is sent before the first summary.
func New(c Config) (*Client, error) {
	if c.Model == "" {
		return nil, ErrModel
	}
	if c.Seed == nil {
		seed := DefaultSeed
		c.Seed = &seed
	}
	if c.Window <= 0 {
		c.Window = token.ContextWindow(c.Model)
	}
	if c.KeyFrom == "" {
		c.KeyFrom = "APIKey of the openai.Config in Config.Summarize"
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{CheckRedirect: sameHost}
	}
	conf := api.DefaultConfig(string(c.APIKey))
	if c.BaseURL != "" {
		conf.BaseURL = strings.TrimRight(c.BaseURL, "/")
	}
	conf.HTTPClient = doer{c.HTTP}
	return &Client{config: c, client: api.NewClientWithConfig(conf), server: serverOf(conf.BaseURL), dialect: dialectOf(c.Model)}, nil
}

// serverOf returns the host and the port of a URL, "" if it has none.
func serverOf(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return ""
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// errRedirect is returned for a redirect to another host.
var errRedirect = errors.New("the server redirects to another host")

// maxRedirects is the maximum number of redirects that are followed.
const maxRedirects = 5

func sameHost(next *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || next.URL.Host != via[0].URL.Host {
		return errRedirect
	}
	return nil
}

// Describe returns name, model and window.
func (c *Client) Describe() strategy.Info {
	return strategy.Info{Name: Name, Model: c.config.Model, Window: c.config.Window, Reserve: dialectOf(c.config.Model).reserve(), Remote: true}
}

// Summarize makes one call. If the server rejects a parameter, Summarize repeats the call
// and remembers the change: it omits seed, temperature or reasoning_effort, or exchanges
// max_tokens and max_completion_tokens. Errors are *[strategy.Failure] or the context's.
func (c *Client) Summarize(ctx context.Context, r strategy.Request) (strategy.Draft, error) {
	return c.ask(ctx, r.Prompt(), r.MaxTokens)
}

func (c *Client) ask(ctx context.Context, p strategy.Prompt, limit int) (strategy.Draft, error) {
	c.mu.Lock()
	d := c.dialect
	c.mu.Unlock()
	for {
		draft, err := c.call(ctx, d, p, limit)
		next, ok := d.adapt(err)
		if !ok {
			return draft, err
		}
		d = next
		c.mu.Lock()
		c.dialect = d
		c.mu.Unlock()
	}
}

func (c *Client) call(ctx context.Context, d dialect, p strategy.Prompt, limit int) (strategy.Draft, error) {
	ctx, seen := withResponse(ctx)
	req := c.request(d, p, limit)
	asked := strategy.Answer{Server: c.server, Seed: req.Seed}
	resp, err := c.client.CreateChatCompletion(ctx, req)
	if err != nil {
		if ctx.Err() != nil {
			return strategy.Draft{Answer: asked}, ctx.Err()
		}
		return strategy.Draft{Answer: asked}, c.failure(err, seen)
	}
	draft := strategy.Draft{PromptTokens: resp.Usage.PromptTokens, CompletionTokens: resp.Usage.CompletionTokens, Answer: answerOf(asked, &resp)}
	if d := resp.Usage.PromptTokensDetails; d != nil {
		draft.CacheKnown, draft.CachedTokens = true, d.CachedTokens
	}
	if len(resp.Choices) == 0 {
		return draft, &strategy.Failure{Reason: strategy.ErrEmpty, Detail: errors.New("no choices")}
	}
	choice := resp.Choices[0]
	draft.Text = strings.TrimSpace(withoutThinking(choice.Message.Content))
	switch {
	case choice.Message.Refusal != "":
		return draft, &strategy.Failure{Reason: strategy.ErrRefused, Detail: errors.New(c.brief(choice.Message.Refusal))}
	case choice.FinishReason == api.FinishReasonContentFilter:
		return draft, &strategy.Failure{Reason: strategy.ErrFiltered}
	case choice.FinishReason == api.FinishReasonLength:
		return draft, &strategy.Failure{Reason: strategy.ErrCutOff}
	case draft.Text == "":
		return draft, &strategy.Failure{Reason: strategy.ErrEmpty}
	}
	return draft, nil
}

// answerOf returns a with the metadata of the response.
func answerOf(a strategy.Answer, resp *api.ChatCompletionResponse) strategy.Answer {
	a.ID, a.Model = resp.ID, resp.Model
	if len(resp.Choices) > 0 {
		a.Finish = string(resp.Choices[0].FinishReason)
	}
	return a
}

// withoutThinking removes the reasoning that some open models write before the answer.
func withoutThinking(s string) string {
	if !strings.HasPrefix(strings.TrimSpace(s), "<think>") {
		return s
	}
	if _, after, ok := strings.Cut(s, "</think>"); ok {
		return after
	}
	return ""
}
