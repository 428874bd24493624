package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/metrics"
	"github.com/agentcompact/compact/trace/tracetest"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// event returns an event of a payload with a given duration.
func event(p trace.Payload, took time.Duration) trace.Event {
	r, err := redact.New(redact.Options{})
	if err != nil {
		panic(err)
	}
	return trace.New(p, r.JSON(trace.Encode(p)), at, at.Add(took))
}

// lines returns the lines of the metrics text: the number of each by the text in front
// of it.
func lines(m *metrics.Metrics) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(string(m.AppendText(nil))) {
		line = strings.TrimSpace(line)
		if i := strings.LastIndexByte(line, ' '); line[0] != '#' {
			all[line[:i]] = line[i+1:]
		}
	}
	return all
}

func count(t *testing.T, m *metrics.Metrics, events ...trace.Event) {
	t.Helper()
	if err := m.Exporter().Export(t.Context(), events); err != nil {
		t.Fatal(err)
	}
}

func TestExporterKeepsItsPromises(t *testing.T) {
	tracetest.Run(t, func(testing.TB) trace.Exporter { return metrics.New(nil).Exporter() })
}

// counted lists payloads and the metrics lines that each must change.
var counted = []struct {
	payload trace.Payload
	want    string // the number is after the last space
}{
	{trace.Preflight{Model: "m", Reason: trace.ReasonBelow, TokensIn: 100, TokensBefore: 90, TokensAfter: 80, MaxTokens: 100, Timings: map[string]float64{"count": 2, "stages": 0},
		Bill: &trace.CallBill{EstimatedUSD: 0.25, WholeUSD: 0.5, SummaryUSD: 0.125}}, `
compact_calls_total{outcome="unchanged"} 1
compact_calls_total{outcome="compacted"} 0
compact_calls_total{outcome="failed"} 0
compact_decisions_total{reason="usage_pct < trigger_pct"} 1
compact_preflight_duration_seconds_count{outcome="unchanged"} 1
compact_preflight_duration_seconds_sum{outcome="unchanged"} 0.25
compact_preflight_duration_seconds_bucket{outcome="unchanged",le="0.1"} 0
compact_preflight_duration_seconds_bucket{outcome="unchanged",le="0.25"} 1
compact_preflight_duration_seconds_bucket{outcome="unchanged",le="+Inf"} 1
compact_phase_duration_seconds_sum{phase="count"} 0.002
compact_phase_duration_seconds_count{phase="stages"} -
compact_history_tokens_total{model="m"} 100
compact_sent_tokens_total{model="m"} 80
compact_saved_tokens_total{model="m"} 20
compact_window_usage_bucket{model="m",le="0.7"} 0
compact_window_usage_bucket{model="m",le="0.8"} 1
compact_compactions_total{stage="",reason="usage_pct < trigger_pct"} -
compact_estimated_prompts_usd_total{model="m"} 0.25
compact_projected_whole_prompts_usd_total{model="m"} 0.5
compact_summaries_usd_total{model="m"} 0
compact_unpriced_calls_total{model="m"} -`},
	{trace.Preflight{Model: "m", Triggered: true, Reason: trace.ReasonUsage, ReductionStage: "summarization", CallStage: "masking", TokensIn: 100, TokensBefore: 90, TokensAfter: 30, Bill: &trace.CallBill{Relative: true, EstimatedUSD: 9}}, `
compact_calls_total{outcome="compacted"} 1
compact_compactions_total{stage="masking",reason="usage_pct >= trigger_pct"} 1
compact_compaction_tokens_sum{when="before"} 90
compact_compaction_tokens_sum{when="after"} 30
compact_unpriced_calls_total{model="m"} 1
compact_window_usage_count{model="m"} -
compact_estimated_prompts_usd_total{model="m"} -`},
	{trace.Preflight{Model: "m", Triggered: true, ErrorType: "ArchiveFailed", TokensIn: 100, TokensAfter: 100}, `
compact_calls_total{outcome="failed"} 1
compact_calls_total{outcome="compacted"} 0
compact_compactions_total{stage="",reason=""} -
compact_sent_tokens_total{model="m"} -
compact_preflight_duration_seconds_count{outcome="failed"} 1`},
	{trace.Preflight{Model: "a\"b\\c\nd", TokensIn: 100, TokensAfter: 80}, `compact_history_tokens_total{model="a\"b\\c\nd"} 100`},
	{trace.Archival{Bytes: 4711}, `
compact_archive_duration_seconds_sum{result="ok"} 0.25
compact_archived_bytes_total 4711`},
	{trace.Archival{Bytes: 4711, ErrorType: "ArchiveFailed"}, `
compact_archive_duration_seconds_count{result="failed"} 1
compact_archived_bytes_total 0`},
	{trace.Summarize{Backend: "openai", Model: "m", PromptTokens: 900, CompletionTokens: 70, USD: 0.125}, `
compact_summaries_usd_total{model="m"} 0.125
compact_summaries_duration_seconds_sum{backend="openai",result="ok"} 0.25
gen_ai_client_operation_duration_seconds_sum{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="m",error_type=""} 0.25
gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="m",gen_ai_token_type="input"} 900
gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="m",gen_ai_token_type="output"} 70`},
	{trace.Summarize{Backend: "openai", Model: "m", ErrorType: "SummarizerFailed", Cause: "timeout"}, `
compact_summaries_duration_seconds_count{backend="openai",result="failed"} 1
gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="m",error_type="timeout"} 1
gen_ai_client_token_usage_count{gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="m",gen_ai_token_type="input"} -`},
	{trace.Summarize{Backend: "openai", Model: "m", Unused: true, USD: 7, Relative: true}, `
compact_summaries_usd_total{model="m"} -
compact_summaries_duration_seconds_count{backend="openai",result="unused"} 1`},
	{trace.Summarize{Backend: "extractive"}, `
compact_summaries_duration_seconds_count{backend="extractive",result="ok"} 1
gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="chat",gen_ai_provider_name="extractive",gen_ai_request_model="",error_type=""} -`},
	{trace.SummaryCreated{SummaryTokens: 480, InventedRemoved: 2}, `
compact_summaries_tokens_sum 480
compact_summaries_tokens_bucket{le="250"} 0
compact_summaries_tokens_bucket{le="500"} 1
compact_summaries_invented_total 2`},
	{trace.SummaryAttempt{Cause: "refused"}, `compact_summaries_failed_attempts_total{cause="refused"} 1`},
	{trace.PrunedMessages{SummarizedCount: 4, DroppedCount: 3, MaskedCount: 2, TruncatedCount: 1, PrunedCount: 7}, `
compact_taken_messages_total{became="summarized"} 4
compact_taken_messages_total{became="dropped"} 3
compact_taken_messages_total{became="masked"} 2
compact_taken_messages_total{became="truncated"} 1`},
	{trace.Error{ErrorType: "SummarizerFailed", Cause: "unavailable", Fallback: trace.FallbackPruning}, `
compact_errors_total{error_type="SummarizerFailed"} 1
compact_errors_total{error_type="ArchiveFailed"} 0
compact_error_causes_total{cause="unavailable"} 1
compact_fallbacks_total{fallback="pruning-only"} 1
compact_fallbacks_total{fallback="none"} -`},
	{trace.Error{ErrorType: "InsufficientBudget"}, `
compact_errors_total{error_type="InsufficientBudget"} 1
compact_fallbacks_total{fallback="none"} -
compact_fallbacks_total{fallback="pruning-only"} 0`},
	{trace.Refused{Retried: true, Model: "m", In: 900, Estimated: 300, EstimatedUSD: 0.25, WholeUSD: 0.5}, `
compact_refusals_total{retried="true"} 1
compact_refusals_total{retried="false"} 0
compact_unbilled_history_tokens_total{model="m"} 900
compact_unbilled_sent_tokens_total{model="m"} 300
compact_unbilled_prompts_usd_total{model="m"} 0.25
compact_unbilled_whole_prompts_usd_total{model="m"} 0.5`},
	{trace.ProviderError{Model: "m", Status: 529, In: 900, Estimated: 300, EstimatedUSD: 0.25, WholeUSD: 0.5}, `
compact_provider_errors_total{status="529"} 1
compact_unbilled_history_tokens_total{model="m"} 900
compact_unbilled_sent_tokens_total{model="m"} 300
compact_unbilled_prompts_usd_total{model="m"} 0.25
compact_unbilled_whole_prompts_usd_total{model="m"} 0.5`},
	{trace.ProviderError{Model: "m", Relative: true, EstimatedUSD: 0.25}, `
compact_provider_errors_total{status="0"} 1
compact_unbilled_prompts_usd_total{model="m"} -`},
	{trace.Recalled{Found: true}, `compact_recalls_total{result="found"} 1`},
	{trace.Recalled{}, `compact_recalls_total{result="not_found"} 1`},
	{trace.Recalled{ErrorType: "Error"}, `
compact_recalls_total{result="failed"} 1
compact_recalls_total{result="not_found"} 0`},
	{trace.CallUsage{Model: "m", Measured: 1000, Estimated: 1030, Cached: 600, Written: 300, Output: 50, CacheKnown: true, MeasuredUSD: 0.75, Break: &trace.CacheBreak{Tokens: 200}}, `
compact_billed_prompt_tokens_total{model="m"} 1000
compact_billed_cached_tokens_total{model="m"} 600
compact_billed_written_tokens_total{model="m"} 300
compact_billed_output_tokens_total{model="m"} 50
compact_estimate_error_sum 3
compact_estimate_error_bucket{le="2"} 0
compact_estimate_error_bucket{le="5"} 1
compact_cache_breaks_total 1
compact_cache_broken_tokens_total 200
compact_billed_calls_total{model="m"} 1
compact_measured_usd_total{model="m"} 0.75`},
	{trace.CallUsage{Model: "m", Measured: 1000, Cached: 600, Relative: true, MeasuredUSD: 7}, `
compact_billed_prompt_tokens_total{model="m"} 1000
compact_billed_cached_tokens_total{model="m"} -
compact_cache_breaks_total 0
compact_measured_usd_total{model="m"} -`},
	{trace.CallUsage{Model: "m", Measured: 1000, Compacted: 900, Estimated: 500}, `
compact_billed_calls_total{model="m"} 1
compact_estimate_error_count -`},
	{trace.CallUsage{Model: "m", Measured: 9000, ToolRounds: true, Estimated: 500}, `
compact_billed_prompt_tokens_total{model="m"} 9000
compact_estimate_error_count -`},
	{trace.CallUsage{Model: "m", Measured: 400, Cleared: 600, Estimated: 1030}, `compact_estimate_error_sum 3`},
	{trace.ObservedUsage{Model: "m", Measured: 1000, Cached: 700, Written: 200, Output: 30, CacheKnown: true}, `
compact_billed_prompt_tokens_total{model="m"} 1000
compact_billed_cached_tokens_total{model="m"} 700
compact_billed_written_tokens_total{model="m"} 200
compact_billed_output_tokens_total{model="m"} 30
compact_billed_calls_total{model="m"} 1`},
	{trace.Observed{Model: "m", WouldCompact: true, Stage: "summarization", CallStage: "masking", Reason: trace.ReasonUsage, Estimated: 100, Projected: 40, WouldFail: "InsufficientBudget"}, `
compact_observed_calls_total{model="m"} 1
compact_observed_tokens_total{model="m"} 100
compact_projected_tokens_total{model="m"} 40
compact_projected_compactions_total{stage="masking",reason="usage_pct >= trigger_pct"} 1
compact_projected_failures_total{error_type="InsufficientBudget"} 1
compact_sent_tokens_total{model="m"} -`},
	{trace.RedactionDisabled{}, `compact_redaction_disabled_total 1`},
}

