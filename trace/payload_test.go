package trace_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// everyPayload has each type once. Fields that are omitted if empty are set.
func everyPayload() []trace.Payload {
	policy := trace.PolicyInfo{TriggerPct: 0.85, TargetPct: 0.6, HardCapBuffer: 1500, KeepRecentTurns: 6, KeepToolIOPairs: 4, Strategy: "task_state", Preset: "graduated"}
	return []trace.Payload{
		trace.Preflight{SessionID: "s", Agent: "a", Model: "gpt-4", Triggered: true, Step: 1, TokensBefore: 112_345, TokensAfter: 30_350, PrunedCount: 47},
		trace.TokenEstimate{SessionID: "s", Model: "gpt-4", TEst: 112_345, MaxTokens: 128_000, Encoding: "cl100k_base", Factor: 1.02},
		trace.TriggerDecision{SessionID: "s", Triggered: true, Reason: trace.ReasonUsage, TEst: 112_345, MaxTokens: 128_000, Trigger: 108_800, Target: 76_800,
			Budget: 126_500, Floor: 9_000, Step: 1, Checks: []trace.Check{{Check: trace.ReasonUsage, Value: 0.8777, Threshold: 0.85, Met: true}},
			Policy: policy, Plan: &trace.Plan{Kept: trace.Kept{Pinned: 3, RecentTurns: 6, ToolPairs: 4}, PrunedCount: 47}, Note: "user-requested"},
		trace.Archival{SessionID: "s", Step: 1, ArchivedCount: 60, Bytes: 4711, StorageAdapter: "fs", FilePath: "f", S3Key: "k", SHA256: "h", ManifestHead: "m", ErrorType: "x"},
		trace.Summarize{SessionID: "s", Model: "gpt-4", Backend: "openai", Strategy: "task_state", Attempts: 2, InputTokens: 81_995, SummaryTokens: 480, PromptTokens: 1, CompletionTokens: 1, CachedTokens: 1, WrittenTokens: 1, ErrorType: "x"},
		trace.SummaryCreated{SessionID: "s", Model: "gpt-4", InputTokens: 81_995, SummaryTokens: 480, Policy: policy, Verification: &trace.Verification{}, FilePath: "f", S3Key: "k", OutputText: "Goals: …"},
		trace.MaskedObservations{SessionID: "s", MaskedCount: 1, MaskedChars: 4200, TokensBefore: 2000, TokensAfter: 1000, MaskedIDs: []string{"3f9a2c1b"}},
		trace.TruncatedResults{SessionID: "s", TruncatedCount: 2, LimitTokens: 8000, Mode: "head", TokensBefore: 52_000, TokensAfter: 8_000, Results: []trace.ResultSize{{Index: 3, Tokens: 52_000, Kept: 8_000, Role: "tool", Tool: "grep"}}},
		trace.PrunedMessages{SessionID: "s", PrunedCount: 47, TotalMessages: 60, TokensBefore: 112_345, TokensAfter: 30_350, PrunedIDs: []string{"1"}},
		trace.Error{SessionID: "s", Step: 1, Tokens: 1, Budget: 1, Attempts: 3, ErrorType: "InsufficientBudget", Stage: "mask", Strategy: "task_state",
			Largest: []trace.ResultSize{{}}, Chain: []string{"a", "b"}, Guidance: "g", Message: "m"},
		trace.RedactionDisabled{SessionID: "s", Setting: "redaction.enabled"},
	}
}

// keysOf returns the top-level keys of a JSON object, in their order.
func keysOf(t *testing.T, raw []byte) []string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k.(string))
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

