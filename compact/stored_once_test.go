package compact_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// messagesIn counts how often the files of the session "s" have each message of more than
// 600 bytes, by fingerprint. A reference to a short message would be as long as the message.
func messagesIn(t *testing.T, a storage.Archive) map[string]int {
	t.Helper()
	count := map[string]int{}
	for name, data := range filesOf(t, a) {
		if !record.HasMessages(name) && name != "edits.jsonl" {
			continue
		}
		for line := range strings.Lines(data) {
			if _, rest, ok := strings.Cut(line, `"meta":{"fp":"`); ok && len(line) > 600 {
				count[rest[:32]]++
			}
		}
	}
	return count
}

// A message that a call between two steps changed is stored once: steps, final transcripts
// and other processes refer to it. Each way back leads to it, in each process, and with
// storage.repeat "full" the step has it again.
func TestChangedMessageIsStoredOnce(t *testing.T) {
	_, keys := ageKeys(t)
	archives := map[string]func() storage.Archive{
		"memory":    func() storage.Archive { return memory.New() },
		"encrypted": func() storage.Archive { return crypt.New(memory.New(), keys) },
		"fs": func() storage.Archive {
			a, err := fs.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = a.Close() })
			return a
		},
	}
	configs := map[string]func(a storage.Archive) compact.Config{
		"tidy": func(a storage.Archive) compact.Config {
			c := tidyConfig(a, "truncate", "mask", "summarize", "shrink", "squeeze")
			c.MaxContextTokens = 24_000
			return c
		},
		"masking": func(a storage.Archive) compact.Config { return everyCallConfig("masking", a) },
	}
	for kind, open := range archives {
		for preset, config := range configs {
			for _, repeat := range []string{"reference", "full"} {
				t.Run(kind+" "+preset+" "+repeat, func(t *testing.T) {
					c := config(open())
					c.Storage.Repeat = repeat
					storedOnce(t, c)
				})
			}
		}
	}
}

