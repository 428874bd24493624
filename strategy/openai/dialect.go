package openai

import (
	"errors"
	"math"
	"net/http"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/agentcompact/compact/strategy"
)

// A dialect describes the parameters that a model or a server accepts.
type dialect struct {
	completion    bool // max_completion_tokens instead of max_tokens
	reasoning     bool // the model reasons before it answers
	noTemperature bool
	noSeed        bool
	noEffort      bool
	switched      bool // completion was toggled after a rejection
}

// thinking is the number of tokens reserved for a model's reasoning.
const thinking = 8192

// dialectOf returns the dialect of a model by its name, with or without the prefix of a
// provider.
func dialectOf(model string) dialect {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, p := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(name, p) {
			return dialect{completion: true, reasoning: true, noTemperature: true}
		}
	}
	return dialect{}
}

func (d dialect) reserve() int {
	if d.reasoning {
		return thinking
	}
	return 0
}

func (c *Client) request(d dialect, p strategy.Prompt, limit int) api.ChatCompletionRequest {
	r := api.ChatCompletionRequest{
		Model: c.config.Model,
		Messages: []api.ChatCompletionMessage{
			{Role: api.ChatMessageRoleSystem, Content: p.System},
			{Role: api.ChatMessageRoleUser, Content: p.User},
		},
	}
	if d.completion {
		r.MaxCompletionTokens = limit + d.reserve()
	} else {
		//lint:ignore SA1019 most compatible servers know only this name, and ignore the new one
		r.MaxTokens = limit //nolint:staticcheck // as above
	}
	if !d.noSeed {
		r.Seed = c.config.Seed
	}
	if !d.noTemperature {
		r.Temperature = zeroTemperature
	}
	if d.reasoning && !d.noEffort {
		r.ReasoningEffort = api.ReasoningEffortLow
	}
	return r
}

// zeroTemperature is used in place of 0, because the client would omit 0 from the
// request. The doer replaces it by a plain 0.
const zeroTemperature = math.SmallestNonzeroFloat32

// adapt returns the dialect for a retry after the server rejected a parameter.
func (d dialect) adapt(err error) (dialect, bool) {
	var e *api.APIError
	if !errors.As(err, &e) || e.HTTPStatusCode != http.StatusBadRequest && e.HTTPStatusCode != http.StatusUnprocessableEntity {
		return d, false
	}
	about := strings.ToLower(e.Message)
	if e.Param != nil {
		about += " " + *e.Param
	}
	if !names(about, "unsupported", "not supported", "unrecognized", "unknown", "unexpected", "does not support", "extra", "not permitted", "invalid param") {
		return d, false
	}
	switch {
	case !d.switched && names(about, "max_tokens", "max_completion_tokens"):
		d.completion, d.switched = !d.completion, true
	case !d.noTemperature && strings.Contains(about, "temperature"):
		d.noTemperature = true
	case !d.noSeed && strings.Contains(about, "seed"):
		d.noSeed = true
	case d.reasoning && !d.noEffort && strings.Contains(about, "reasoning_effort"):
		d.noEffort = true
	default:
		return d, false
	}
	return d, true
}

func names(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
