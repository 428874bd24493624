package compact

import "github.com/agentcompact/compact/trace"

// logParent creates the event of the whole call. Its line in the audit log is
// written with the commit, so that no committed step lacks it. After a lost
// race it is written again, with the final number of the step.
func (c *call) logParent(err error) {
	dropped, lost := c.m.lostEvents()
	if err == nil {
		c.price() // the log must hold the bill before the step is committed
	}
	p := trace.Preflight{
		SessionID: c.id, Agent: c.q.agent, Model: c.ep.name, Triggered: c.res.Triggered || err != nil && c.decision != nil && c.decision.Triggered, Manual: c.q.manual, Reason: c.res.Reason, Step: c.res.Step,
		TokensIn: c.res.TokensIn, TokensBefore: c.res.Before.Total, TokensAfter: c.res.After.Total, MaxTokens: c.ep.window, Budget: c.budget.Cap,
		MessagesIn: len(c.history), MessagesBefore: c.res.Before.Messages, MessagesAfter: len(c.res.Messages),
		SessionMasked: c.res.MaskedCount, SessionTrunc: c.res.TruncatedCount, SessionPruned: c.res.SummarizedCount + c.res.DroppedCount,
		Replayed: c.res.Replayed, Timings: c.timings(), EventsDropped: dropped, EventsLost: lost,
		ReductionStage: string(c.res.ReductionStage), CallStage: string(c.res.CallStage), InvariantStatus: c.res.InvariantStatus,
		Unarchived: c.unarchived && c.res.Triggered && err == nil,
	}
	if c.res.Before.Total > 0 {
		p.Before, p.After = rolesOf(&c.res.Before), rolesOf(&c.res.After)
	}
	p.SessionSaved = c.s.savedWith(c)
	if b := c.res.Bill; b != nil && err == nil {
		p.Bill = &trace.CallBill{
			Prices: b.Prices, Relative: b.Relative, EstimatedUSD: b.EstimatedUSD, WholeUSD: b.WholeUSD, SummaryUSD: b.SummaryUSD,
			SessionUSD: b.Session.EstimatedUSD, SessionWhole: b.Session.WholeUSD, SessionSummary: b.Session.SummaryUSD,
			SummaryEstimated: b.SummaryEstimatedUSD, SummaryPrices: b.SummaryPrices, SessionEstimated: b.Session.SummaryEstimatedUSD,
		}
	}
	if did := c.did; did != nil {
		p.PrunedCount, p.SummarizedCount, p.MaskedCount, p.TruncatedCount = did.pruned(), did.summarized, did.masked, did.truncated
	}
	if err != nil {
		p.ErrorType = kindOf(err)
	}
	logged := c.parent.SpanID != "" && c.logged == c.res.Step
	e := c.event(p, c.began)
	e.SpanID, e.ParentID = c.span, c.root
	c.parent, c.logged = e, c.res.Step
	if !logged {
		c.events = append(c.events, c.parentLine(p, err))
	}
}

// logStep creates the event of a call before its step is committed, so the
// duration of the commit is unknown.
func (c *call) logStep() {
	c.storing = true
	defer func() { c.storing = false }()
	c.logParent(nil)
}

// rolesOf converts layers for events.
func rolesOf(l *Layers) *trace.RoleLayers {
	return &trace.RoleLayers{
		System: l.System, Developer: l.Developer, ToolsSchema: l.ToolsSchema, Summary: l.Summary,
		User: l.User, Assistant: l.Assistant, ToolResults: l.ToolResults, Overhead: l.Overhead,
	}
}

// savedWith returns the tokens that the session has saved, including this call,
// which is counted once.
func (s *session) savedWith(c *call) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved += c.res.TokensIn - c.res.After.Total - c.saved
	c.saved = c.res.TokensIn - c.res.After.Total
	return s.saved
}

func (c *call) timings() map[string]float64 {
	t := c.res.Timing
	ms := map[string]float64{
		"ledger": trace.Milliseconds(t.Ledger), "replay": trace.Milliseconds(t.Replay), "count": trace.Milliseconds(t.Count),
		"stages": trace.Milliseconds(t.Stages), "summarize": trace.Milliseconds(t.Summarize), "archive": trace.Milliseconds(t.Archive),
		"commit": trace.Milliseconds(t.Commit), "lane_wait": trace.Milliseconds(t.LaneWait),
		"archive_wait": trace.Milliseconds(t.ArchiveWait), "commit_wait": trace.Milliseconds(t.CommitWait),
		"place_wait": trace.Milliseconds(t.PlaceWait),
	}
	if c.storing {
		delete(ms, "commit")
	}
	return ms
}
