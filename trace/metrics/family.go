package metrics

import "strings"

// Kind is the type of a family.
type Kind int

// The kinds.
const (
	Counter   Kind = iota // only grows
	Gauge                 // the current value
	Histogram             // the number of values up to each bound
)

// String returns the type as Prometheus writes it.
func (k Kind) String() string { return [...]string{"counter", "gauge", "histogram"}[k] }

// A Family is one metric with all its labels. A [Metrics] always has the same
// families, in the same order.
type Family struct {
	Name   string // OpenTelemetry name: "compact.calls"
	Unit   string // "s", "By", or a word in braces: "{token}"
	Help   string // one sentence
	Kind   Kind
	Labels []string  // names; points hold the values, in this order
	Bounds []float64 // upper bounds of a histogram's buckets, rising; the last bucket has no bound
	Points []Point   // sorted by their labels' values
}

// A Point is the number for one set of label values.
type Point struct {
	Values  []string // of the family's labels
	Value   float64  // of a counter or gauge; the sum of a histogram
	Count   uint64   // of a histogram
	Buckets []uint64 // of a histogram: the number of values per bucket, one more than Bounds
}

var units = map[string]string{"s": "_seconds", "By": "_bytes"}

// Prometheus returns the family's name in Prometheus' form.
func (f *Family) Prometheus() string {
	name := flat(f.Name) + units[f.Unit]
	if f.Kind == Counter {
		name += "_total"
	}
	return name
}

// flat replaces the dots of a name by underscores.
func flat(name string) string { return strings.ReplaceAll(name, ".", "_") }

// Bounds of histograms.
var (
	quick   = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60} // seconds
	sizes   = []float64{250, 500, 1000, 2000, 4000, 8000, 16e3, 32e3, 64e3, 96e3, 128e3, 160e3, 200e3, 400e3, 1e6}
	shares  = []float64{.1, .2, .3, .4, .5, .6, .7, .8, .85, .9, .95, 1}
	percent = []float64{-50, -20, -10, -5, -2, 0, 2, 5, 10, 20, 50}
	// The next two follow the conventions for generative AI.
	genTokens  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	genSeconds = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
)

// Labels of the families that the conventions for generative AI define.
const (
	operation = "gen_ai.operation.name"
	provider  = "gen_ai.provider.name"
	model     = "gen_ai.request.model"
	tokenType = "gen_ai.token.type"
	errorType = "error.type"
)

// Families, as indexes of the list below.
const (
	calls = iota
	decisions
	compactions
	preflight
	phases
	historyTokens
	sentTokens
	savedTokens
	windowUsage
	compactionTokens
	taken
	summaries
	summaryTokens
	summaryAttempts
	invented
	genOperation
	genUsage
	archive
	archived
	errorCount
	causes
	fallbacks
	refusals
	providerErrors
	unbilledHistory
	unbilledSent
	unbilledUSD
	unbilledWholeUSD
	recalls
	billedCalls
	promptTokens
	cachedTokens
	writtenTokens
	outputTokens
	estimateError
	cacheBreaks
	cacheBroken
	estimatedUSD
	wholeUSD
	summaryUSD
	measuredUSD
	unpriced
	unredacted
	observed
	observedTokens
	projectedTokens
	wouldCompact
	wouldFail
	counted // number of families
)

