package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agentcompact/compact/strategy/openai"
)

const answer = `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"## Decisions\n- an array instead of a map"},"finish_reason":"stop"}]}`

// against returns a recorder for a server that answers with these statuses, and repeats the
// last status.
func against(t *testing.T, status ...int) (*recorder, *[]byte) {
	t.Helper()
	session, err := readSession("", filepath.Join("..", "testdata", "exchange.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	seen, n := new([]byte), 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*seen = body
		w.WriteHeader(status[min(n, len(status)-1)])
		n++
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	key := openai.Key("sk-" + strings.Repeat("k", 20))
	return &recorder{config: openai.Config{Model: "gpt-4o-mini", BaseURL: s.URL + "/v1", APIKey: key}, note: "a test", session: session}, seen
}

func TestRecorderWritesTheExchange(t *testing.T) {
	r, seen := against(t, 200)
	data, err := r.record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(data)
	files := map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	if files[responseFile] != answer+"\n" || files[sessionFile] != string(r.session) {
		t.Errorf("files %v", files)
	}
	squeeze := strings.NewReplacer(" ", "", "\n", "")
	if len(*seen) == 0 || squeeze.Replace(files[requestFile]) != squeeze.Replace(string(*seen)) {
		t.Errorf("request %s", files[requestFile])
	}
	if !strings.Contains(files[summaryFile], "an array instead of a map") || !strings.Contains(string(a.Comment), "a test") {
		t.Errorf("summary %s, comment %s, want text with %q", files[summaryFile], a.Comment, "an array instead of a map")
	}
	if strings.Contains(string(data), string(r.config.APIKey)) || strings.Contains(string(data), "sk-k") {
		t.Error("the key is in the file")
	}
}

func TestRecorderRefusesSeveralExchanges(t *testing.T) {
	r, _ := against(t, 500, 200)
	if _, err := r.record(t.Context()); err == nil || !strings.Contains(err.Error(), "2 requests") {
		t.Errorf("error %v, want one about 2 requests", err)
	}
}

func TestRecorderRequiresTheServerAndANote(t *testing.T) {
	r, _ := against(t, 200)
	r.note = ""
	if _, err := r.record(t.Context()); !errors.Is(err, errSource) {
		t.Errorf("error %v, want errSource", err)
	}
}

func TestFixtureHoldsTheExtractiveSummary(t *testing.T) {
	r, _ := against(t, 200)
	data, err := r.fixture(t.Context())
	if err != nil || !strings.Contains(string(data), `## Goals and success criteria\n`) {
		t.Errorf("error %v, fixture %s", err, data)
	}
}
