package openai

import (
	"context"
	"errors"

	"github.com/agentcompact/compact/strategy"
)

// tryTokens is the maximum size of the answer to Try.
const tryTokens = 16

// Try asks the model for one word, to check that the server is reachable, accepts the key
// and knows the model. Try ignores the answer, which may be billed. It returns the same
// errors as [Client.Summarize].
func (c *Client) Try(ctx context.Context) error {
	_, err := c.ask(ctx, strategy.Prompt{System: "Answer with one word.", User: "Are you there?"}, tryTokens)
	for _, answered := range []error{strategy.ErrCutOff, strategy.ErrEmpty, strategy.ErrRefused, strategy.ErrFiltered} {
		if errors.Is(err, answered) {
			return nil
		}
	}
	return err
}