func storedOnce(t *testing.T, c compact.Config) {
	t.Helper()
	history := tidyLoop(50)
	for half := range 2 { // the second process goes on
		m := costRig(t, c)
		eachCall(t, m, history[:len(history)*(half+1)/2], nil)
		if half == 1 {
			if err := m.Archive(t.Context(), "s", history); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	verified(t, c.Archive)
	again := 0
	for _, n := range messagesIn(t, c.Archive) {
		again += n - 1
	}
	// With masking, the message that the one call in 32 with a step changes is in no log.
	if full := c.Storage.Repeat == "full"; full != (again > 1) {
		t.Errorf("messages are stored %d times again", again)
	}
	for name, data := range filesOf(t, c.Archive) {
		if c.Storage.Repeat == "full" && record.HasMessages(name) && strings.Contains(data, `{"from":`) {
			t.Errorf("%s has references, and storage.repeat is full", name)
		}
	}
	s, err := record.OpenSession(t.Context(), c.Archive, "s")
	if err != nil {
		t.Fatal(err)
	}
	var final []byte
	for line, err := range s.Lines(t.Context(), "transcript-final-001.jsonl") {
		if err != nil {
			t.Fatal(err)
		}
		final = append(append(final, line...), '\n')
	}
	if n := bytes.Count(final, []byte("\n")); n != len(history) || bytes.Contains(final, []byte(`{"from":`)) {
		t.Errorf("the final transcript has %d messages of %d", n, len(history))
	}
	recallsAll(t, costRig(t, c), history)
}

// recallsAll fails unless each result is recalled by its reference and with its turn.
func recallsAll(t *testing.T, m *compact.CompactManager, history []message.Message) {
	t.Helper()
	for i := range slices.Backward(history) {
		if history[i].Role != message.RoleTool {
			continue
		}
		want := history[i].Parts[0]
		if got, err := m.Recall(t.Context(), "s", testkey.Ref(want)); err != nil || got != want.Text {
			t.Errorf("message %d: %.60q, %v; want %.60q", i, got, err, want.Text)
		}
	}
	for _, turn := range []string{"turn:3", "turn:20"} {
		if got, err := m.Recall(t.Context(), "s", turn); err != nil || !strings.Contains(got, "func handle") {
			t.Errorf("%s: %.80q, %v", turn, got, err)
		}
	}
}

// The log of an earlier build has each message as the body of its line, and a log can be
// forged: no step refers to such messages, and stores them itself.
func TestOnlyIntactOriginalsAreReferredTo(t *testing.T) {
	for name, change := range map[string]func(body string) string{
		"of an earlier build": func(body string) string {
			if rest, ok := strings.CutPrefix(body, `{"original":`); ok {
				return strings.TrimSuffix(rest, "}")
			}
			return body
		},
		"forged": func(body string) string { return strings.ReplaceAll(body, "func handle", "func HANDLE") },
	} {
		t.Run(name, func(t *testing.T) {
			a, history := memory.New(), tidyLoop(60)
			eachCall(t, costRig(t, everyCallConfig("masking", a)), history[:50], nil)
			n := rewriteEdits(t, a, change)
			m := costRig(t, everyCallConfig("masking", a))
			eachCall(t, m, history, nil)
			if err := m.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			steps := 0
			for file, data := range filesOf(t, a) {
				if !record.IsOriginals(file) {
					continue
				}
				steps++
				for line := range strings.Lines(data) {
					var at int
					if _, err := fmt.Sscanf(line, `{"from":"edits.jsonl","lines":[%d`, &at); err == nil && at <= n {
						t.Errorf("%s refers to line %d of the log: %s", file, at, line)
					}
				}
			}
			if steps == 0 {
				t.Fatal("no step: the test proves nothing")
			}
			recallsAll(t, costRig(t, everyCallConfig("masking", a)), history[:60])
		})
	}
}

// rewriteEdits changes the bodies of the lines of edits.jsonl, with a new chain, and returns
// their number.
func rewriteEdits(t *testing.T, a *memory.Archive, change func(string) string) int {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for l, err := range s.EditsLines(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, change(string(l.Body)))
	}
	key, err := storage.ParseKey("s/edits.jsonl")
	if err == nil {
		err = a.Remove(t.Context(), key)
	}
	if err == nil {
		s, err = record.OpenSession(t.Context(), a, "s")
	}
	if err == nil {
		_, err = s.Edits(t.Context(), asTheyAre(t, lines))
	}
	if err != nil {
		t.Fatal(err)
	}
	return len(lines)
}

// A message in the log is recalled by its turn although no step removed it: from a final
// transcript, and from the step of another agent that refers to it.
func TestLoggedMessagesOfNoStepAreRecalledByTurn(t *testing.T) {
	a, history := memory.New(), tidyLoop(30)
	m := costRig(t, tidyConfig(a, "mask"))
	eachCall(t, m, history[:32], nil)
	if err := m.Archive(t.Context(), "s", history[:32]); err != nil {
		t.Fatal(err)
	}
	whole := func(when string, turns int) {
		t.Helper()
		for n := 1; n <= turns; n++ {
			want := history[2*n+1].Parts[0].Text
			for _, turn := range []string{fmt.Sprintf("turn:%d", n), fmt.Sprintf("turn:%d:observation", n)} {
				if got, err := costRig(t, tidyConfig(a, "mask")).Recall(t.Context(), "s", turn); err != nil || !strings.HasSuffix(got, want) {
					t.Errorf("%s: %s is %.60q, %v; want %.60q", when, turn, got, err, want)
				}
			}
		}
	}
	whole("after Archive", 15)
	eachCall(t, m, history[:40], nil) // the log has grown since it was read
	if err := m.Archive(t.Context(), "s", history[:40]); err != nil {
		t.Fatal(err)
	}
	whole("after the second Archive", 19)
	res, err := m.ManualCompact(t.Context(), "s", history[:40], "", compact.WithAgent("reviewer"))
	if err != nil || res.Step != 1 {
		t.Fatal(res, err)
	}
	whole("after the step of another agent", 19)
	verified(t, a)
}

// A turn of three results is recalled whole, from the log and from the files of its step.
func TestTurnOfSeveralResultsIsRecalledWhole(t *testing.T) {
	a := memory.New()
	m := costRig(t, everyCallConfig("masking", a))
	history := []message.Message{message.User("Read all files.")}
	steps := 0
	for turn := range 80 {
		round := message.Assistant(fmt.Sprintf("Round %d.", turn))
		var results []message.Message
		for k := range 3 {
			id := fmt.Sprintf("call_%d_%d", turn, k)
			round.Parts = append(round.Parts, message.Call(id, "Read", fmt.Sprintf(`{"file_path":"/src/f%d_%d.go"}`, turn, k)))
			results = append(results, message.ToolResult(id, sourceFile(3*turn+k, 40)))
		}
		history = append(append(history, round), results...)
		res, err := m.Preflight(t.Context(), "s", history)
		if err != nil {
			t.Fatal(err)
		}
		steps = max(steps, res.Step)
	}
	if steps < 2 {
		t.Fatalf("%d steps, want at least 2", steps)
	}
	for turn := range 60 {
		got, err := m.Recall(t.Context(), "s", fmt.Sprintf("turn:%d:observation", turn+1))
		for k := range 3 {
			if want := history[4*turn+2+k].Parts[0].Text; err != nil || !strings.Contains(got, want) {
				t.Errorf("turn %d has no result %d (%v)", turn+1, k, err)
			}
		}
	}
}
