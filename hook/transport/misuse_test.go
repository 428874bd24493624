package transport_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/storage/memory"
)

// A program that ignores the error of compact.New learns it from the log, and its agent
// continues.
func TestTransportWithoutAManagerSaysSo(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(old)
	client := &http.Client{Transport: transport.New(nil)}
	for range 2 {
		resp, err := client.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[]}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%v, %v", resp.Status, err)
		}
	}
	strict := &http.Client{Transport: transport.New(nil, transport.Strict())}
	if resp, err := strict.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{}`)); err == nil || !strings.Contains(err.Error(), "check the error of compact.New") {
		t.Errorf("strict: %v, %v; want an error with %q", resp, err, "check the error of compact.New")
	}
	if strings.Count(log.String(), "check the error of compact.New") != 1 {
		t.Errorf("the log is %q", log.String())
	}
}

func TestNilOptionIsIgnored(t *testing.T) {
	m, err := compact.New(t.Context(), compact.Config{Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(t.Context()) }()
	transport.New(m, nil)
}
