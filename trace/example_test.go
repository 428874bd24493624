package trace_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/console"
)

// The data of an event goes through the redactor before an exporter gets the event.
func Example() {
	redactor, err := redact.New(redact.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := trace.NewPipeline([]trace.Exporter{
		console.New(os.Stdout, &console.Options{Location: time.UTC}),
	}, nil)

	start := time.Date(2026, 11, 21, 4, 10, 0, 0, time.UTC)
	payload := trace.TokenEstimate{SessionID: "7f3a", Model: "gpt-4", TEst: 112_345, MaxTokens: 128_000}
	event := trace.New(payload, redactor.JSON(trace.Encode(payload)), start, start.Add(90*time.Microsecond))
	event.Session, event.TraceID = redact.Lit("7f3a"), trace.NewTraceID()
	p.Emit(event) // returns at once

	if err := p.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 04:10:00.000  7f3a              token_estimate           90µs  ok     112345 / 128000 tokens (87.8%)
}
