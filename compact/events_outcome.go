package compact

import (
	"encoding/json"
	"path"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/internal/toolcall"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/trace"
)

// pruned returns the references of the input messages that the compaction
// removed from the view.
func (c *call) pruned(after *reduce.Conversation) []string {
	var refs []string
	for i := range c.now.conv.Inputs() {
		if c.now.conv.Holds(i) && !after.Holds(i) {
			refs = append(refs, c.s.ref(c.history[i].Fingerprint()))
		}
	}
	return refs
}

// outcomeEvents returns the events of a compaction, by stage.
func (c *call) outcomeEvents(out *reduce.Outcome, step int) (events []trace.Event) {
	for _, p := range out.Passes {
		if p.Applied == 0 {
			continue
		}
		switch {
		case p.Recipe.Cut != nil:
			events = append(events, c.summaryEvents(step, p)...)
		case len(p.Recipe.Copies) > 0: // named in the event of pruned messages
		default:
			events = append(events, eventOf(p)(c, step, p))
		}
	}
	return append(events, c.prunedEvent(step, out))
}

// eventOf returns the function that creates the event of a stage's edits. For the
// caller's own stage it depends on the decision of the edits.
func eventOf(p reduce.Pass) func(*call, int, reduce.Pass) trace.Event {
	b, _ := builtinNamed(p.Stage)
	switch b.tells {
	case tellsTidied:
		return (*call).tidiedEvent
	case tellsTruncated:
		return (*call).truncatedEvent
	case tellsMasked:
		return (*call).maskedEvent
	}
	if len(p.Edits) > 0 && p.Edits[0].Decision == policy.Masked {
		return (*call).maskedEvent
	}
	return (*call).truncatedEvent
}

func (c *call) maskedEvent(step int, p reduce.Pass) trace.Event {
	e := trace.MaskedObservations{
		SessionID: c.id, Step: step,
		WindowTurns: c.ep.cfg.Mask.WindowTurns, KeepRecentTurns: c.ep.cfg.Policy.KeepRecentTurns,
		TokensBefore: p.Before, TokensAfter: p.After,
	}
	for _, t := range p.Recipe.Texts {
		o, ok := t.OriginOf()
		if ok {
			e.MaskedIDs = append(e.MaskedIDs, o.Ref)
		}
		if o.Media {
			e.MediaCount, e.MediaBytes = e.MediaCount+1, e.MediaBytes+o.Chars
		} else {
			e.MaskedCount, e.MaskedChars = e.MaskedCount+1, e.MaskedChars+o.Chars
		}
	}
	e.VisibleCount = max(visible(c.view())-e.MaskedCount, 0)
	return c.passEvent(e, p)
}

// visible counts the results of a view that no placeholder replaces.
func visible(v *policy.View) (n int) {
	for i := range v.Messages {
		if !v.HasResult(i) {
			continue
		}
		for k := range v.Messages[i].Parts {
			if v.Messages[i].Parts[k].Kind == message.KindToolResult && !v.Masked(i, k) {
				n++
			}
		}
	}
	return n
}

func (c *call) truncatedEvent(step int, p reduce.Pass) trace.Event {
	e := trace.TruncatedResults{
		SessionID: c.id, Step: step, TruncatedCount: len(p.Recipe.Texts), Mode: c.ep.cfg.Truncate.Keep,
		LimitTokens: c.ep.cfg.Truncate.MaxToolResultTokens, TokensBefore: p.Before, TokensAfter: p.After,
	}
	for k, t := range p.Recipe.Texts {
		for _, s := range t.Segments {
			if s.Mark != nil {
				e.Results = append(e.Results, c.resultSize(p.Sources[k], t.Part, s.Mark))
				e.LimitTokens = min(e.LimitTokens, s.Mark.Kept)
			}
		}
	}
	return c.passEvent(e, p)
}

// tidiedEvent returns the event of results that were reduced on arrival.
func (c *call) tidiedEvent(step int, p reduce.Pass) trace.Event {
	e := trace.TruncatedResults{
		SessionID: c.id, Step: step, TruncatedCount: len(p.Recipe.Texts), Mode: tidy.StageName,
		LimitTokens: c.ep.cfg.Tidy.LargeTokens, TokensBefore: p.Before, TokensAfter: p.After,
	}
	for k := range p.Recipe.Texts {
		if mark := markOf(&p.Recipe.Texts[k]); mark != nil {
			e.Results = append(e.Results, c.resultSize(p.Sources[k], p.Recipe.Texts[k].Part, mark))
		}
	}
	for _, t := range c.res.Tidied {
		if t.Results > 0 {
			e.Reducers = append(e.Reducers, trace.ReducerCount{Reducer: t.Reducer, Count: t.Results, Tokens: t.TokensSaved})
		}
	}
	return c.passEvent(e, p)
}

