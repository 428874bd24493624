package compat_test

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/policy"
)

type truncateRow struct {
	ID      string
	Input   struct{ Content string }
	Options struct {
		MaxTokens int `json:"max_tokens"`
		Strategy  string
	}
	Expected struct {
		Output       string
		InputTokens  int `json:"input_tokens"`
		OutputTokens int `json:"output_tokens"`
	}
}

func TestVectorTruncate(t *testing.T) {
	eachSet(t, "duragent-truncate", func(t *testing.T, path string) {
		c := newTally(t, "truncate_tool_result")
		for _, r := range rows[truncateRow](t, path) {
			in, limit, want := r.Input.Content, r.Options.MaxTokens, r.Expected.Output
			got, diff := in, "refused"
			if limit > 0 {
				got = apply(t, gateway, policy.Truncate{
					MaxTokens: limit, Keep: r.Options.Strategy, MarkerOnTop: true, NoShare: true, BytesPerToken: 4,
				}, in)
				diff = differ(want, got)
			}
			counts := differ(fmt.Sprint(r.Expected.InputTokens, r.Expected.OutputTokens), fmt.Sprint(estimate(in), estimate(got)))
			c.judge(r.ID, diff, counts, truncateDeviations(in, want, got, limit))
		}
		c.print()
	})
}

// truncateDeviations returns the predicates for one truncated text.
func truncateDeviations(in, want, got string, limit int) (d deviations) {
	unchanged := func() string { return differ(in, got) }
	d.add(limit < 1, "limit_zero", nothing) // refused at load
	if want == in {
		return d
	}
	d.add(isMark(in), "truncates_placeholder", unchanged)
	larger := estimate(want) > estimate(in) || utf8.RuneCountInString(want) > utf8.RuneCountInString(in)
	d.add(larger, "grew", unchanged)
	d.add(!larger && estimate(want) == estimate(in), "no_saving", unchanged)
	kept, original, ok := cutOf(in)
	d.add(ok && (kept <= limit || original != estimate(in)), "truncated_twice", func() string {
		limit, of, ok := cutOf(got)
		switch {
		case kept <= limit || got == in:
			return differ(in, got)
		case !ok || of != original || !cheaper(got, in):
			return fmt.Sprintf("%q does not say that it is of %d tokens, or saves nothing", got, original)
		}
		return ""
	})
	return d
}