func object(t *testing.T, p trace.Payload) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(trace.Encode(p), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// The keys are a file format, and viewers depend on them: a renamed, removed or moved
// key changes it.
func TestPayloadsHaveDocumentedKeys(t *testing.T) {
	want := map[string]string{
		"before_model_call": "session_id agent model triggered manual step tokens_in tokens_before tokens_after tokens_saved session_tokens_saved max_tokens budget message_count_in message_count_before message_count_after " +
			"pruned_count summarized_count masked_count truncated_count session_pruned_count session_masked_count session_truncated_count replayed_edits timings_ms events_dropped reduction_stage call_stage invariant_status output_text",
		"compact.token_estimate":   "session_id model t_est tokens_estimated max_tokens budget usage_pct breakdown message_count message_count_in encoding calibration output_text",
		"compact.trigger_decision": "session_id model triggered manual reason t_est max_tokens usage_pct trigger target budget floor step checks policy kept prunable_count pruned_count note output_text",
		"compact.archival":         "session_id step archived_count bytes storage_adapter file_path s3_key sha256 manifest_head error_type output_text",
		"compact.summarize": "session_id model backend strategy attempts pieces max_tokens input_messages input_tokens summary_tokens prompt_tokens completion_tokens cached_tokens written_tokens " +
			"temperature error_type output_text",
		"compact.summary_created": "session_id step summary_version input_messages input_tokens summary_tokens compression_ratio entity_retention invented_removed calls attempts verification strategy backend model " +
			"policy file_path s3_key payload output_text",
		"compact.masked_observations": "session_id step masked_count masked_chars visible_count window_turns keep_recent_turns tokens_before tokens_after reduction_pct masked_ids output_text",
		"compact.truncated_results":   "session_id step truncated_count limit_tokens tokens_before tokens_after reduction_pct mode results output_text",
		"compact.pruned_messages": "session_id step pruned_count message_count summarized_count dropped_count masked_count truncated_count tokens_before tokens_after " +
			"reduction_pct target budget kept layers reduction_stage invariant_status pruned_ids output_text",
		"compact.error":              "session_id step tokens budget attempts error_type fallback stage strategy largest chain guidance message",
		"compact.redaction_disabled": "session_id severity setting output_text",
	}
	got := map[string]string{}
	for _, p := range everyPayload() {
		got[trace.New(p, redact.Text{}, at, at).Name] = strings.Join(keysOf(t, trace.Encode(p)), " ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestPayloadsOfAnyContentCanBeEncoded(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(-1)
	for _, p := range []trace.Payload{
		trace.Preflight{Timings: map[string]float64{"a": nan, "b": inf}},
		trace.TokenEstimate{Factor: nan},
		trace.TriggerDecision{Checks: []trace.Check{{Value: nan, Threshold: inf}}, Policy: trace.PolicyInfo{TriggerPct: nan, TargetPct: inf}},
		trace.Summarize{Temperature: nan},
		trace.SummaryCreated{Payload: []byte("{broken"), Policy: trace.PolicyInfo{TriggerPct: inf}},
		trace.Archival{}, trace.MaskedObservations{}, trace.TruncatedResults{}, trace.PrunedMessages{}, trace.Error{}, trace.RedactionDisabled{},
		trace.Observed{ElapsedMS: nan}, trace.WouldCompact{}, trace.ObservedUsage{},
		trace.CallUsage{MeasuredUSD: nan, EstimatedUSD: inf, WholeUSD: nan, SessionUSD: inf},
		trace.CallUsage{MeasuredUSD: math.MaxFloat64, EstimatedUSD: -math.MaxFloat64},
		trace.Refused{EstimatedUSD: nan, WholeUSD: inf}, trace.ProviderError{EstimatedUSD: inf, WholeUSD: nan},
	} {
		raw := trace.Encode(p)
		if !json.Valid(raw) || bytes.Contains(raw, []byte("null")) {
			t.Errorf("%T: %s", p, raw)
		}
	}
}

func TestPayloadsComputeSharesAndText(t *testing.T) {
	for _, c := range []struct {
		payload   trace.Payload
		key, want string
	}{
		{trace.TokenEstimate{TEst: 112_345, MaxTokens: 128_000}, "usage_pct", "0.8777"},
		{trace.TokenEstimate{TEst: 112_345, MaxTokens: 128_000}, "output_text", `"112345 / 128000 tokens (87.8%)"`},
		{trace.TokenEstimate{TEst: 112_345}, "tokens_estimated", "112345"},
		{trace.TokenEstimate{TEst: 112_345}, "usage_pct", "0"},
		{trace.CallUsage{SessionUSD: 132.0022800000001}, "session_measured_usd", "132.00228"},
		{trace.CallUsage{MeasuredUSD: 0.0000000061}, "measured_usd", "6e-9"},
		{trace.SummaryCreated{InputTokens: 81_995, SummaryTokens: 480}, "compression_ratio", "0.0059"},
		{trace.SummaryCreated{OutputText: "x"}, "payload", `{"text":"x"}`},
		{trace.PrunedMessages{TokensBefore: 112_345, TokensAfter: 30_350}, "reduction_pct", "72.99"},
		{trace.PrunedMessages{PrunedCount: 47, TotalMessages: 60, TokensBefore: 112_345, TokensAfter: 30_350}, "output_text", `"pruned 47 of 60 messages; 112345 -> 30350 tokens (-73.0%)"`},
		{trace.PrunedMessages{PrunedCount: 47, SummarizedCount: 40, DroppedCount: 7, TotalMessages: 60, TokensBefore: 2000, TokensAfter: 1000}, "output_text", `"pruned 47 of 60 messages (40 summarized, 7 dropped without a summary); 2000 -> 1000 tokens (-50.0%)"`},
		{trace.MaskedObservations{MaskedCount: 1, MaskedChars: 4200, TokensBefore: 2000, TokensAfter: 1000}, "output_text", `"masked 1 observation (4200 chars); 2000 -> 1000 tokens (-50.0%)"`},
		{trace.TruncatedResults{TruncatedCount: 2, LimitTokens: 8000, Mode: "head", TokensBefore: 20_000, TokensAfter: 16_000}, "output_text", `"truncated 2 results to about 8000 tokens (head); 20000 -> 16000 tokens (-20.0%)"`},
		{trace.Archival{ArchivedCount: 1, S3Key: "k"}, "output_text", `"archived 1 message to k"`},
		{trace.Archival{ArchivedCount: 60, FilePath: "f", ErrorType: "ENOSPC"}, "output_text", `"archiving 60 messages failed: ENOSPC"`},
		{trace.Summarize{Strategy: "brief", InputMessages: 47, InputTokens: 900, SummaryTokens: 80}, "output_text", `"brief: 47 messages, 900 -> 80 tokens"`},
		{trace.Summarize{Strategy: "brief", InputMessages: 47, InputTokens: 900, SummaryTokens: 80, USD: 0.0125}, "output_text", `"brief: 47 messages, 900 -> 80 tokens; $0.0125"`},
		{trace.Summarize{Strategy: "brief", Unused: true, USD: 0.5, Relative: true}, "output_text", `"nothing used it: the conversation changed or ended; 0.5000 times the price of a million input tokens"`},
		{trace.Summarize{Strategy: "brief", Attempts: 1, ErrorType: "refused"}, "output_text", `"brief failed after 1 attempt: refused"`},
		{trace.Preflight{Triggered: true, PrunedCount: 47, SummarizedCount: 40, MaskedCount: 2, TokensBefore: 2000, TokensAfter: 1000}, "output_text", `"compacted 2000 -> 1000 tokens (-50.0%): 47 pruned, 2 masked, 0 truncated"`},
		{trace.Preflight{Triggered: true, PrunedCount: 47, TokensBefore: 2000, TokensAfter: 1000, ReductionStage: "summarization"}, "output_text", `"pruned 47 messages: 2000 -> 1000 tokens (-50.0%)"`},
		{trace.Preflight{Triggered: true, PrunedCount: 1, MaskedCount: 2, TruncatedCount: 1, TokensBefore: 2000, TokensAfter: 1000}, "output_text", `"pruned 1 message, masked 2 messages, truncated 1 message: 2000 -> 1000 tokens (-50.0%)"`},
		{trace.Preflight{Triggered: true, PrunedCount: 47, TokensBefore: 2000, TokensAfter: 1000, Bill: &trace.CallBill{EstimatedUSD: 0.5, WholeUSD: 0.25}}, "output_text", `"pruned 47 messages: 2000 -> 1000 tokens (-50.0%); prompt about $0.5000, whole history $0.2500"`},
		{trace.Preflight{Triggered: true, PrunedCount: 47, TokensBefore: 2000, TokensAfter: 1000, Bill: &trace.CallBill{Relative: true, EstimatedUSD: 0.5, WholeUSD: 0.25, SummaryUSD: 1}}, "output_text", `"pruned 47 messages: 2000 -> 1000 tokens (-50.0%); prompt about 0.5000, whole history 0.2500, summary 1.0000 times the price of a million input tokens"`},
		{trace.Preflight{Triggered: true, TokensBefore: 2000, TokensAfter: 1980}, "output_text", `"changed the request: 2000 -> 1980 tokens (-1.0%)"`},
		{trace.Preflight{Triggered: true, Reason: trace.ReasonArrival, TruncatedCount: 2, TokensBefore: 2000, TokensAfter: 1000}, "output_text", `"reduced 2 results at arrival: 2000 -> 1000 tokens (-50.0%)"`},
		{trace.TriggerDecision{Triggered: true, Reason: trace.ReasonArrival, TEst: 2000, MaxTokens: 128_000, Trigger: 108_800, Target: 76_800, Budget: 126_500}, "output_text", `"results were reduced at arrival; no compaction is due (2000 tokens, 1.6% of 128000; trigger 108800, target 76800, budget 126500)"`},
		{trace.TriggerDecision{Reason: trace.ReasonBelow, TEst: 2000, MaxTokens: 128_000, Trigger: 108_800, Target: 76_800, Budget: 126_500}, "output_text", `"not triggered: usage_pct < trigger_pct (2000 tokens, 1.6% of 128000; trigger 108800, target 76800, budget 126500)"`},
		{trace.WouldCompact{Reason: trace.ReasonArrival, Before: 2000, After: 1000}, "output_text", `"would have reduced results at arrival: 2000 -> 1000 tokens (-50.0%)"`},
		{trace.Observed{Estimated: 2000, Projected: 2000, MaxTokens: 8000}, "output_text", `"observed: nothing would have been done; 2000 / 8000 tokens"`},
		{trace.Observed{Estimated: 2000, Projected: 1000, MaxTokens: 8000}, "output_text", `"observed: 2000 tokens were sent, compaction would send 1000 (-50.0%)"`},
		{trace.Error{ErrorType: "refused"}, "message", `"refused"`},
		{trace.Error{}, "fallback", `"none"`},
		{trace.TriggerDecision{Reason: trace.ReasonBelow, TEst: 96_000, MaxTokens: 128_000, Trigger: 108_800, Target: 76_800, Budget: 126_500}, "output_text",
			`"not triggered: usage_pct < trigger_pct (96000 tokens, 75.0% of 128000; trigger 108800, target 76800, budget 126500)"`},
		{trace.TriggerDecision{}, "checks", "[]"},
		{trace.Preflight{TokensAfter: 5, MaxTokens: 10}, "output_text", `"nothing to do: 5 / 10 tokens"`},
		{trace.Preflight{Reason: trace.ReasonBelow, TokensAfter: 5, MaxTokens: 10}, "output_text", `"nothing to do: 5 / 10 tokens"`},
		{trace.Preflight{Reason: trace.ReasonFloor, TokensAfter: 9, MaxTokens: 10}, "output_text", `"not compacted (floor_above_target): 9 / 10 tokens"`},
		{trace.Preflight{Triggered: true, MaskedCount: 1, TokensBefore: 20, TokensAfter: 10, Unarchived: true}, "output_text", `"masked 1 message: 20 -> 10 tokens (-50.0%); the archive failed"`},
		{trace.CallUsage{Measured: 1000, Cached: 700, Output: 5, CacheKnown: true, MeasuredUSD: 0.25}, "output_text", `"billed 1000 prompt tokens, 700 of them cached, and 5 tokens of the answer: $0.2500"`},
		{trace.CallUsage{Measured: 1000, Cached: 700, Output: 5, MeasuredUSD: 0.25}, "output_text", `"billed 1000 prompt tokens, 700 of them cached according to our estimate, and 5 tokens of the answer: $0.2500"`},
		{trace.CallUsage{Measured: 400, Cleared: 600, Estimated: 1030}, "estimate_error_pct", "3"},
		{trace.CallUsage{Measured: 1000, Compacted: 900, Estimated: 500}, "estimate_error_pct", "0"},
		{trace.CallUsage{Measured: 9000, ToolRounds: true, Estimated: 500}, "estimate_error_pct", "0"},
		{trace.CallUsage{Measured: 9000, ToolRounds: true, CacheKnown: true, MeasuredUSD: 0.25}, "output_text", `"billed 9000 prompt tokens in rounds of the provider's own tools, 0 of them cached, and 0 tokens of the answer: $0.2500"`},
		{trace.Archival{ArchivedCount: 2}, "output_text", `"archived 2 messages"`},
		{trace.Preflight{ErrorType: "InsufficientBudget", TokensBefore: 5, Budget: 4}, "output_text", `"failed: InsufficientBudget; 5 tokens, budget 4"`},
		{trace.Preflight{ErrorType: "ArchiveFailed", TokensBefore: 5, TokensAfter: 9, Budget: 6}, "output_text", `"failed: ArchiveFailed; 5 tokens, budget 6; the unchanged history was returned: 9 tokens"`},
		{trace.Preflight{}, "timings_ms", "{}"},
	} {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(trace.Encode(c.payload), &m); err != nil {
			t.Fatal(err)
		}
		if got := string(m[c.key]); got != c.want {
			t.Errorf("%T: %s = %s, want %s", c.payload, c.key, got, c.want)
		}
	}
}

func TestPayloadsKeepGivenText(t *testing.T) {
	for _, p := range []trace.Payload{
		trace.Preflight{OutputText: "mine"}, trace.TokenEstimate{OutputText: "mine"}, trace.TriggerDecision{OutputText: "mine"},
		trace.Archival{OutputText: "mine"}, trace.Summarize{OutputText: "mine"}, trace.SummaryCreated{OutputText: "mine"},
		trace.MaskedObservations{OutputText: "mine"}, trace.TruncatedResults{OutputText: "mine"}, trace.PrunedMessages{OutputText: "mine"},
		trace.RedactionDisabled{OutputText: "mine"},
	} {
		if got := object(t, p)["output_text"]; got != "mine" {
			t.Errorf("%T: output_text = %v", p, got)
		}
	}
}

func TestDecisionListsKeptMessagesOnlyWhenTriggered(t *testing.T) {
	no := object(t, trace.TriggerDecision{})
	if no["kept"] != nil || no["pruned_count"] != nil {
		t.Errorf("not triggered: %v", no)
	}
	yes := object(t, trace.TriggerDecision{Triggered: true, Plan: &trace.Plan{}})
	if yes["kept"] == nil || yes["pruned_count"] != 0.0 {
		t.Errorf("triggered: %v", yes)
	}
}

func TestNewSetsStatusAndSeverityOfPayload(t *testing.T) {
	for _, c := range []struct {
		payload  trace.Payload
		status   trace.Status
		severity string
	}{
		{trace.Error{}, trace.StatusError, ""},
		{trace.Archival{}, trace.StatusOK, ""},
		{trace.Archival{ErrorType: "ENOSPC"}, trace.StatusError, ""},
		{trace.Summarize{ErrorType: "refused"}, trace.StatusError, ""},
		{trace.Preflight{ErrorType: "ArchiveFailed"}, trace.StatusError, ""},
		{trace.Preflight{}, trace.StatusOK, ""},
		{trace.Preflight{Triggered: true, InvariantStatus: "ok"}, trace.StatusOK, ""},
		{trace.Preflight{Triggered: true, InvariantStatus: "fallback"}, trace.StatusOK, trace.SeverityWarning},
		{trace.Preflight{Triggered: true, Unarchived: true}, trace.StatusOK, trace.SeverityWarning},
		{trace.Preflight{Triggered: true, Unarchived: true, ErrorType: "InsufficientBudget"}, trace.StatusError, ""},
		{trace.Error{Fallback: trace.FallbackNone}, trace.StatusError, ""},
		{trace.Error{Fallback: trace.FallbackPruning}, trace.StatusError, trace.SeverityWarning},
		{trace.RedactionDisabled{}, trace.StatusOK, trace.SeverityHigh},
	} {
		e := trace.New(c.payload, redact.Lit("{}"), at, at.Add(time.Second))
		if e.Status != c.status || e.Severity != c.severity || e.Duration() != time.Second || e.SpanID == "" || e.Data.String() != "{}" {
			t.Errorf("%+v: %+v", c.payload, e)
		}
	}
}

// The viewer chooses an icon by substrings of a name.
func TestNamesGiveNoOddIcons(t *testing.T) {
	names, kinds := map[string]bool{}, map[string]bool{}
	for _, p := range everyPayload() {
		e := trace.New(p, redact.Text{}, at, at)
		if names[e.Name] || kinds[e.Kind] {
			t.Errorf("%s or %s is used twice", e.Name, e.Kind)
		}
		names[e.Name], kinds[e.Kind] = true, true
		for _, odd := range []string{"handoff", "fetch", "check", "send", "get", "post", "tool", "function", "api", "request"} {
			if strings.Contains(e.Name+e.Kind, odd) {
				t.Errorf("%s (%s) contains %q", e.Name, e.Kind, odd)
			}
		}
		if llm := strings.Contains(e.Kind, "llm"); llm != (e.Name == trace.NameSummarize) {
			t.Errorf("%s (%s): only the model call looks like one", e.Name, e.Kind)
		}
	}
}
