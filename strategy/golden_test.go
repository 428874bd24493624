package strategy_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/strategy"
)

var update = flag.Bool("update", false, "write what is into the golden files")

// runs is the number of times that each golden summary is written. Each run must give the
// same bytes.
func runs() int { return samples.Of(25) }

// session returns a part of a recorded session; see examples/record.
func session(t testing.TB) []message.Message {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	msgs, _, err := openai.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

// file returns a file of an archive.
func file(a *txtar.Archive, name string) *txtar.File {
	for i := range a.Files {
		if a.Files[i].Name == name {
			return &a.Files[i]
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name})
	return &a.Files[len(a.Files)-1]
}

// config reads "key: value" lines.
func config(t *testing.T, f *txtar.File) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(f.Data)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			t.Fatalf("config line %q", line)
		}
		out[key] = value
	}
	return out
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Each file in testdata/golden holds a range of messages of the session, a configuration,
// and the expected summary.
func TestGoldenSummaries(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.txtar"))
	if err != nil || len(files) < len(strategy.Names()) {
		t.Fatalf("%d golden files, error %v", len(files), err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c := config(t, file(a, "config"))
			st, err := strategy.Lookup(c["strategy"])
			if err != nil {
				t.Fatal(err)
			}
			msgs := session(t)
			in := summarize.Input{Messages: msgs[number(t, c["from"]):number(t, c["to"])], Previous: strings.TrimSpace(string(file(a, "previous").Data)), Count: count4}
			w := summarize.Writer{Strategy: st, MaxTokens: number(t, c["max_tokens"])}
			first := ""
			for i := range runs() {
				sum, err := w.Write(context.Background(), in)
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					first = sum.Text
				} else if sum.Text != first {
					t.Fatalf("run %d differs: %s", i, cmp.Diff(first, sum.Text))
				}
			}
			if *update {
				file(a, "want").Data = []byte(first + "\n")
				if err := os.WriteFile(path, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(file(a, "want").Data), first+"\n"); d != "" {
				t.Error(d)
			}
		})
	}
}
