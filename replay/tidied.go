package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/compact"
)

// Tidied sums up the work of one reducer of the stage tidy under a policy.
type Tidied struct {
	Reducer     string `json:"reducer"`
	Results     int    `json:"results"`
	TokensSaved int    `json:"tokens_saved"` // tokens saved in the results, each result counted once
	// PromptTokensSaved counts the tokens saved in each prompt, from the call
	// that brought a result to the end of its session. It is too high if a
	// compaction would have removed the result.
	PromptTokensSaved int `json:"prompt_tokens_saved"`
	ReadAgain         int `json:"read_again"` // results that were requested again within ten turns
}

// tidy adds the work of reducers in a call.
func (r *Row) tidy(now []compact.Tidied) {
	for _, t := range now {
		own := reducer(&r.Tidied, t.Reducer)
		own.Results += t.Results
		own.TokensSaved += t.TokensSaved
		own.ReadAgain += t.ReadAgain
	}
	for k := range r.Tidied {
		r.Tidied[k].PromptTokensSaved += r.Tidied[k].TokensSaved
	}
}

// reducer returns the entry with a name, which it inserts if necessary.
func reducer(all *[]Tidied, name string) *Tidied {
	at, ok := slices.BinarySearchFunc(*all, name, func(t Tidied, name string) int { return strings.Compare(t.Reducer, name) })
	if !ok {
		*all = slices.Insert(*all, at, Tidied{Reducer: name})
	}
	return &(*all)[at]
}

func tidiedOf(rows []*Row) (out []Tidied) {
	for _, r := range rows {
		for _, t := range r.Tidied {
			own := reducer(&out, t.Reducer)
			own.Results += t.Results
			own.TokensSaved += t.TokensSaved
			own.PromptTokensSaved += t.PromptTokensSaved
			own.ReadAgain += t.ReadAgain
		}
	}
	return out
}

// writeTidied prints the work of reducers, largest savings first.
func writeTidied(b *strings.Builder, own []Total) {
	for _, t := range own {
		if len(t.Tidied) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n  results that %s reduced on arrival\n\n", t.label())
		fmt.Fprintf(b, "  %-18s %9s %9s %9s %9s\n", "reducer", "results", "saved", "of prompts", "again")
		all := slices.Clone(t.Tidied)
		slices.SortStableFunc(all, func(x, y Tidied) int { return y.PromptTokensSaved - x.PromptTokensSaved })
		raw := t.Sent
		for _, x := range all {
			raw += x.PromptTokensSaved
		}
		for _, x := range all {
			fmt.Fprintf(b, "  %-18s %9d %9s %9.2f%% %9d\n", x.Reducer, x.Results, kilo(x.TokensSaved), 100*float64(x.PromptTokensSaved)/float64(max(raw, 1)), x.ReadAgain)
		}
	}
}
