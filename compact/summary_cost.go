package compact

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"syscall"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// writing describes the summaries that are written for a lane, and prices them.
type writing struct {
	backend, model, strategy string

	card  price.Card // of the agent's model
	unit  string     // of the costs, see unitOf
	whole int        // tokens of the view, which is the prompt of a summary by the agent's own model
}

// A summaryCost is the cost of the calls for a summary, in US dollars.
type summaryCost struct {
	usd       float64
	estimated float64 // part of usd for answers without a usage, and for canceled calls
	prices    string  // name of the price card; "" = no model was called
}

func (s summaryCost) plus(o summaryCost) summaryCost {
	if o.prices == "" {
		o.prices = s.prices
	}
	return summaryCost{s.usd + o.usd, s.estimated + o.estimated, o.prices}
}

// cost returns the cost of a summarizer's calls, from its reports about them. The
// extractive backend costs nothing.
func (w *writing) cost(told []summarize.CallInfo) (sum summaryCost) {
	asked := map[int]summarize.CallInfo{} // running calls, by piece
	for _, i := range told {
		switch i.Phase {
		case summarize.Sent:
			asked[i.Piece] = i
		case summarize.Answered:
			delete(asked, i.Piece)
			if i.Prompt+i.Completion > 0 || mayBeBilled(i.Err) {
				sum = sum.plus(w.costOf(i))
			}
		}
	}
	for _, i := range asked {
		sum = sum.plus(w.costOf(i))
	}
	if n := len(told); n > 0 && sum.prices == "" && told[n-1].Backend != summarize.BackendExtractive {
		_, sum.prices = w.cardOf(told[n-1])
	}
	return sum
}

// costOf returns the cost of one call: by its usage, or by our counts if it has
// none.
func (w *writing) costOf(i summarize.CallInfo) summaryCost {
	if i.Backend == summarize.BackendExtractive || i.Backend == "" {
		return summaryCost{}
	}
	card, named := w.cardOf(i)
	u := price.Usage{Cached: i.Cached, Written: i.Written, Fresh: max(i.Prompt-i.Cached-i.Written, 0), Output: i.Completion}
	if i.Prompt+i.Completion > 0 {
		return summaryCost{usd: card.Cost(u), prices: named}
	}
	u = price.Usage{Fresh: i.InputTokens / max(i.Pieces, 1), Output: i.SummaryTokens}
	if i.Backend == backendAgent {
		u.Fresh = w.whole
	}
	usd := card.Cost(u)
	return summaryCost{usd, usd, named}
}

// cardOf returns the price card for the model of a call, and the card's name, which
// states if the card belongs to another model.
func (w *writing) cardOf(i summarize.CallInfo) (price.Card, string) {
	if i.Backend == backendAgent {
		return w.card, w.card.String()
	}
	card, ok := summaryCard(w.card, i.Model)
	if ok {
		return card, card.String()
	}
	return card, card.String() + " in place of " + cmp.Or(i.Model, "a model without a name")
}

// unused returns the payload for a summary that nobody uses, with the tokens of the
// model's answers so far.
func (w *writing) unused(session string, calls []summarize.CallInfo) trace.Summarize {
	all := summarize.CallInfo{Backend: w.backend, Model: w.model, Strategy: w.strategy}
	sum := summarize.CallInfo{}
	for _, i := range calls {
		if i.Phase == summarize.Answered {
			sum.Prompt, sum.Completion, sum.Cached, sum.Written = sum.Prompt+i.Prompt, sum.Completion+i.Completion, sum.Cached+i.Cached, sum.Written+i.Written
		}
		all = i
	}
	all.Prompt, all.Completion, all.Cached, all.Written = sum.Prompt, sum.Completion, sum.Cached, sum.Written
	all.Err = nil
	p := summarizePayload(session, all)
	p.Unused = true
	return p
}

// summaryCard returns the price card of a summarizing model. One bill has one
// unit: if the price of either model is unknown, it returns the card of the
// agent's model and false.
func summaryCard(agent price.Card, model string) (card price.Card, ok bool) {
	card, known := price.For(model)
	if !known || agent.Relative {
		return agent, false
	}
	return card, true
}

// answered holds the reasons why a model's answer is not used.
var answered = []error{
	strategy.ErrEmpty, strategy.ErrRefused, strategy.ErrUnusable, strategy.ErrFiltered, strategy.ErrCutOff, summarize.ErrTooLong, summarize.ErrNotSmaller, strategy.ErrMalformed,
}

// cutOff holds the errors of calls that ended before their answer came. Whether
// the provider billed them is unknown.
var cutOff = []error{
	context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded, summarize.ErrDeadline, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET,
}

// mayBeBilled reports whether a call without a usage may have been billed: it was
// answered, or ended before its answer came. Refused connections and error
// statuses are not billed.
func mayBeBilled(err error) bool {
	if err == nil {
		return true
	}
	var f *strategy.Failure
	if errors.As(err, &f) && f.Status > 0 {
		return f.Status < 300
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return false
	}
	is := func(target error) bool { return errors.Is(err, target) }
	return slices.ContainsFunc(answered, is) || slices.ContainsFunc(cutOff, is)
}

// in sets the cost in the event of a summary.
func (s summaryCost) in(p *trace.Summarize, relative bool) {
	p.USD, p.EstimatedUSD, p.Prices = s.usd, s.estimated, s.prices
	p.Relative = relative && s.prices != ""
}

// bill returns the cost as a part of a session's bill.
func (s summaryCost) bill() SessionBill {
	return SessionBill{SummaryUSD: s.usd, SummaryEstimatedUSD: s.estimated}
}

// summarizePayload returns the payload of the model call, whose duration is the
// latency.
func summarizePayload(session string, i summarize.CallInfo) trace.Summarize {
	p := trace.Summarize{
		SessionID: session, Model: i.Model, Backend: i.Backend, Strategy: i.Strategy, Attempts: i.Attempt, Pieces: i.Pieces,
		MaxTokens: i.MaxTokens, InputMessages: i.InputMessages, InputTokens: i.InputTokens, SummaryTokens: i.SummaryTokens,
		PromptTokens: i.Prompt, CompletionTokens: i.Completion, CachedTokens: i.Cached, WrittenTokens: i.Written,
	}
	a := &i.Answer
	p.Seed, p.ResponseModel, p.ResponseID = a.Seed, a.Model, a.ID
	if a.Finish != "" {
		p.Finish = []string{a.Finish}
	}
	if host, port, err := net.SplitHostPort(a.Server); err == nil {
		p.Server = host
		p.Port, _ = strconv.Atoi(port)
	}
	if i.Err != nil {
		p.ErrorType, p.Cause, p.OutputText = "SummarizerFailed", causeOf(i.Err), i.Err.Error()
	}
	return p
}
