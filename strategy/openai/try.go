package openai

import (
	"context"
	"errors"

	"github.com/agentcompact/compact/strategy"
)

// tryTokens is how long the answer may be that Try asks for.
const tryTokens = 16

// Try asks the model for one word: whether the server is there, takes the key
// and knows the model. What it answers does not matter, but it may be billed.
// Errors are those of [Client.Summarize].
func (c *Client) Try(ctx context.Context) error {
	_, err := c.ask(ctx, strategy.Prompt{System: "Answer with one word.", User: "Are you there?"}, tryTokens)
	for _, answered := range []error{strategy.ErrCutOff, strategy.ErrEmpty, strategy.ErrRefused, strategy.ErrFiltered} {
		if errors.Is(err, answered) {
			return nil
		}
	}
	return err
}
