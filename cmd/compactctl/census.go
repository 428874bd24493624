package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

// tally is a row of the table: a count, and its tokens.
type tally struct {
	Name   string `json:"name"`
	Count  int    `json:"count"`
	Tokens int    `json:"tokens"`
}

// census counts the tokens of a transcript by role and kind.
type census struct {
	Model     string  `json:"model"`
	Counting  string  `json:"counting"`
	MaxTokens int     `json:"max_tokens"`
	Guessed   bool    `json:"max_tokens_guessed,omitempty"` // neither the configuration nor the model's name determines the window
	Messages  int     `json:"message_count"`
	Total     int     `json:"total"`
	Roles     []tally `json:"by_role"`
	Parts     []tally `json:"by_part"`
	Tools     []tally `json:"by_tool"`
}

// estimator returns the token counter, and its name.
func estimator(cfg compact.Config) (*token.Estimator, string, error) {
	switch cfg.Counting {
	case "bytes4":
		return token.NewGatewayEstimator(), "bytes/4", nil
	case "utf16":
		return token.NewCharsEstimator(), "utf-16", nil
	}
	name, exact := token.EncodingForModel(cfg.Model)
	if !exact {
		name += " (approximation)"
	}
	e, err := token.NewEstimator(cfg.Model, nil, nil)
	return e, name, err
}

func (a *app) census(ctx context.Context, cfg compact.Config, t *transcript) (*census, error) {
	e, counting, err := estimator(cfg)
	if err != nil {
		return nil, err
	}
	a.progress.start("counting " + things(len(t.msgs), "message"))
	defer a.progress.stop()
	b, err := e.Breakdown(ctx, t.msgs, t.tools, func(done, total int) { a.progress.at(int64(done), int64(total)) })
	if err != nil {
		return nil, err
	}
	c := &census{Model: cfg.Model, Counting: counting, MaxTokens: cfg.MaxContextTokens, Messages: len(t.msgs), Total: b.Total()}
	if c.MaxTokens == 0 {
		c.MaxTokens, c.Guessed = token.ContextWindow(cfg.Model), !token.KnowsContextWindow(cfg.Model)
	}
	c.byRole(e, t, b)
	c.byPart(e, t, b)
	c.byTool(t, b)
	return c, nil
}

// order is the order of roles in the table; other roles come last.
var order = []string{"tool schemas", "system", "developer", "user", "assistant", "tool"}

func (c *census) byRole(e *token.Estimator, t *transcript, b token.Breakdown) {
	rows := map[string]tally{}
	for _, m := range t.msgs {
		name := string(m.Role)
		r := rows[name]
		rows[name] = tally{name, r.Count + 1, r.Tokens + e.Message(m)}
	}
	if b.ToolsSchema > 0 {
		rows["tool schemas"] = tally{"tool schemas", 0, b.ToolsSchema}
	}
	c.Roles = slices.SortedFunc(maps.Values(rows), func(x, y tally) int {
		place := func(t tally) int {
			if i := slices.Index(order, t.Name); i >= 0 {
				return i
			}
			return len(order)
		}
		return cmp.Or(cmp.Compare(place(x), place(y)), cmp.Compare(x.Name, y.Name))
	})
}

func (c *census) byPart(e *token.Estimator, t *transcript, b token.Breakdown) {
	rows := map[message.Kind]tally{}
	format := b.Total() - b.ToolsSchema
	for _, m := range t.msgs {
		for _, p := range m.Parts {
			n := e.Part(p)
			r := rows[p.Kind]
			rows[p.Kind] = tally{strings.ReplaceAll(p.Kind.String(), "_", " "), r.Count + 1, r.Tokens + n}
			format -= n
		}
	}
	c.Parts = byTokens(slices.Collect(maps.Values(rows)))
	if format != 0 {
		c.Parts = append(c.Parts, tally{"format", 0, format})
	}
}

func (c *census) byTool(t *transcript, b token.Breakdown) {
	calls := map[string]int{}
	for _, m := range t.msgs {
		for _, p := range m.Parts {
			if p.Kind == message.KindToolCall {
				calls[p.Name]++
			}
		}
	}
	for name, n := range b.ByTool {
		c.Tools = append(c.Tools, tally{name, calls[name], n})
	}
	c.Tools = byTokens(c.Tools)
}

func byTokens(rows []tally) []tally {
	slices.SortFunc(rows, func(x, y tally) int {
		return cmp.Or(cmp.Compare(y.Tokens, x.Tokens), cmp.Compare(x.Name, y.Name))
	})
	return rows
}
