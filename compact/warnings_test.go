package compact_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
)

// leakyWriter is a summarizer whose error contains a secret.
type leakyWriter struct{}

func (leakyWriter) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{}, errors.New("no model for " + leak)
}

// leakyReader is an archive that can't be read, and whose error contains a
// secret.
type leakyReader struct {
	storage.Archive
	broken bool
}

func (a *leakyReader) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if a.broken {
		return nil, &storage.Error{Op: "open", Key: k, Err: errors.New("no way to " + leak)}
	}
	return a.Archive.Open(ctx, k, off, n)
}

// refusing returns a request whose wire rules refuse it, with a secret in the text.
func refusing(history []message.Message, rule func(sources []int) bool) compact.Option {
	return compact.WithRequest(&ruled{msgs: history, check: func(_ []message.Message, sources []int) []wire.Violation {
		if rule(sources) {
			return []wire.Violation{{Check: "nothing_made", Detail: "not with " + leak}}
		}
		return nil
	}})
}

func made(sources []int) bool { return slices.Contains(sources, -1) }

func goOn(c compact.Config) compact.Config {
	c.Storage.OnError = "continue"
	return c
}

// leaks makes, for each file and text, a call with a warning whose text comes
// from outside and contains a secret.
var leaks = map[string]func(t *testing.T) *compact.Result{
	"store.go: nothing was archived": func(t *testing.T) *compact.Result {
		return newRig(t, goOn(compact.Config{MaxContextTokens: 24_000, Archive: leakyArchive{memory.New()}})).preflight(turns(60, 200))
	},
	"warnings.go: nothing is archived": func(t *testing.T) *compact.Result {
		return newRig(t, goOn(compact.Config{MaxContextTokens: 24_000, Archive: &leakyReader{memory.New(), true}})).preflight(turns(60, 200))
	},
	"tidy.go: were sent whole": func(t *testing.T) *compact.Result {
		return newRig(t, tidyConfig(&slowEdits{Archive: memory.New(), fail: errors.New("no bucket " + leak)})).preflight(tidyLoop(1))
	},
	"report.go: would refuse the view": func(t *testing.T) *compact.Result { // the discarded edits
		history := turns(50, 200)
		return newRig(t, compact.Config{MaxContextTokens: 24_000}).preflight(history, refusing(history, made))
	},
	"report.go: summary failed": func(t *testing.T) *compact.Result {
		return newRig(t, compact.Config{MaxContextTokens: 24_000, Summarize: leakyWriter{}}).preflight(turns(60, 200))
	},
	"look.go: edits of an earlier compaction": func(t *testing.T) *compact.Result {
		history := turns(50, 200)
		r := newRig(t, compact.Config{MaxContextTokens: 24_000})
		r.preflight(history)
		return r.preflight(history, refusing(history, made))
	},
	"originals.go: could be read back": func(t *testing.T) *compact.Result {
		a := &leakyReader{Archive: memory.New()}
		r := newRig(t, compact.Config{MaxContextTokens: 24_000, Archive: a})
		first := r.preflight(loop(60, 400))
		if first.MaskedCount == 0 {
			t.Fatal("nothing was masked")
		}
		a.broken = true
		res, err := r.ManualCompact(t.Context(), "s", append(first.Messages, round(900, 200)...), "")
		if res == nil {
			t.Fatal(err)
		}
		return res
	},
	"warnings.go: is not known": func(t *testing.T) *compact.Result {
		return newRig(t, compact.Config{Model: "gpt-4o", MaxContextTokens: 200_000}).preflight(loop(2, 50), compact.WithModel("model-"+leak))
	},
	"warnings.go: no price of model": func(t *testing.T) *compact.Result {
		c, err := compact.Preset("economy")
		if err != nil {
			t.Fatal(err)
		}
		c.Model, c.MaxContextTokens = "in-house-"+leak, 100_000
		return newRig(t, c).preflight(turns(1, 20))
	},
	"shadow.go: observe:": func(t *testing.T) *compact.Result {
		history := turns(60, 200)
		r := newRig(t, compact.Config{MaxContextTokens: 24_000})
		return r.preflight(history, compact.WithObserve(), compact.WithRequest(&ruled{msgs: history, check: func([]message.Message, []int) []wire.Violation { panic(leak) }}))
	},
	"shadow.go: the hook, which only observes": func(t *testing.T) *compact.Result {
		return newRig(t, compact.Config{Observe: true}).preflight(turns(1, 20), compact.WithProtected(func(message.Message) bool { panic(leak) }))
	},
}

// plain are warnings with only numbers and fixed words.
var plain = map[string]int{"ask_agent.go": 1, "report.go": 3, "commit.go": 1, "reserve.go": 1, "bytes.go": 1, "finish.go": 1, "call_run.go": 1, "shadow.go": 3, "cache.go": 1, "warnings.go": 4, "look.go": 1}

func TestWarningsAreFreeOfSecretsWhereverTheyAreMade(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(leaks)) {
		t.Run(name, func(t *testing.T) {
			_, words, _ := strings.Cut(name, ": ")
			said := strings.Join(leaks[name](t).Warnings, "\n")
			if !strings.Contains(said, words) || strings.Contains(said, leak) || strings.Contains(said, leak[8:24]) {
				t.Errorf("warnings %q, want text with %q", said, words)
			}
		})
	}
}

// Each place in the code that makes a warning is in one of the tables above.
func TestEveryPlaceThatMakesAWarningIsInTheTable(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	known := maps.Clone(plain)
	for name := range leaks {
		file, _, _ := strings.Cut(name, ": ")
		known[file]++
	}
	place := regexp.MustCompile(`Warnings = (append|\[\]string)`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(place.FindAll(data, -1)); n != known[file] {
			t.Errorf("%s makes %d warnings, the tables have %d", file, n, known[file])
		}
	}
}
