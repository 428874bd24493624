package tracetest

import (
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// children are the events of a call with a compaction.
var children = []struct {
	name, kind string
	took       time.Duration
	data       redact.Text
}{
	{trace.NameTokenEstimate, trace.KindEstimate, 90 * time.Microsecond, redact.Lit(`{"session_id":"session-7f3a","model":"gpt-4","t_est":112345,"tokens_estimated":112345,"max_tokens":128000,"budget":126500,"usage_pct":0.8777,"breakdown":{"system":500,"developer":200,"tools_schema":1500,"messages":110145},"message_count":60,"encoding":"cl100k_base","output_text":"112345 / 128000 tokens (87.8%)"}`)},
	{trace.NameTriggerDecision, trace.KindDecision, 20 * time.Microsecond, redact.Lit(`{"session_id":"session-7f3a","model":"gpt-4","triggered":true,"manual":false,"reason":"usage_pct >= trigger_pct","t_est":112345,"max_tokens":128000,"usage_pct":0.8777,"trigger":108800,"target":76800,"budget":126500,"step":1,"checks":[{"check":"usage_pct >= trigger_pct","value":0.8777,"threshold":0.85,"met":true},{"check":"t_est >= budget","value":112345,"threshold":126500,"met":false}],"policy":{"trigger_pct":0.85,"target_pct":0.6,"hard_cap_buffer":1500,"keep_recent_turns":6,"keep_tool_io_pairs":4,"strategy":"task_state","preset":"graduated"},"kept":{"pinned":3,"summary":0,"recent_turns":6,"tool_pairs":4},"pruned_count":47,"output_text":"triggered: usage_pct >= trigger_pct (112345 tokens, 87.8% of 128000; trigger 108800, target 76800, budget 126500)"}`)},
	{trace.NameArchival, trace.KindArchival, 46 * time.Millisecond, redact.Lit(`{"session_id":"session-7f3a","step":1,"archived_count":60,"bytes":482113,"storage_adapter":"fs","file_path":".compact/archive/session-7f3a/transcript-pre-compact-001.jsonl","output_text":"archived 60 messages to .compact/archive/session-7f3a/transcript-pre-compact-001.jsonl"}`)},
	{trace.NameSummarize, trace.KindLLM, 2 * time.Second, redact.Lit(`{"session_id":"session-7f3a","model":"gpt-4","backend":"openai","strategy":"task_state","attempts":1,"pieces":1,"max_tokens":1500,"input_messages":47,"input_tokens":81995,"summary_tokens":480,"temperature":0,"output_text":"Goals: move src/auth from cookies to tokens."}`)},
	{trace.NameSummaryCreated, trace.KindSummary, time.Microsecond, redact.Lit(`{"session_id":"session-7f3a","step":1,"summary_version":1,"input_messages":47,"input_tokens":81995,"summary_tokens":480,"compression_ratio":0.0059,"verification":{"identifiers":12,"invented_removed":1,"references_added":3},"strategy":"task_state","backend":"openai","model":"gpt-4","policy":{"trigger_pct":0.85,"target_pct":0.6,"hard_cap_buffer":1500,"keep_recent_turns":6,"keep_tool_io_pairs":4,"strategy":"task_state","preset":"graduated"},"payload":{"goals":["move src/auth from cookies to tokens"]},"output_text":"Goals: move src/auth from cookies to tokens."}`)},
	{trace.NamePrunedMessages, trace.KindPrune, 8 * time.Millisecond, redact.Lit(`{"session_id":"session-7f3a","step":1,"pruned_count":47,"message_count":60,"summarized_count":47,"dropped_count":0,"masked_count":0,"truncated_count":0,"tokens_before":112345,"tokens_after":30350,"reduction_pct":72.99,"target":76800,"budget":126500,"kept":{"pinned":3,"summary":1,"recent_turns":6,"tool_pairs":4},"layers":{"pinned":{"messages":3,"tokens":900},"summary":{"messages":1,"tokens":520},"recent":{"messages":10,"tokens":28930}},"reduction_stage":"summarization","invariant_status":"ok","output_text":"pruned 47 of 60 messages; 112345 -> 30350 tokens (-73.0%)"}`)},
}

// hook is the data of their parent event.
var hook = redact.Lit(`{"session_id":"session-7f3a","agent":"coding-agent","model":"gpt-4","triggered":true,"manual":false,"step":1,"tokens_before":112345,"tokens_after":30350,"max_tokens":128000,"budget":126500,"message_count_before":60,"message_count_after":14,"pruned_count":47,"summarized_count":47,"masked_count":0,"truncated_count":0,"replayed_edits":0,"timings_ms":{"archive":46,"count":0.09,"summarize":2000},"events_dropped":0,"reduction_stage":"summarization","invariant_status":"ok","output_text":"compacted 112345 -> 30350 tokens (-73.0%): 47 pruned, 0 masked, 0 truncated"}`)

// Session is the session of the events of [Sample].
const Session = "session-7f3a"

// Sample returns the events of one call with a compaction, in the order in
// which they are emitted: the children as they end, then the parent, which
// completes the trace. No two calls of Sample share an id.
func Sample(start time.Time) []trace.Event {
	traceID, parent := trace.NewTraceID(), trace.NewSpanID()
	at := start
	var events []trace.Event
	for _, c := range children {
		events = append(events, trace.Event{
			Name: c.name, Kind: c.kind, TraceID: traceID, SpanID: trace.NewSpanID(), ParentID: parent,
			Session: redact.Lit(Session), Agent: redact.Lit("coding-agent"), Start: at, End: at.Add(c.took), Status: trace.StatusOK, Data: c.data,
		})
		at = at.Add(c.took)
	}
	return append(events, trace.Event{
		Name: trace.NameBeforeModelCall, Kind: trace.KindPreflight, TraceID: traceID, SpanID: parent,
		Session: redact.Lit(Session), Agent: redact.Lit("coding-agent"), Start: start, End: at, Status: trace.StatusOK, Data: hook,
		Trace: &trace.TraceInfo{
			Name: redact.Lit("session session-7f3a"), GroupID: redact.Lit(Session), Start: start, End: at,
			Metadata: map[string]redact.Text{"model": redact.Lit("gpt-4")},
		},
	})
}
