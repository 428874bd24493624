package otel_test

import (
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/otel"
	"github.com/agentcompact/compact/trace/tracetest"
)

// one exports an event of the sample, changed, and returns its span.
func one(t *testing.T, i int, change func(*trace.Event), opts ...otel.Option) sdktrace.ReadOnlySpan {
	t.Helper()
	tp, rec := provider(t)
	ev := tracetest.Sample(start)[i]
	ev.ParentID = ""
	change(&ev)
	export(t, otel.New(tp, opts...), ev)
	return rec.Ended()[0]
}

const summarize, created = 3, 4 // in the sample

// Backends such as Langfuse take every span that names a model for a generation.
func TestOnlyModelCallsNameAModel(t *testing.T) {
	tp, rec := provider(t)
	export(t, otel.New(tp), tracetest.Sample(start)...)
	for _, s := range rec.Ended() {
		call := strings.HasPrefix(s.Name(), "chat")
		if _, named := attributes(s)["gen_ai.request.model"]; named && !call {
			t.Errorf("%s names a model", s.Name())
		}
	}
}

func TestContentIsOptIn(t *testing.T) {
	secretly := func(ev *trace.Event) {
		ev.Data = redact.Lit(`{"session_id":"s","model":"m","backend":"openai","payload":{"document":"The plan"},"output_text":"The plan"}`)
	}
	for _, i := range []int{summarize, created} {
		for _, a := range one(t, i, secretly).Attributes() {
			if strings.Contains(a.Value.String(), "The plan") {
				t.Errorf("%s has %s without the option Content", tracetest.Sample(start)[i].Name, a.Key)
			}
		}
		if got := attributes(one(t, i, secretly, otel.Content()))["compact.output_text"]; got != "The plan" {
			t.Errorf("with Content the output text is %v", got)
		}
	}
	got, _ := attributes(one(t, summarize, secretly, otel.Content()))["gen_ai.output.messages"].(string)
	if want := `[{"finish_reason":"stop","parts":[{"content":"The plan","type":"text"}],"role":"assistant"}]`; got != want {
		t.Errorf("gen_ai.output.messages = %s", got)
	}
	// Failures and the texts of this module are not content.
	if got := attributes(one(t, 0, func(*trace.Event) {}))["compact.output_text"]; got == nil {
		t.Error("a text of this module is missing")
	}
	fail := func(ev *trace.Event) {
		ev.Status, ev.Data = trace.StatusError, redact.Lit(`{"backend":"openai","error_type":"SummarizerFailed","cause":"timeout","output_text":"no answer in 60s"}`)
	}
	if got := attributes(one(t, summarize, fail, otel.Content())); got["gen_ai.output.messages"] != nil || got["compact.output_text"] != "no answer in 60s" {
		t.Errorf("a failure is no message of the model: %v", got)
	}
	s := one(t, summarize, fail)
	if got := attributes(s); got["compact.output_text"] != "no answer in 60s" || got["error.type"] != "timeout" || got["compact.error_type"] != "SummarizerFailed" || s.Name() != "chat" {
		t.Errorf("a failure: %s %v", s.Name(), got)
	}
}

func TestOnlyNamedSessionsHaveAConversationID(t *testing.T) {
	s := attributes(one(t, 0, func(ev *trace.Event) { ev.Session = redact.Lit("unnamed:4711") }))
	if s["gen_ai.conversation.id"] != nil || s["compact.session_id"] != "unnamed:4711" {
		t.Errorf("%v", s)
	}
}

func TestSummaryMarksTheConversationAsCompacted(t *testing.T) {
	tp, rec := provider(t)
	export(t, otel.New(tp), tracetest.Sample(start)...)
	for _, s := range rec.Ended() {
		got, marked := attributes(s)["gen_ai.conversation.compacted"]
		if want := s.Name() == trace.NameSummaryCreated; marked != want || marked && got != true {
			t.Errorf("%s: %v", s.Name(), got)
		}
	}
}

func TestCallersSpanIsMarkedOnRequest(t *testing.T) {
	for _, wanted := range []bool{true, false} {
		for _, summary := range []bool{true, false} {
			tp, rec := provider(t)
			var opts []otel.Option
			if wanted {
				opts = append(opts, otel.MarkCaller())
			}
			e := otel.New(tp, opts...)
			ctx, caller := tp.Tracer("agent").Start(t.Context(), "invoke_agent")
			traceID, parentID, _ := trace.FromContext(e.Join(ctx))
			events := tracetest.Sample(start)
			if !summary {
				events = slices.Delete(events, created, created+1)
			}
			for i := range events {
				events[i].TraceID = traceID
			}
			events[len(events)-1].ParentID = parentID
			export(t, e, events...)
			caller.End()
			if got := attributes(named(t, rec.Ended(), "invoke_agent"))["gen_ai.conversation.compacted"]; (got == true) != (wanted && summary) {
				t.Errorf("wanted %v, summary %v: %v", wanted, summary, got)
			}
		}
	}
}

// In a long call, more events than may wait can come before the event of the call, and the
// span of its summary is made without it.
func TestCallersSpanIsMarkedAfterALongCall(t *testing.T) {
	tp, rec := provider(t)
	e := otel.New(tp, otel.MarkCaller())
	ctx, caller := tp.Tracer("agent").Start(t.Context(), "invoke_agent")
	traceID, parentID, _ := trace.FromContext(e.Join(ctx))
	events := tracetest.Sample(start)
	for i := range events {
		events[i].TraceID = traceID
	}
	call := &events[len(events)-1]
	call.ParentID = parentID
	export(t, e, slices.Repeat(events[:len(events)-1], 700)...)
	export(t, e, *call)
	caller.End()
	if got := attributes(named(t, rec.Ended(), "invoke_agent"))["gen_ai.conversation.compacted"]; got != true {
		t.Errorf("the caller's span is marked: %v", got)
	}
}

func TestAttributesHaveOneOrder(t *testing.T) {
	keys := func() (all []attribute.Key) {
		for _, a := range one(t, 1, func(*trace.Event) {}).Attributes() {
			all = append(all, a.Key)
		}
		return all
	}
	first := keys()
	for range 20 {
		if again := keys(); !slices.Equal(first, again) {
			t.Fatalf("%v\nand then %v", first, again)
		}
	}
}

func TestScopeNamesItsConventions(t *testing.T) {
	s := one(t, 0, func(*trace.Event) {}).InstrumentationScope()
	if !strings.HasPrefix(s.SchemaURL, "https://opentelemetry.io/schemas/") || s.Name == "" {
		t.Errorf("scope %+v", s)
	}
}

// A search pattern is content, even in the description of a failure.
func TestSearchPatternCountsAsContent(t *testing.T) {
	search := trace.Recalled{SessionID: "s", Pattern: "the plan", ErrorType: "ArchiveFailed"}
	failed := func(ev *trace.Event) {
		*ev = trace.New(search, redact.Lit(""), ev.Start, ev.End)
		ev.Data = redact.Lit(`{"session_id":"s","pattern":"the plan","error_type":"ArchiveFailed","output_text":"recall /the plan/ failed: ArchiveFailed"}`)
	}
	s := one(t, 0, failed)
	if got := s.Status().Description; s.Status().Code != codes.Error || strings.Contains(got, "the plan") || !strings.Contains(got, "ArchiveFailed") {
		t.Errorf("without Content: %v %q", s.Status().Code, got)
	}
	if got := one(t, 0, failed, otel.Content()).Status().Description; !strings.Contains(got, "the plan") {
		t.Errorf("with Content: %q", got)
	}
}
