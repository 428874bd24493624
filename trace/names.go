package trace

// Names of events: what happened.
const (
	NameBeforeModelCall    = "before_model_call"           // the whole hook; the parent of the call's other events
	NameTokenEstimate      = "compact.token_estimate"      // the size of the next request was counted
	NameTriggerDecision    = "compact.trigger_decision"    // the decision whether to compact now, with the reason
	NameArchival           = "compact.archival"            // the history was stored
	NameSummarize          = "compact.summarize"           // the summarizer's call; its duration is its latency
	NameSummaryCreated     = "compact.summary_created"     // a summary was accepted
	NameMaskedObservations = "compact.masked_observations" // old tool results were replaced by placeholders
	NameTruncatedResults   = "compact.truncated_results"   // large tool results were cut
	NamePrunedMessages     = "compact.pruned_messages"     // messages left the view, by layer
	NameError              = "compact.error"               // a failure, and its fallback
	NameRedactionDisabled  = "compact.redaction_disabled"  // nothing is redacted; always SeverityHigh
	NameCallUsage          = "compact.usage"               // the provider's bill for a call
	NameObserved           = "observe.call"                // a call that was only observed: the view that would have been sent
	NameWouldCompact       = "observe.would_compact"       // the compaction that the observed call would have made
	NameObservedUsage      = "observe.usage"               // the provider's bill for an observed call, with the projected tokens
	NameRefused            = "compact.refused"             // the provider refused a request as too long
	NameProviderError      = "compact.provider_error"      // the provider answered a request with another error
	NameRecall             = "compact.recall"              // the agent asked for removed content
	NameSummaryBegun       = "compact.summary_begun"       // a summary takes long, and is still being written
	NameSummaryAttempt     = "compact.summary_attempt"     // a call of the summarizer failed, and the manager recovered
	NameSession            = "session"                     // the session as a whole ended; describes no span
)

// Kinds of events. Only the kinds of model calls contain "llm", because some
// viewers choose their icons by substring.
const (
	KindPreflight = "compact.preflight"
	KindEstimate  = "compact.estimate"
	KindDecision  = "compact.decision"
	KindArchival  = "compact.archival"
	KindLLM       = "compact.llm"
	KindSummary   = "compact.summary"
	KindMask      = "compact.mask"
	KindTruncate  = "compact.truncate"
	KindPrune     = "compact.prune"
	KindError     = "compact.error"
	KindSecurity  = "compact.security"
	KindUsage     = "compact.usage"
	KindObserve   = "compact.observe"
	KindRefusal   = "compact.refusal"
	KindProvider  = "compact.provider"
	KindRecall    = "compact.recall"
	KindBegun     = "compact.begun"
	KindAttempt   = "compact.attempt"
	KindSession   = "compact.session"
)