// families lists all metrics.
var families = [counted]Family{
	calls:            {Name: "compact.calls", Unit: "{call}", Help: "Model calls that were compared with the budget, by outcome.", Labels: []string{"outcome"}},
	decisions:        {Name: "compact.decisions", Unit: "{call}", Help: "Model calls by the reason for compacting, or for not compacting.", Labels: []string{"reason"}},
	compactions:      {Name: "compact.compactions", Unit: "{compaction}", Help: "Compactions by their own most severe stage and the reason.", Labels: []string{"stage", "reason"}},
	preflight:        {Name: "compact.preflight.duration", Unit: "s", Help: "Time from the start of a call until its view was ready.", Kind: Histogram, Labels: []string{"outcome"}, Bounds: quick},
	phases:           {Name: "compact.phase.duration", Unit: "s", Help: "Time of the parts of a call; a part that only waits is named _wait.", Kind: Histogram, Labels: []string{"phase"}, Bounds: quick},
	historyTokens:    {Name: "compact.history_tokens", Unit: "{token}", Help: "Estimated tokens of the incoming histories.", Labels: []string{"model"}},
	sentTokens:       {Name: "compact.sent_tokens", Unit: "{token}", Help: "Estimated tokens of the outgoing views.", Labels: []string{"model"}},
	savedTokens:      {Name: "compact.saved_tokens", Unit: "{token}", Help: "Estimated tokens that were not sent: histories minus views, those of unbilled requests included.", Labels: []string{"model"}},
	windowUsage:      {Name: "compact.window.usage", Unit: "1", Help: "Share of the model's window that a view takes.", Kind: Histogram, Labels: []string{"model"}, Bounds: shares},
	compactionTokens: {Name: "compact.compaction.tokens", Unit: "{token}", Help: "Size of the view before and after a compaction.", Kind: Histogram, Labels: []string{"when"}, Bounds: sizes},
	taken:            {Name: "compact.taken_messages", Unit: "{message}", Help: "Messages that compactions removed or reduced, by decision.", Labels: []string{"became"}},
	summaries:        {Name: "compact.summaries.duration", Unit: "s", Help: "Time to make a summary, all attempts together.", Kind: Histogram, Labels: []string{"backend", "result"}, Bounds: quick},
	summaryTokens:    {Name: "compact.summaries.tokens", Unit: "{token}", Help: "Size of summaries that were accepted.", Kind: Histogram, Bounds: sizes},
	summaryAttempts:  {Name: "compact.summaries.failed_attempts", Unit: "{attempt}", Help: "Calls of the summarizer that failed and were recovered from, by cause.", Labels: []string{"cause"}},
	invented:         {Name: "compact.summaries.invented", Unit: "{identifier}", Help: "Identifiers that were cut from summaries because the source does not have them."},
	genOperation:     {Name: "gen_ai.client.operation.duration", Unit: "s", Help: "Time to ask a model for a summary, all attempts together.", Kind: Histogram, Labels: []string{operation, provider, model, errorType}, Bounds: genSeconds},
	genUsage:         {Name: "gen_ai.client.token.usage", Unit: "{token}", Help: "Tokens that were billed for summaries.", Kind: Histogram, Labels: []string{operation, provider, model, tokenType}, Bounds: genTokens},
	archive:          {Name: "compact.archive.duration", Unit: "s", Help: "Time to store a history before a compaction removes anything from it.", Kind: Histogram, Labels: []string{"result"}, Bounds: quick},
	archived:         {Name: "compact.archived", Unit: "By", Help: "Bytes of histories that were stored."},
	errorCount:       {Name: "compact.errors", Unit: "{error}", Help: "Failures, recovered or not.", Labels: []string{errorType}},
	causes:           {Name: "compact.error_causes", Unit: "{error}", Help: "Failures by cause, if the cause is known.", Labels: []string{"cause"}},
	fallbacks:        {Name: "compact.fallbacks", Unit: "{error}", Help: "Fallbacks after failures.", Labels: []string{"fallback"}},
	refusals:         {Name: "compact.refusals", Unit: "{request}", Help: "Requests that the provider refused as too long, by whether a smaller one was sent.", Labels: []string{"retried"}},
	providerErrors:   {Name: "compact.provider_errors", Unit: "{request}", Help: "Requests that the provider answered with another error, by HTTP status.", Labels: []string{"status"}},
	unbilledHistory:  {Name: "compact.unbilled_history_tokens", Unit: "{token}", Help: "The part of compact_history_tokens_total for requests that the provider refused or answered with an error.", Labels: []string{"model"}},
	unbilledSent:     {Name: "compact.unbilled_sent_tokens", Unit: "{token}", Help: "The part of compact_sent_tokens_total for requests that the provider refused or answered with an error.", Labels: []string{"model"}},
	unbilledUSD:      {Name: "compact.unbilled_prompts_usd", Unit: "{USD}", Help: "The part of compact_estimated_prompts_usd_total for requests that the provider refused or answered with an error.", Labels: []string{"model"}},
	unbilledWholeUSD: {Name: "compact.unbilled_whole_prompts_usd", Unit: "{USD}", Help: "The part of compact_projected_whole_prompts_usd_total for requests that the provider refused or answered with an error.", Labels: []string{"model"}},
	recalls:          {Name: "compact.recalls", Unit: "{recall}", Help: "Recalls of removed text, by outcome.", Labels: []string{"result"}},
	billedCalls:      {Name: "compact.billed_calls", Unit: "{call}", Help: "Calls whose usage the provider reported.", Labels: []string{"model"}},
	promptTokens:     {Name: "compact.billed_prompt_tokens", Unit: "{token}", Help: "Prompt tokens that the provider billed, cached ones included.", Labels: []string{"model"}},
	cachedTokens:     {Name: "compact.billed_cached_tokens", Unit: "{token}", Help: "Prompt tokens read from the provider's cache, if the provider reports them.", Labels: []string{"model"}},
	writtenTokens:    {Name: "compact.billed_written_tokens", Unit: "{token}", Help: "Prompt tokens written to the provider's cache, if the provider reports them.", Labels: []string{"model"}},
	outputTokens:     {Name: "compact.billed_output_tokens", Unit: "{token}", Help: "Answer tokens that the provider billed.", Labels: []string{"model"}},
	estimateError:    {Name: "compact.estimate.error", Unit: "{percent}", Help: "Error of the estimate in percent of the billed tokens; above 0 the estimate was too high.", Kind: Histogram, Bounds: percent},
	cacheBreaks:      {Name: "compact.cache_breaks", Unit: "{call}", Help: "Billed calls whose prompt does not begin with the prompt of the previous call."},
	cacheBroken:      {Name: "compact.cache_broken_tokens", Unit: "{token}", Help: "Tokens of the previous prompt from the break on."},
	estimatedUSD:     {Name: "compact.estimated_prompts_usd", Unit: "{USD}", Help: "Expected cost in US dollars of the prompts as they were sent.", Labels: []string{"model"}},
	wholeUSD:         {Name: "compact.projected_whole_prompts_usd", Unit: "{USD}", Help: "Expected cost in US dollars of the prompts with the whole history.", Labels: []string{"model"}},
	summaryUSD:       {Name: "compact.summaries_usd", Unit: "{USD}", Help: "Cost in US dollars of summaries, by the summarizer's model.", Labels: []string{"model"}},
	measuredUSD:      {Name: "compact.measured_usd", Unit: "{USD}", Help: "Cost in US dollars of calls by the billed tokens, answers included.", Labels: []string{"model"}},
	unpriced:         {Name: "compact.unpriced_calls", Unit: "{call}", Help: "Calls of models with unknown prices; no sum of money includes them.", Labels: []string{"model"}},
	unredacted:       {Name: "compact.redaction_disabled", Unit: "{call}", Help: "Calls whose text was stored or exported unredacted."},
	observed:         {Name: "compact.observed_calls", Unit: "{call}", Help: "Calls that were only observed.", Labels: []string{"model"}},
	observedTokens:   {Name: "compact.observed_tokens", Unit: "{token}", Help: "Estimated tokens of the observed calls as they were sent.", Labels: []string{"model"}},
	projectedTokens:  {Name: "compact.projected_tokens", Unit: "{token}", Help: "Estimated tokens of the views that observed calls would have sent.", Labels: []string{"model"}},
	wouldCompact:     {Name: "compact.projected_compactions", Unit: "{compaction}", Help: "Compactions that observed calls would have made.", Labels: []string{"stage", "reason"}},
	wouldFail:        {Name: "compact.projected_failures", Unit: "{call}", Help: "Errors that observed calls would have returned.", Labels: []string{errorType}},
}

// begun lists the label values that a family has from the start.
var begun = map[int][]string{
	calls: {unchanged, compacted, failed}, taken: {"masked", "truncated", "summarized", "dropped"}, invented: nil, archived: nil,
	errorCount: {"InsufficientBudget", "ArchiveFailed", "ArchiveChanged", "ArchiveKeyLost", "AuditLinesDropped", "Cancelled", "CommitLost", "Error", "Internal",
		"StageDiscarded", "StageFailed", "SummarizerFailed"},
	fallbacks: {"pruning-only", "extractive"}, refusals: {"true", "false"}, recalls: {"found", "not_found", failed},
	cacheBreaks: nil, cacheBroken: nil, unredacted: nil, providerErrors: {"0", "400", "401", "429", "500", "503", "529"},
}