func TestEachPayloadIsCounted(t *testing.T) {
	for _, c := range counted {
		m := metrics.New(nil)
		count(t, m, event(c.payload, 250*time.Millisecond))
		got := lines(m)
		for want := range strings.Lines(strings.TrimSpace(c.want)) {
			i := strings.LastIndexByte(want, ' ')
			key, n := want[:i], strings.TrimSpace(want[i+1:])
			if v, there := got[key]; n == "-" && there || n != "-" && v != n {
				t.Errorf("%T: %s is %q, want %s", c.payload, key, v, n)
			}
		}
	}
}

// Each family is counted by one of the payloads above, so no family is unused.
func TestEveryFamilyMatchesAModel(t *testing.T) {
	m := metrics.New(nil)
	for _, c := range counted {
		count(t, m, event(c.payload, time.Millisecond))
	}
	for _, f := range m.Snapshot() {
		total := 0.0
		for _, p := range f.Points {
			total += p.Value
		}
		if total == 0 && !strings.HasPrefix(f.Name, "compact.events.") && !strings.HasPrefix(f.Name, "compact.spool.") {
			t.Errorf("%s: nothing counts it", f.Name)
		}
		if f.Help == "" || !strings.HasSuffix(f.Help, ".") || f.Unit == "" {
			t.Errorf("%s: help %q, unit %q", f.Name, f.Help, f.Unit)
		}
	}
}

