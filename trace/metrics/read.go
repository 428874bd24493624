package metrics

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/agentcompact/compact/trace"
)

// Values of the label outcome; failed is also one of result.
const (
	unchanged = "unchanged"
	compacted = "compacted"
	failed    = "failed"
)

// readers maps the names of events to functions that count them. Other events
// are not counted.
var readers = map[string]func(*Metrics, *trace.Event){
	trace.NameBeforeModelCall:   reading((*Metrics).call),
	trace.NameArchival:          reading((*Metrics).archival),
	trace.NameSummarize:         reading((*Metrics).summarize),
	trace.NameSummaryCreated:    reading((*Metrics).summary),
	trace.NameSummaryAttempt:    reading((*Metrics).attempt),
	trace.NamePrunedMessages:    reading((*Metrics).pruned),
	trace.NameError:             reading((*Metrics).failure),
	trace.NameRefused:           reading((*Metrics).refused),
	trace.NameProviderError:     reading((*Metrics).providerError),
	trace.NameRecall:            reading((*Metrics).recalled),
	trace.NameCallUsage:         reading((*Metrics).billed),
	trace.NameObservedUsage:     reading((*Metrics).observedUsage),
	trace.NameObserved:          reading((*Metrics).looked),
	trace.NameRedactionDisabled: func(m *Metrics, _ *trace.Event) { m.add(unredacted, 1) },
}

// reading returns a function that decodes the payload of an event and passes it
// to count. It ignores events without such a payload, which come from other
// programs.
func reading[T any](count func(*Metrics, *trace.Event, *T)) func(*Metrics, *trace.Event) {
	return func(m *Metrics, e *trace.Event) {
		var p T
		if json.Unmarshal([]byte(e.Data.String()), &p) == nil {
			count(m, e, &p)
		}
	}
}

// count counts an event; the caller holds mu.
func (m *Metrics) count(e *trace.Event) {
	if read := readers[e.Name]; read != nil {
		read(m, e)
	}
}

// callData holds the parts of a [trace.Preflight] that are counted. Decoding
// all of it would take longer.
type callData struct {
	Model     string             `json:"model"`
	Triggered bool               `json:"triggered"`
	Reason    string             `json:"reason"`
	In        int                `json:"tokens_in"`
	Before    int                `json:"tokens_before"`
	After     int                `json:"tokens_after"`
	Saved     int                `json:"tokens_saved"`
	Window    int                `json:"max_tokens"`
	Timings   map[string]float64 `json:"timings_ms"`
	Stage     string             `json:"call_stage"`
	Bill      *trace.CallBill    `json:"bill"`
	ErrorType string             `json:"error_type"`
}

func (m *Metrics) call(e *trace.Event, p *callData) {
	outcome := unchanged
	switch {
	case p.ErrorType != "":
		outcome = failed
	case p.Triggered:
		outcome = compacted
	}
	m.add(calls, 1, outcome)
	m.put(preflight, seconds(e), outcome)
	for phase, ms := range p.Timings {
		if ms > 0 {
			m.put(phases, ms/1e3, phase)
		}
	}
	if p.Reason != "" {
		m.add(decisions, 1, p.Reason)
	}
	if outcome == failed {
		return // the number of sent tokens is unknown
	}
	m.add(historyTokens, positive(p.In), p.Model)
	m.add(sentTokens, positive(p.After), p.Model)
	m.add(savedTokens, positive(p.Saved), p.Model)
	if p.Window > 0 {
		m.put(windowUsage, float64(p.After)/float64(p.Window), p.Model)
	}
	if p.Triggered {
		m.add(compactions, 1, p.Stage, p.Reason)
		m.put(compactionTokens, float64(p.Before), "before")
		m.put(compactionTokens, float64(p.After), "after")
	}
	m.bill(p.Model, p.Bill)
}

func (m *Metrics) bill(of string, b *trace.CallBill) {
	if b == nil || b.Relative {
		m.add(unpriced, 1, of)
		return
	}
	m.add(estimatedUSD, money(b.EstimatedUSD), of)
	m.add(wholeUSD, money(b.WholeUSD), of)
	m.add(summaryUSD, 0, of) // the series must exist from the start; each summary adds its own cost
}

func (m *Metrics) archival(e *trace.Event, p *struct {
	Bytes     int64  `json:"bytes"`
	ErrorType string `json:"error_type"`
}) {
	m.put(archive, seconds(e), result(p.ErrorType))
	if p.ErrorType == "" {
		m.add(archived, max(float64(p.Bytes), 0))
	}
}

func (m *Metrics) summarize(e *trace.Event, p *trace.Summarize) {
	how := result(p.ErrorType)
	if p.Unused {
		how = "unused"
	}
	m.put(summaries, seconds(e), p.Backend, how)
	if p.Backend != "extractive" { // a model was asked
		m.generate(e, p)
	}
}

// generate reports a summary by a model: its time, tokens and price.
func (m *Metrics) generate(e *trace.Event, p *trace.Summarize) {
	cause := p.ErrorType
	if p.Cause != "" {
		cause = p.Cause
	}
	m.put(genOperation, seconds(e), "chat", p.Backend, p.Model, cause)
	if p.PromptTokens > 0 {
		m.put(genUsage, float64(p.PromptTokens), "chat", p.Backend, p.Model, "input")
	}
	if p.CompletionTokens > 0 {
		m.put(genUsage, float64(p.CompletionTokens), "chat", p.Backend, p.Model, "output")
	}
	if !p.Relative {
		m.add(summaryUSD, money(p.USD), p.Model)
	}
}

