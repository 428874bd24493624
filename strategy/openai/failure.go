package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/agentcompact/compact/strategy"
)

// failure classifies an error of the client.
func (c *Client) failure(err error, seen *response) error {
	f := &strategy.Failure{Reason: strategy.ErrTransient, Status: seen.status, RetryAfter: seen.retryAfter, Detail: c.detail(err)}
	var api1 *api.APIError
	var request *api.RequestError
	switch {
	case errors.As(err, &api1):
		f.Status = api1.HTTPStatusCode
		f.Reason = byStatus(f.Status, strings.ToLower(fmt.Sprint(api1.Code)+" "+api1.Type+" "+api1.Message))
	case errors.As(err, &request):
		f.Status = request.HTTPStatusCode
		f.Reason = byStatus(f.Status, strings.ToLower(string(request.Body)))
	case errors.Is(err, errRedirect):
		f.Reason = strategy.ErrRejected
	case seen.status == 0:
		// No answer: the network.
	case malformed(err):
		f.Reason = strategy.ErrMalformed
	}
	if f.Status == http.StatusUnauthorized {
		f.Detail = &detailed{f.Detail.Error() + "; " + c.keyHint(), err}
	}
	return f
}

// keyHint describes the origin of a key that a server did not accept.
func (c *Client) keyHint() string {
	if c.config.APIKey == "" {
		return "no key was sent; set " + c.config.KeyFrom
	}
	return "the key came from " + c.config.KeyFrom
}

func byStatus(status int, text string) error {
	switch {
	case names(text, "context_length", "context length", "maximum context", "context window", "too many tokens", "prompt is too long", "reduce the length", "input is too long", "exceeds the available context"):
		return strategy.ErrContextLength
	case status == http.StatusRequestEntityTooLarge:
		return strategy.ErrContextLength
	case names(text, "content_filter", "content_policy", "content management policy"):
		return strategy.ErrFiltered
	case status == http.StatusTooManyRequests && names(text, "insufficient_quota"):
		return strategy.ErrRejected
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		return strategy.ErrTransient
	}
	return strategy.ErrRejected
}

func malformed(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// detailed keeps the error for errors.As and prints a bounded text without the key.
type detailed struct {
	text string
	err  error
}

func (d *detailed) Error() string { return d.text }
func (d *detailed) Unwrap() error { return d.err }

func (c *Client) detail(err error) error { return &detailed{c.brief(err.Error()), err} }

// maxDetail is the maximum length of an error's text, in bytes.
const maxDetail = 300

func (c *Client) brief(s string) string {
	if c.config.APIKey != "" {
		s = strings.ReplaceAll(s, string(c.config.APIKey), c.config.APIKey.String())
	}
	if len(s) > maxDetail {
		s = strings.ToValidUTF8(s[:maxDetail], "") + " …"
	}
	return strings.Join(strings.Fields(s), " ")
}
