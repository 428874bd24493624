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
	Bounds []float64 // upper bounds of a histogram's buckets, rising; the last bucket has none
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
	recalls
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

// families lists what is counted.
var families = [counted]Family{
	calls:            {Name: "compact.calls", Unit: "{call}", Help: "Model calls that were held against the budget, by what came of it.", Labels: []string{"outcome"}},
	decisions:        {Name: "compact.decisions", Unit: "{call}", Help: "The same by the reason for compacting, or for not doing so.", Labels: []string{"reason"}},
	compactions:      {Name: "compact.compactions", Unit: "{compaction}", Help: "Compactions by the most severe thing that was done, and why.", Labels: []string{"stage", "reason"}},
	preflight:        {Name: "compact.preflight.duration", Unit: "s", Help: "What a call waited for, from its begin until its view was ready.", Kind: Histogram, Labels: []string{"outcome"}, Bounds: quick},
	phases:           {Name: "compact.phase.duration", Unit: "s", Help: "Parts of it that took time; what was waited for is named _wait.", Kind: Histogram, Labels: []string{"phase"}, Bounds: quick},
	historyTokens:    {Name: "compact.history_tokens", Unit: "{token}", Help: "Tokens of the histories as they came in, estimated.", Labels: []string{"model"}},
	sentTokens:       {Name: "compact.sent_tokens", Unit: "{token}", Help: "Tokens of the views that went out, estimated.", Labels: []string{"model"}},
	savedTokens:      {Name: "compact.saved_tokens", Unit: "{token}", Help: "The difference: tokens that did not have to be sent, estimated.", Labels: []string{"model"}},
	windowUsage:      {Name: "compact.window.usage", Unit: "1", Help: "Share of the model's window that a view takes.", Kind: Histogram, Labels: []string{"model"}, Bounds: shares},
	compactionTokens: {Name: "compact.compaction.tokens", Unit: "{token}", Help: "Size of the view before and after a compaction.", Kind: Histogram, Labels: []string{"when"}, Bounds: sizes},
	taken:            {Name: "compact.taken_messages", Unit: "{message}", Help: "Messages that compactions took out or made smaller, by what became of them.", Labels: []string{"became"}},
	summaries:        {Name: "compact.summaries.duration", Unit: "s", Help: "Making a summary, all attempts together.", Kind: Histogram, Labels: []string{"backend", "result"}, Bounds: quick},
	summaryTokens:    {Name: "compact.summaries.tokens", Unit: "{token}", Help: "Size of summaries that were accepted.", Kind: Histogram, Bounds: sizes},
	summaryAttempts:  {Name: "compact.summaries.failed_attempts", Unit: "{attempt}", Help: "Calls of the summarizer that failed and were got over, by what kind of failure it was.", Labels: []string{"cause"}},
	invented:         {Name: "compact.summaries.invented", Unit: "{identifier}", Help: "Identifiers that were cut out of summaries, for the source does not have them."},
	genOperation:     {Name: "gen_ai.client.operation.duration", Unit: "s", Help: "Asking a model for a summary, all attempts together.", Kind: Histogram, Labels: []string{operation, provider, model, errorType}, Bounds: genSeconds},
	genUsage:         {Name: "gen_ai.client.token.usage", Unit: "{token}", Help: "Tokens that were billed for summaries.", Kind: Histogram, Labels: []string{operation, provider, model, tokenType}, Bounds: genTokens},
	archive:          {Name: "compact.archive.duration", Unit: "s", Help: "Storing a history before anything is taken out of it.", Kind: Histogram, Labels: []string{"result"}, Bounds: quick},
	archived:         {Name: "compact.archived", Unit: "By", Help: "Bytes of histories that were stored."},
	errorCount:       {Name: "compact.errors", Unit: "{error}", Help: "What failed, got over or not.", Labels: []string{errorType}},
	causes:           {Name: "compact.error_causes", Unit: "{error}", Help: "The same by what kind of failure it was, where that is known.", Labels: []string{"cause"}},
	fallbacks:        {Name: "compact.fallbacks", Unit: "{error}", Help: "What was done instead of what failed.", Labels: []string{"fallback"}},
	refusals:         {Name: "compact.refusals", Unit: "{request}", Help: "Requests that the provider said are too long, and whether a smaller one was sent.", Labels: []string{"retried"}},
	recalls:          {Name: "compact.recalls", Unit: "{recall}", Help: "What was taken out was asked for.", Labels: []string{"result"}},
	promptTokens:     {Name: "compact.billed_prompt_tokens", Unit: "{token}", Help: "Tokens of prompts that the provider billed, cached ones included.", Labels: []string{"model"}},
	cachedTokens:     {Name: "compact.billed_cached_tokens", Unit: "{token}", Help: "Of these, read from the provider's cache, where it says so.", Labels: []string{"model"}},
	writtenTokens:    {Name: "compact.billed_written_tokens", Unit: "{token}", Help: "Of these, written into it, where it says so.", Labels: []string{"model"}},
	outputTokens:     {Name: "compact.billed_output_tokens", Unit: "{token}", Help: "Tokens of answers that the provider billed.", Labels: []string{"model"}},
	estimateError:    {Name: "compact.estimate.error", Unit: "{percent}", Help: "By how many percent of what was billed the estimate was too high (above 0) or too low.", Kind: Histogram, Bounds: percent},
	cacheBreaks:      {Name: "compact.cache_breaks", Unit: "{call}", Help: "Calls whose prompt does not go on from that of the call before."},
	cacheBroken:      {Name: "compact.cache_broken_tokens", Unit: "{token}", Help: "Tokens of the prompt before that lay behind the break."},
	estimatedUSD:     {Name: "compact.estimated_prompts_usd", Unit: "{USD}", Help: "US dollars that prompts were expected to cost as they were sent.", Labels: []string{"model"}},
	wholeUSD:         {Name: "compact.projected_whole_prompts_usd", Unit: "{USD}", Help: "US dollars that they would have cost with the whole history.", Labels: []string{"model"}},
	summaryUSD:       {Name: "compact.summaries_usd", Unit: "{USD}", Help: "US dollars that summaries cost, by the model that was asked for them.", Labels: []string{"model"}},
	measuredUSD:      {Name: "compact.measured_usd", Unit: "{USD}", Help: "US dollars that calls cost by what the provider billed, answers included.", Labels: []string{"model"}},
	unpriced:         {Name: "compact.unpriced_calls", Unit: "{call}", Help: "Calls of models whose price is not known; they are in no sum of money.", Labels: []string{"model"}},
	unredacted:       {Name: "compact.redaction_disabled", Unit: "{call}", Help: "Calls of which text was stored or exported unredacted."},
	observed:         {Name: "compact.observed_calls", Unit: "{call}", Help: "Calls that were only looked at.", Labels: []string{"model"}},
	observedTokens:   {Name: "compact.observed_tokens", Unit: "{token}", Help: "Tokens of what went out with them, estimated.", Labels: []string{"model"}},
	projectedTokens:  {Name: "compact.projected_tokens", Unit: "{token}", Help: "Tokens of what would have gone out.", Labels: []string{"model"}},
	wouldCompact:     {Name: "compact.projected_compactions", Unit: "{compaction}", Help: "Compactions that they would have made.", Labels: []string{"stage", "reason"}},
	wouldFail:        {Name: "compact.projected_failures", Unit: "{call}", Help: "Errors that they would have returned.", Labels: []string{errorType}},
}

// begun lists the label values that a family has from the start.
var begun = map[int][]string{
	calls: {unchanged, compacted, failed}, taken: {"masked", "truncated", "summarized", "dropped"}, invented: nil, archived: nil,
	errorCount: {"InsufficientBudget", "ArchiveFailed", "ArchiveChanged", "ArchiveKeyLost", "AuditLinesDropped", "Cancelled", "CommitLost", "Error", "Internal",
		"StageDiscarded", "StageFailed", "SummarizerFailed"},
	fallbacks: {"pruning-only", "extractive"}, refusals: {"true", "false"}, recalls: {"found", "not_found", failed},
	cacheBreaks: nil, cacheBroken: nil, unredacted: nil,
}
