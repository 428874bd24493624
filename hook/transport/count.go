package transport

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/responses"
)

// Counts handles requests that only ask for a number of tokens: Anthropic's …/messages/count_tokens
// (also on Vertex), OpenAI's …/responses/input_tokens and Gemini's …:countTokens. They are sent
// with the view that a model call with this history would have. Otherwise an agent that counts
// before each call would compact a history that already fits. The provider counts; nothing is
// stored, and no summary is written. Without this option such requests are sent unchanged.
func Counts() Option {
	return func(t *Transport) {
		t.routes = append(t.routes,
			route{suffix: "/messages/count_tokens", format: anthropic.Wire, counts: true},
			route{suffix: vertexCount, format: anthropic.Wire, counts: true},
			route{suffix: "/responses/input_tokens", format: responses.Wire, counts: true},
			route{suffix: ":countTokens", format: gemini.Wire, counts: true})
	}
}

// count asks the provider for the number of tokens in the view.
func (x *exchange) count() (*http.Response, error) {
	whole := x.body
	within := inner(whole)
	x.body = within.Of(whole)
	err := x.guard(x.plan)
	switch {
	case err == nil:
	case x.req.Context().Err() != nil:
		return nil, x.req.Context().Err()
	case x.t.strict:
		return x.refuse(x.fault(opCompact, err)), nil
	default:
		x.warn(x.fault(opCompact, err))
		x.sent = within.Of(whole)
	}
	if !bytes.Equal(x.sent, within.Of(whole)) {
		whole = slices.Concat(whole[:within.Start], x.sent, whole[within.End:])
	}
	x.dialect = nil // the answer holds no calls
	return x.send(whole, first)
}

// plan computes the view without committing a step.
func (x *exchange) plan() error {
	x.sent = x.body
	if err := x.parse(); err != nil {
		return err
	}
	if about := x.parsed.About(); about.ServerSide != "" && !x.before(about) {
		x.sent = x.linked(x.body)
		return nil
	}
	res, err := x.t.m.Plan(x.req.Context(), x.who.session, x.parsed.Messages(), x.options(x.t.windows.of(x.lane()))...)
	if err != nil {
		return x.fault(opCompact, err)
	}
	sent, err := x.parsed.Write(res.Messages, res.Sources)
	if err != nil {
		return x.fault(opWrite, err)
	}
	x.res, x.sent = res, sent
	x.declareLate()
	return nil
}

// inner returns the span of the request to be counted. Gemini also accepts it
// as a member of the body.
func inner(body []byte) jsonscan.Span {
	all := jsonscan.Span{Start: 0, End: len(body)}
	out := all
	start := jsonscan.Space(body, 0)
	value, err := jsonscan.Value(body, start)
	if err != nil {
		return all
	}
	_ = jsonscan.Object(body, value, func(m jsonscan.Member) error {
		if strings.EqualFold(m.Key, "generateContentRequest") || m.Key == "generate_content_request" {
			out = m.Value
		}
		return nil
	})
	return out
}
