package token

import (
	"context"

	"github.com/agentcompact/compact/token/internal/bpe"
)

// A Progress is told how much of a piece of work has been done. It is called
// from the goroutine that works, and should return soon.
type Progress func(done, total int)

// stride is how many bytes are counted between two looks at a context: a few
// milliseconds.
const stride = 1 << 18

// CountContext counts as c does and can be canceled: it returns the error of
// ctx soon after ctx is done. progress, which may be nil, is told the bytes.
// Only the exact counters of this package count in steps, between the pieces of
// a text; others count all at once.
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