// Label values from outside are bounded in number and length, and no value breaks the
// format.
func TestLabelsAreBounded(t *testing.T) {
	m := metrics.New(&metrics.Options{MaxValues: 7})
	for i := range 200 {
		name := fmt.Sprintf("model \"%d\"\\\n\x00\xff", i) + strings.Repeat("x", 500)
		count(t, m, event(trace.Preflight{Model: name, Reason: name, CallStage: name, Triggered: true, TokensIn: 1, Timings: map[string]float64{name: 1}}, 0))
	}
	points := 0
	for _, f := range m.Snapshot() {
		points += len(f.Points)
		if len(f.Points) > 12+8*8 {
			t.Errorf("%s has %d series", f.Name, len(f.Points))
		}
	}
	if points > 500 {
		t.Errorf("%d series in all", points)
	}
	got := lines(m)
	if n := got[`compact_history_tokens_total{model="_other"}`]; n != "193" {
		t.Errorf("%s of 200 calls are of other models", n)
	}
	for l := range got {
		if strings.Contains(l, "\x00") || len(l) > 800 {
			t.Errorf("line %q", l)
		}
	}
	// A value that was counted before keeps its line, also if it is too long for one.
	long := "model \"0\"\\\n\x00\xff" + strings.Repeat("x", 500)
	count(t, m, event(trace.Preflight{Model: long, TokensIn: 1}, 0))
	if n := lines(m)[`compact_history_tokens_total{model="_other"}`]; n != "193" {
		t.Errorf("%s calls are of other models after one of the first model", n)
	}
}