func (m *Metrics) summary(_ *trace.Event, p *struct {
	Tokens   int `json:"summary_tokens"`
	Invented int `json:"invented_removed"`
}) {
	m.put(summaryTokens, float64(p.Tokens))
	m.add(invented, positive(p.Invented))
}

func (m *Metrics) attempt(_ *trace.Event, p *struct {
	Cause string `json:"cause"`
}) {
	m.add(summaryAttempts, 1, p.Cause)
}

func (m *Metrics) pruned(_ *trace.Event, p *struct {
	Summarized int `json:"summarized_count"`
	Dropped    int `json:"dropped_count"`
	Masked     int `json:"masked_count"`
	Truncated  int `json:"truncated_count"`
}) {
	m.add(taken, positive(p.Summarized), "summarized")
	m.add(taken, positive(p.Dropped), "dropped")
	m.add(taken, positive(p.Masked), "masked")
	m.add(taken, positive(p.Truncated), "truncated")
}

func (m *Metrics) failure(_ *trace.Event, p *struct {
	ErrorType string `json:"error_type"`
	Cause     string `json:"cause"`
	Fallback  string `json:"fallback"`
}) {
	m.add(errorCount, 1, p.ErrorType)
	if p.Cause != "" {
		m.add(causes, 1, p.Cause)
	}
	if p.Fallback != "" && p.Fallback != trace.FallbackNone {
		m.add(fallbacks, 1, p.Fallback)
	}
}

func (m *Metrics) refused(_ *trace.Event, p *trace.Refused) {
	m.add(refusals, 1, strconv.FormatBool(p.Retried))
	m.unbilled(p.Model, p.In, p.Estimated)
	m.unbilledMoney(p.Model, p.EstimatedUSD, p.WholeUSD, p.Relative)
}

func (m *Metrics) providerError(_ *trace.Event, p *trace.ProviderError) {
	m.add(providerErrors, 1, strconv.Itoa(p.Status))
	m.unbilled(p.Model, p.In, p.Estimated)
	m.unbilledMoney(p.Model, p.EstimatedUSD, p.WholeUSD, p.Relative)
}

// unbilled adds the tokens of a request for which the provider billed nothing.
func (m *Metrics) unbilled(of string, history, sent int) {
	m.add(unbilledHistory, positive(history), of)
	m.add(unbilledSent, positive(sent), of)
}

func (m *Metrics) unbilledMoney(of string, estimated, whole float64, relative bool) {
	if !relative {
		m.add(unbilledUSD, money(estimated), of)
		m.add(unbilledWholeUSD, money(whole), of)
	}
}

func (m *Metrics) recalled(_ *trace.Event, p *struct {
	Found     bool   `json:"found"`
	ErrorType string `json:"error_type"`
}) {
	switch {
	case p.ErrorType != "":
		m.add(recalls, 1, failed)
	case p.Found:
		m.add(recalls, 1, "found")
	default:
		m.add(recalls, 1, "not_found")
	}
}

func (m *Metrics) billed(_ *trace.Event, p *trace.CallUsage) {
	m.tokens(p.Model, p.Measured, p.Output)
	if p.CacheKnown {
		m.cache(p.Model, p.Cached, p.Written)
	}
	if p.Measured > 0 && p.Estimated > 0 && p.Compacted == 0 && !p.ToolRounds {
		m.put(estimateError, p.ErrorPct)
	}
	if p.Break != nil {
		m.add(cacheBreaks, 1)
		m.add(cacheBroken, positive(p.Break.Tokens))
	}
	if !p.Relative {
		m.add(measuredUSD, money(p.MeasuredUSD), p.Model)
	}
}

func (m *Metrics) observedUsage(_ *trace.Event, p *trace.ObservedUsage) {
	m.tokens(p.Model, p.Measured, p.Output)
	if p.CacheKnown {
		m.cache(p.Model, p.Cached, p.Written)
	}
}

// tokens adds a billed call and its tokens.
func (m *Metrics) tokens(of string, prompt, output int) {
	m.add(billedCalls, 1, of)
	m.add(promptTokens, positive(prompt), of)
	m.add(outputTokens, positive(output), of)
}

// cache adds the tokens of a call that were read from the provider's cache, and
// written into it.
func (m *Metrics) cache(of string, read, written int) {
	m.add(cachedTokens, positive(read), of)
	m.add(writtenTokens, positive(written), of)
}

func (m *Metrics) looked(_ *trace.Event, p *trace.Observed) {
	m.add(observed, 1, p.Model)
	m.add(observedTokens, positive(p.Estimated), p.Model)
	m.add(projectedTokens, positive(p.Projected), p.Model)
	if p.WouldCompact {
		m.add(wouldCompact, 1, p.CallStage, p.Reason)
	}
	if p.WouldFail != "" {
		m.add(wouldFail, 1, p.WouldFail)
	}
}

func result(errorType string) string {
	if errorType != "" {
		return failed
	}
	return "ok"
}

func seconds(e *trace.Event) float64 { return max(float64(e.Duration())/float64(time.Second), 0) }

func positive(n int) float64 { return float64(max(n, 0)) }

func money(usd float64) float64 {
	if math.IsNaN(usd) || math.IsInf(usd, 0) {
		return 0
	}
	return max(usd, 0)
}
