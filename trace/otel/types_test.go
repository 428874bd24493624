package otel_test

import (
	"reflect"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/otel"
)

// fill sets every number of a payload: integers to 2, other numbers to x.
func fill(v reflect.Value, x float64) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), x)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), x)
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(2)
	case reflect.Float64:
		v.SetFloat(x)
	}
}

func typesOf(t *testing.T, clean *redact.Redactor, p trace.Payload, x float64) map[attribute.Key]attribute.Type {
	t.Helper()
	v := reflect.New(reflect.TypeOf(p)).Elem()
	fill(v, x)
	tp, rec := provider(t)
	raw := trace.Encode(v.Interface().(trace.Payload))
	ev := trace.New(p, redact.Lit("{}"), start, start)
	ev.TraceID = trace.NewTraceID()
	ev.Data = clean.JSON(raw)
	export(t, otel.New(tp), ev)
	types := map[attribute.Key]attribute.Type{}
	for _, a := range rec.Ended()[0].Attributes() {
		types[a.Key] = a.Value.Type()
	}
	return types
}

// A backend that has seen a key as a whole number refuses it as a fraction.
func TestNoKeyChangesItsType(t *testing.T) {
	clean, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []trace.Payload{
		trace.Preflight{}, trace.TokenEstimate{}, trace.TriggerDecision{}, trace.Archival{}, trace.Summarize{}, trace.SummaryCreated{},
		trace.MaskedObservations{}, trace.TruncatedResults{}, trace.PrunedMessages{}, trace.Error{}, trace.RedactionDisabled{},
		trace.Observed{}, trace.WouldCompact{}, trace.ObservedUsage{}, trace.CallUsage{},
		trace.Refused{}, trace.ProviderError{}, trace.Recalled{}, trace.SummaryBegun{}, trace.SummaryAttempt{},
	} {
		whole, fraction := typesOf(t, clean, p, 1), typesOf(t, clean, p, 0.5)
		for k, is := range fraction {
			if whole[k] != is {
				t.Errorf("%T: %s is %v for 1 and %v for 0.5", p, k, whole[k], is)
			}
		}
	}
}