// A number of values that is not set is the default, in options, too.
func TestOptionsWithoutANumberKeepTheValuesOfLabels(t *testing.T) {
	for _, o := range []*metrics.Options{nil, {}, {MaxValues: -1}} {
		m := metrics.New(o)
		for i := range 60 {
			count(t, m, event(trace.Preflight{Model: fmt.Sprint("m", i), TokensIn: 1}, 0))
		}
		if got := lines(m); got[`compact_history_tokens_total{model="m49"}`] != "1" || got[`compact_history_tokens_total{model="_other"}`] != "10" {
			t.Errorf("%+v: %s of 60 calls are of other models, want 10", o, got[`compact_history_tokens_total{model="_other"}`])
		}
	}
}

// A scraper would take a family without a point for one that is there.
func TestFamiliesWithoutAPointAreLeftOut(t *testing.T) {
	families := 0
	for block := range strings.SplitSeq(string(metrics.New(nil).AppendText(nil)), "# HELP ") {
		if block == "" {
			continue
		}
		families++
		name, _, _ := strings.Cut(block, " ")
		if head, points, _ := strings.Cut(block, "\n# TYPE "+name+" "); head == block || strings.Count(points, "\n") < 2 {
			t.Errorf("%s has no point", name)
		}
	}
	if families == 0 {
		t.Error("there is no family with a point")
	}
}

// Data that is not a payload of this module changes no metric.
func TestForeignEventsChangeNoMetric(t *testing.T) {
	m := metrics.New(nil)
	before := string(m.AppendText(nil))
	for _, data := range []redact.Text{redact.Lit(""), redact.Lit("no JSON"), redact.Lit(`[1]`), redact.Lit(`{"tokens_in":"many"}`)} {
		count(t, m, trace.Event{Name: trace.NameBeforeModelCall, Data: data}, trace.Event{Name: "somebody.else", Data: data})
	}
	if after := string(m.AppendText(nil)); after != before {
		t.Errorf("counted: %s", after)
	}
}