// passEvent returns the event of one stage, with the stage's start and
// duration.
func (c *call) passEvent(e trace.Payload, p reduce.Pass) trace.Event {
	return c.eventAt(e, p.Started, p.Started.Add(p.Elapsed))
}

// resultSize returns how much of one result, a part of an input message, a
// truncation kept.
func (c *call) resultSize(src, part int, m *policy.Mark) trace.ResultSize {
	size := trace.ResultSize{Index: src, Tokens: m.Tokens, Kept: m.Kept}
	if src >= 0 {
		size.Role, size.Tool = string(c.history[src].Role), toolcall.Tool(c.history, src, part)
	}
	return size
}

func (c *call) summaryEvents(step int, p reduce.Pass) (events []trace.Event) {
	s := p.Recipe.Cut.Summary
	if p.Summary != nil && (s == nil || s.Text == "" || s.Fallback != "") {
		events = append(events, c.fallbackEvent(step, p))
	}
	if s == nil || s.Text == "" {
		return events
	}
	e := trace.SummaryCreated{
		SessionID: c.id, Step: step, SummaryVersion: s.Version, InputMessages: s.Input, InputTokens: s.InputSize,
		SummaryTokens: s.Tokens, Strategy: s.Strategy, Backend: s.Backend, Model: s.Model, Policy: c.policyInfo(),
		EntityRetention: s.Retention, InventedRemoved: s.Invented, Calls: s.Calls, Attempts: s.Attempts,
		Verification: &trace.Verification{Identifiers: s.Named, InventedRemoved: s.Invented, ReferencesAdded: s.Added}, OutputText: s.Text,
	}
	e.FilePath, e.S3Key = place(c.summaryFile)
	_, body, _ := policy.ParseSummary(*p.Edits[0].Cut.New)
	e.Payload = c.ep.summaryPayload(s, body)
	done := p.Started.Add(p.Elapsed)
	whole := c.eventAt(e, done, done)
	c.fileSummary(e, whole)
	return append(events, whole)
}

// fileSummary replaces the text of a summary in the audit log by the name of
// its file. Exporters get the text.
func (c *call) fileSummary(e trace.SummaryCreated, whole trace.Event) {
	if c.m.cfg.Storage.Repeat == repeatFull || c.summaryFile.SHA256 == "" {
		return
	}
	file := path.Base(c.summaryFile.Key.String())
	raw, err := json.Marshal(filedText{file})
	if err != nil {
		return
	}
	e.Payload, e.OutputText = raw, "the text is in "+file
	short := c.eventAt(e, whole.Start, whole.End)
	short.SpanID = whole.SpanID
	c.telling.filed[whole.SpanID] = short
}

// filedText is the payload of a summary in the audit log: the name of the file with
// its text.
type filedText struct {
	TextIn string `json:"text_in"`
}

func (c *call) prunedEvent(step int, out *reduce.Outcome) trace.Event {
	res, ids := c.res, c.pruned(out.Conversation)
	e := trace.PrunedMessages{
		SessionID: c.id, Step: step, PrunedCount: len(ids), PrunedIDs: ids, TotalMessages: res.Before.Messages,
		SummarizedCount: c.did.summarized, DroppedCount: c.did.dropped, MaskedCount: c.did.masked, TruncatedCount: c.did.truncated,
		TokensBefore: res.Before.Total, TokensAfter: res.After.Total, Target: res.Target, Budget: res.Budget,
		Kept: c.did.kept, Layers: layersOf(out.View),
		ReductionStage: string(res.ReductionStage), InvariantStatus: res.InvariantStatus,
	}
	e.Taken, e.Rest = c.rows(out)
	return c.event(e, c.m.now())
}

func layersOf(v *policy.View) trace.Layers {
	var l trace.Layers
	for i := range v.Messages {
		into := &l.Recent
		switch {
		case v.Pinned[i]:
			into = &l.Pinned
		case replacesMessages(v, i):
			into = &l.Summary
		}
		into.Messages++
		into.Tokens += v.Tokens[i]
	}
	return l
}

func (c *call) fallbackEvent(step int, p reduce.Pass) trace.Event {
	s := p.Summary
	e := trace.Error{
		SessionID: c.id, Step: step, ErrorType: "SummarizerFailed", Cause: c.cause, Fallback: s.Fallback, Attempts: s.Attempts, Strategy: s.Strategy,
		Chain: each(s.Errors), Tokens: s.InputSize,
	}
	if n := len(s.Errors); n > 0 {
		e.Message = s.Errors[n-1]
	}
	if c.late {
		e.ErrorType, e.Cause, e.Message = "SummaryLate", causeOf(summarize.ErrLate), summarize.ErrLate.Error()
		c.lateTold = true
	}
	return c.passEvent(e, p)
}
