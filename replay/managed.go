package replay

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/seal"
)

// Managed returns a policy of this module: a manager with a configuration. The manager has
// the model and the window of the replay and an archive in memory, and exports nothing.
// If the configuration counts in other units, the window is converted with the usual
// ratio: a token is 4 bytes, or 4 characters.
func Managed(name string, c compact.Config) Policy { return managed{name, c} }

type managed struct {
	name   string
	config compact.Config
}

func (p managed) Name() string    { return p.name }
func (p managed) Reference() bool { return false }

// sessionID is the same for all sessions, because each has its own manager and
// archive.
const sessionID = "replay"

func (p managed) Begin(ctx context.Context, s *Session, e Env) (Runner, error) {
	c := p.in(e)
	m, err := compact.New(ctx, c)
	if err != nil {
		return nil, err
	}
	clean, err := c.Redaction.Redactor()
	return &manager{m: m, s: s, tool: compact.RecallTool(m, compact.ToolBytes(recallBytes)), changes: changes{clean: clean}}, err
}

// in returns the configuration for an environment.
func (p managed) in(e Env) compact.Config {
	c := p.config
	c.Model, c.MaxContextTokens = e.Model, inUnits(e.Window, c.Counting)
	c.Archive, c.OpenArchive, c.Exporters = memory.New(), nil, nil
	c.Trace = compact.TraceConfig{}
	c.ArchiveKey = archiveKey
	c.Now = e.Now
	if c.Prices == (compact.PricesConfig{}) {
		c.Prices = compact.PricesOf(e.Card)
	}
	c.Tidy.Wait = time.Hour // a slow archive cancels no reduction, so two runs are equal
	return c
}

// archiveKey is the key of the archives, which end with the replay. The key is
// constant, so that two runs print the same references.
var archiveKey = compact.Secret(strings.Repeat("00", seal.KeySize))

// charsOfToken is the number of characters per token.
const charsOfToken = 4

// inUnits returns a window in the unit of a configuration. bytes4 itself
// divides by 4.
func inUnits(window int, counting string) int {
	if counting == "utf16" {
		return charsOfToken * window
	}
	return window
}

type manager struct {
	m    *compact.CompactManager
	s    *Session
	tool compact.Tool

	changes changes
	agent   agentModel
}

func (r *manager) View(ctx context.Context, history []message.Message) (View, error) {
	began := time.Now()
	res, err := r.m.Preflight(ctx, sessionID, history, compact.WithTools(r.s.Tools), compact.WithLastRequest(r.agent.last()))
	v := View{
		Messages: res.Messages, Sources: res.Sources, Compacted: res.Step > 0, Reason: res.Reason, Elapsed: time.Since(began),
		Paying: slices.ContainsFunc(res.Candidates, func(x compact.Candidate) bool { return x.Chosen }),
		Tidied: res.Tidied, Fates: fates(res), Summary: r.agent.billed(res),
	}
	switch {
	case err == nil:
		v.Change = r.changes.of(res, history)
		return v, nil
	case errors.Is(err, compact.ErrInsufficientBudget):
		v.Messages, v.Sources, v.Refused, v.Reason = history, identity(len(history)), true, err.Error()
		return v, nil
	}
	return v, err
}

// fates describes the decision on each message of a history. For results that
// were reduced on arrival, it names the reducer.
func fates(res *compact.Result) []string {
	out := make([]string, len(res.Decisions))
	for i, d := range res.Decisions {
		reducer, reduced := strings.CutPrefix(d.Reason, tidy.Reason)
		switch {
		case reduced:
			out[i] = "reduced by " + reducer
		case d.Decision != policy.Kept:
			out[i] = d.Decision.String()
		}
	}
	return out
}

// Ref implements [Recaller].
func (r *manager) Ref(p message.Part) string { return r.m.Ref(p) }

// Recall implements [Recaller].
func (r *manager) Recall(ctx context.Context, arguments json.RawMessage) (string, error) {
	return r.tool.Call(ctx, sessionID, arguments)
}

func (r *manager) Close(ctx context.Context) error { return r.m.Close(ctx) }
