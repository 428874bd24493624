package console_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/console"
)

func Example() {
	r, err := redact.New(redact.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	start := time.Date(2026, 11, 21, 4, 10, 0, 0, time.UTC)
	payload := trace.TokenEstimate{SessionID: "7f3a", Model: "gpt-4", TEst: 112_345, MaxTokens: 128_000}
	event := trace.New(payload, r.JSON(trace.Encode(payload)), start, start.Add(90*time.Microsecond))
	event.Session = redact.Lit("7f3a")
	e := console.New(os.Stdout, &console.Options{Location: time.UTC})
	if err := e.Export(context.Background(), []trace.Event{event}); err != nil {
		fmt.Println(err)
	}
	// Output: 04:10:00.000  7f3a              token_estimate           90µs  ok     112345 / 128000 tokens (87.8%)
}
