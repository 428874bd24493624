package transport_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/storage/memory"
)

// An agent sends its whole history, far above the window; the provider gets a
// view that fits.
func ExampleNew() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		fmt.Println("the provider got less than a fifth of it:", len(body) < 70_000)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[],"usage":{"prompt_tokens":9000}}`)
	}))
	defer provider.Close()

	ctx := context.Background()
	m, err := compact.New(ctx, compact.Config{Model: "gpt-4o", MaxContextTokens: 16_000, Archive: memory.New()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = m.Close(ctx) }()
	client := &http.Client{Transport: transport.New(m)}

	history := forms()[0].body("Fix it.", 100, 700) // about 370 kB
	ctx = transport.WithSession(ctx, "fix-17")
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, provider.URL+"/v1/chat/completions", bytes.NewReader([]byte(history)))
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	fmt.Println(resp.Status)
	// Output:
	// the provider got less than a fifth of it: true
	// 200 OK
}
