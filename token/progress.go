package token

import (
	"context"

	"github.com/agentcompact/compact/token/internal/bpe"
)

// A Progress is called with the finished and the total amount of work. The
// working goroutine calls it, so it should return soon.
type Progress func(done, total int)

// stride is the number of bytes counted between two checks of a context; counting
// them takes a few milliseconds.
const stride = 1 << 18

// CountContext counts like c, but can be canceled: it returns the error of ctx
// soon after ctx is done. progress, which may be nil, is called with the number
// of bytes counted. Only the built-in exact counters count in steps; others count
// the whole text at once.
func CountContext(ctx context.Context, c Counter, text string, progress Progress) (int, error) {
	stepper, ok := c.(interface {
		CountTo(text string, from, to int) (tokens, next int)
	})
	if !ok {
		return countAtOnce(ctx, c, text, progress)
	}
	text = bpe.Valid(text)
	tokens := 0
	for from := 0; from < len(text); {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, next := stepper.CountTo(text, from, min(len(text), from+stride))
		tokens, from = tokens+n, next
		if progress != nil {
			progress(from, len(text))
		}
	}
	return tokens, ctx.Err()
}

func countAtOnce(ctx context.Context, c Counter, text string, progress Progress) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	tokens := c.Count(text)
	if progress != nil {
		progress(len(text), len(text))
	}
	return tokens, nil
}
