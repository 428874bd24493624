package compact

import (
	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/token"
)

// model holds what depends only on the model's name. It is shared by all
// sessions.
type model struct {
	name       string
	encoding   string
	estimator  *token.Estimator
	exact      bool // counts are exact: the tokenizer is public, Config.Counter is set, or the unit is not the model's token
	calibrator *token.Calibrator
}

// epoch holds counting, prices, budget and engine for calls with the same epochKey.
// It is immutable and shared by all sessions.
type epoch struct {
	model
	cfg      Config // configuration with the overrides for the calls
	key      epochKey
	card     price.Card // prices of calls
	priceErr error      // reason why the configured prices are not used
	window   int
	spareBudgets
	engine *reduce.Engine
	writer summarize.Writer
}

// epochKey holds the options of a call that select its epoch.
type epochKey struct {
	model  string
	window int // tokens; 0 = looked up
	output int // reserved output tokens; 0 = as configured

	observe bool // the call is only observed, see WithObserve

	overrides string // the matching overrides, as returned by Config.matching
}

// maxEpochs limits the number of epochs in memory, because requests can name
// any model.
const maxEpochs = 256

func (ep *epoch) maskForm() string {
	c := &ep.cfg
	switch {
	case c.Mask.Template != "":
		return formname.Custom(c.Mask.Template)
	case c.Preset == presetGateway:
		return formname.Result
	case (c.Preset == "graduated" || c.Preset == presetEconomy) && c.Storage.Adapter != "memory" && !c.Mask.Plain:
		return formname.Call
	}
	return formname.Observation
}

func (ep *epoch) forms() policy.Forms { return forms(&ep.cfg) }

// forms returns the user's own templates, which the ledger stores.
func forms(c *Config) policy.Forms {
	if c.Mask.Template == "" {
		return nil
	}
	return policy.Forms{formname.Custom(c.Mask.Template): c.Mask.Template}
}

// load is a model whose vocabulary is being loaded. All calls with that model
// wait for it until their contexts are done; calls with other models don't.
type load struct {
	done  chan struct{} // closed when model and err are set
	model model
	err   error
}

// The reserve for an answer shrinks before a request fails, down to leastAnswer tokens or
// to the configured size. If a request asks for an answer that does not fit into the
// window, the conversation still gets half of the room, or leastConversation tokens.
const (
	leastAnswer       = 1024
	leastConversation = 4 * leastAnswer
)

// spareBudgets holds the budgets that a window leaves for a conversation.
type spareBudgets struct {
	budget policy.Budget // with the full reserve for the answer
	lifted policy.Budget // with the smallest reserve
	answer int           // full reserve in tokens
}

// spared divides a window for calls that ask for an answer of up to asked
// tokens.
//
// The reserve is the configured size or the requested size, up to half of the window.
// Many agents request the maximum answer of a model, which is far above the real answers.
// Such a request must not take the whole window from the conversation.
func spared(cfg *Config, window, asked int) (s spareBudgets, err error) {
	reserve := cfg.MaxOutputTokens
	if s.budget, err = cfg.Policy.Budget(window, reserve); err != nil {
		return s, err
	}
	room := s.budget.Cap + reserve
	most := room - min(room/2, leastConversation)
	s.answer = max(reserve, min(asked, window/2, most))
	least := max(reserve, min(s.answer, leastAnswer, room/2))
	s.budget, err = cfg.Policy.Budget(window, s.answer)
	s.lifted = s.budget
	s.lifted.Cap = room - least
	return s, err
}

func (ep *epoch) always() bool {
	for _, s := range ep.engine.Steps {
		if s.When == policy.Always {
			return true
		}
	}
	return false
}

// countsTokens reports whether counts are tokens, which have a price. UTF-16
// units have none.
func (ep *epoch) countsTokens() bool { return ep.cfg.Counting != "utf16" }
