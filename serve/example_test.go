package serve_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
	"github.com/agentcompact/compact/storage/memory"
)

// A Handler serves a provider under the path of the provider's name.
func Example() {
	ctx := context.Background()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, "asked for ", r.URL.Path)
	}))
	defer provider.Close()
	m, err := compact.New(ctx, compact.Config{Model: "gpt-4", Archive: memory.New(), ArchiveKey: compact.Secret(strings.Repeat("ab", 32))})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = m.Close(ctx) }()
	h, err := serve.New(m, serve.Config{Upstreams: map[string]string{"openai": provider.URL}})
	if err != nil {
		fmt.Println(err)
		return
	}
	proxy := httptest.NewServer(h)
	defer proxy.Close()
	answer, err := http.Get(proxy.URL + "/openai/v1/models")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	fmt.Println(string(body), err)
	// Output: asked for /v1/models <nil>
}
