package openai

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agentcompact/compact/internal/summarize"
	codec "github.com/agentcompact/compact/message/openai"
)

var update = flag.Bool("update", false, "store the actual request and summary in the exchange file")

// runs is the number of replays of the exchange. Each replay must give the same bytes.
const runs = 100

// TestRecordedExchangeGivesTheSameSummaryEachTime replays the exchange that the recorder
// (strategy/openai/record) stored: the request must equal the stored request byte for byte
// (seed 42, temperature 0), and the stored answer must become the stored summary. The
// stored answer came over the wire from an independent server, @copilotkit/aimock, without
// a model: it is the summary of the extractive backend for the session.
func TestRecordedExchangeGivesTheSameSummaryEachTime(t *testing.T) {
	path := filepath.Join("testdata", "exchange.txtar")
	a, err := txtar.ParseFile(path)
	if err != nil || len(a.Files) != 4 {
		t.Fatalf("%d files, error %v; want 4 and no error", len(a.Files), err)
	}
	session, request, response, want := &a.Files[0], &a.Files[1], &a.Files[2], &a.Files[3]
	msgs, _, err := codec.Parse(session.Data)
	if err != nil {
		t.Fatal(err)
	}
	var asked []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		asked = indent(t, body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(response.Data)
	}))
	defer s.Close()
	c, err := New(Config{Model: "gpt-4o-mini", BaseURL: s.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		sum, err := summarize.Writer{Summarizer: c, MaxTokens: 400}.Write(t.Context(), summarize.Input{Messages: msgs, Count: count})
		if err != nil {
			t.Fatal(err)
		}
		if *update && i == 0 {
			request.Data = asked // the stored answer stays
		}
		if d := cmp.Diff(string(request.Data), string(asked)); d != "" {
			t.Fatalf("request of run %d; record the exchange again: %s", i, d)
		}
		if *update && i == 0 {
			want.Data = []byte(sum.Text + "\n")
			if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(string(want.Data), sum.Text+"\n"); d != "" {
			t.Fatalf("summary of run %d: %s", i, d)
		}
	}
	if !bytes.Contains(asked, []byte(`"seed": 42`)) || !bytes.Contains(asked, []byte(`"temperature": 0,`)) {
		t.Errorf("request without seed or temperature: %.300s", asked)
	}
}

// indent makes a request readable without changing keys and values.
func indent(t *testing.T, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		t.Error(err)
	}
	return append(b.Bytes(), '\n')
}