// Two managers count in the same metrics, at the same time, and nothing is lost. The
// metrics also have the counts of the pipelines about their exporters.
func TestSumsAreExactOverManagers(t *testing.T) {
	m := metrics.New(nil)
	const managers, times = 4, 250
	var all sync.WaitGroup
	for range managers {
		p := trace.NewPipeline([]trace.Exporter{m.Exporter(), &tracetest.Recorder{}}, nil)
		all.Go(func() {
			for i := range times {
				p.Emit(event(trace.Preflight{Model: "m", TokensIn: 3, TokensAfter: 1}, time.Millisecond))
				if i%25 == 0 {
					_ = m.AppendText(nil)
				}
			}
			_ = p.Close(context.Background())
		})
	}
	all.Wait()
	got := lines(m)
	for key, want := range map[string]string{
		`compact_calls_total{outcome="unchanged"}`: "1000", `compact_history_tokens_total{model="m"}`: "3000", `compact_saved_tokens_total{model="m"}`: "2000",
		`compact_events_emitted_total{exporter="metrics"}`: "1000", `compact_events_delivered_total{exporter="metrics"}`: "1000",
		`compact_events_lost_total{exporter="metrics"}`: "0", `compact_events_waiting{exporter="metrics"}`: "0",
	} {
		if got[key] != want {
			t.Errorf("%s is %s, want %s", key, got[key], want)
		}
	}
}

// An event that an exporter could not deliver is lost like one that never got to it.
func TestLostEventsAreThoseThatFailedAndThoseThatWereDropped(t *testing.T) {
	m := metrics.New(nil)
	p := trace.NewPipeline([]trace.Exporter{m.Exporter(), &tracetest.Recorder{Err: errors.New("refused")}}, &trace.PipelineOptions{OnError: func(error) {}})
	p.Emit(event(trace.Preflight{Model: "m"}, 0), event(trace.Preflight{Model: "m"}, 0))
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := lines(m)
	for name, want := range map[string]string{"emitted": "2", "delivered": "0", "lost": "2"} {
		if n := got[`compact_events_`+name+`_total{exporter="*tracetest.Recorder"}`]; n != want {
			t.Errorf("%s: %s, want %s", name, n, want)
		}
	}
}

// Metrics may outlive many managers: only the numbers of an ended manager are kept.
func TestPipelinesThatEndedAreNotKept(t *testing.T) {
	m := metrics.New(nil)
	var gone atomic.Int64
	const pipes = 20
	for range pipes {
		p := trace.NewPipeline([]trace.Exporter{m.Exporter(), &tracetest.Recorder{}}, nil)
		runtime.AddCleanup(p, func(int) { gone.Add(1) }, 0)
		p.Emit(event(trace.Preflight{Model: "m"}, time.Millisecond))
		if err := p.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); gone.Load() < pipes-2 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		runtime.GC()
	}
	if n := gone.Load(); n < pipes-2 { // one may still be in a register
		t.Errorf("%d of %d pipelines are gone", n, pipes)
	}
	if got := lines(m)[`compact_events_delivered_total{exporter="metrics"}`]; got != "20" {
		t.Errorf("%s events were delivered, want 20", got)
	}
}

func TestHandlerAnswersScrapers(t *testing.T) {
	m := metrics.New(nil)
	ask := func(method string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, httptest.NewRequest(method, "/metrics", nil))
		return w
	}
	if w := ask("GET"); w.Code != 200 || w.Header().Get("Content-Type") != metrics.ContentType || !strings.Contains(w.Body.String(), "# TYPE compact_calls_total counter\n") {
		t.Errorf("GET: %d %s", w.Code, w.Body)
	}
	if w := ask("HEAD"); w.Code != 200 || w.Body.Len() > 0 {
		t.Errorf("HEAD: %d %s", w.Code, w.Body)
	}
	if w := ask("POST"); w.Code != 405 || w.Header().Get("Allow") == "" {
		t.Errorf("POST: %d", w.Code)
	}
}

// BenchmarkCount measures the cost of one event of a call.
func BenchmarkCount(b *testing.B) {
	m := metrics.New(nil)
	e := m.Exporter()
	events := []trace.Event{event(trace.Preflight{Model: "gpt-4", Reason: trace.ReasonBelow, TokensIn: 100_000, TokensAfter: 90_000, MaxTokens: 128_000,
		Timings: map[string]float64{"count": 2, "replay": 0.1}, Bill: &trace.CallBill{Prices: "gpt-4"}}, time.Millisecond)}
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Export(context.Background(), events); err != nil {
			b.Fatal(err)
		}
	}
}
