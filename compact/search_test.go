package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/recall"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
)

// needles returns a loop with a text to find in every fifth result.
func needles(rounds int) []message.Message {
	history := loop(rounds, 200)
	for i := range history {
		if history[i].Role == message.RoleTool && i%5 == 0 {
			id := history[i].Parts[0].CallID
			history[i] = message.ToolResult(id, fmt.Sprintf("first\nneedle_%d here\n%s", i, text(200)))
		}
	}
	return history
}

// gone returns the messages of a history that its view does not contain
// unchanged.
func gone(history []message.Message, res *compact.Result) (out []message.Message) {
	for i, d := range res.Decisions {
		if d.Decision.String() != "kept" {
			out = append(out, history[i])
		}
	}
	return out
}

// TestSearchFindsEveryRemovedLine: with summarizing steps and with the edits of
// a preset that works on every call, in this process and in another, each line
// once and the newest first.
func TestSearchFindsEveryRemovedLine(t *testing.T) {
	for _, preset := range []string{"graduated", "masking", "gateway", "summarize"} {
		t.Run(preset, func(t *testing.T) {
			c, err := compact.Preset(preset)
			if err != nil {
				t.Fatal(err)
			}
			c.Model, c.MaxContextTokens = "gpt-4", 8_000
			r := newRig(t, c)
			history := needles(120)
			var res *compact.Result
			for n := 20; n <= len(history); n += 20 {
				res = r.preflight(history[:n:n])
			}
			history = history[:len(res.Decisions)]
			var want []string
			for _, m := range gone(history, res) {
				if m.Role == message.RoleTool && strings.Contains(m.ResultText(), "needle_") {
					want = append(want, strings.Split(m.ResultText(), "\n")[1]+" "+testkey.Ref(m.Parts[0]))
				}
			}
			if len(want) < 5 {
				t.Fatalf("only %d were taken out, want at least 5", len(want))
			}
			if err := r.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			pattern := regexp.MustCompile(`needle_\d+`)
			found, err := r.Search(t.Context(), "s", pattern, 0)
			if err != nil {
				t.Fatal(err)
			}
			other, err := recall.Search(t.Context(), r.archive, "s", pattern, 0)
			if err != nil {
				t.Fatal(err)
			}
			for who, f := range map[string]recall.Found{"the manager": found, "a reader": other} {
				have := map[string]int{}
				for _, m := range f.Matches {
					have[m.Text+" "+m.Ref]++
					if m.Line != 2 || m.Role != message.RoleTool {
						t.Errorf("%s: %+v, want line 2 of a tool", who, m)
					}
					if whole, err := r.Recall(t.Context(), "s", m.Ref); err != nil || !strings.Contains(whole, m.Text) {
						t.Errorf("%s: recall of %s: %.60q, %v; want text with %q and no error", who, m.Ref, whole, err, m.Text)
					}
				}
				for _, w := range want {
					if have[w] != 1 {
						t.Errorf("%s found %q %d times, want 1", who, w, have[w])
					}
				}
				if f.Lines != len(f.Matches) || f.Cut {
					t.Errorf("%s: %d lines, %d matches, cut %v, want false", who, f.Lines, len(f.Matches), f.Cut)
				}
			}
			if preset == "summarize" || preset == "graduated" {
				newest := want[len(want)-1]
				if m := found.Matches[0]; m.Text+" "+m.Ref != newest {
					t.Errorf("first is %q, want the newest, %q", m.Text, newest)
				}
			}
		})
	}
}

// Lines that an earlier answer contained are counted separately from those
// above the limit, so that the model does not request them again.
func TestSearchReportsSkippedText(t *testing.T) {
	call, _, r := recallRig(t, strings.Repeat("the same\nline between\n", 3)+"the same, not quite\n"+numbers(300))
	got := call(`{"pattern":"^the same","context":1}`)
	if !strings.HasSuffix(got, "\n[2 of 4 matching lines: messages before tool results, newest first; 2 repeat one of these]") || strings.Count(got, "line between") != 2 {
		t.Errorf("got %q", got)
	}
	found, err := r.Search(t.Context(), "s", regexp.MustCompile("^the same"), 1, recall.Around(99))
	if err != nil || found.Lines != 4 || found.Same != 2 || len(found.Matches) != 51 || found.Matches[0].Near || !found.Matches[50].Near {
		t.Errorf("%d of %d lines, %d the same, %v; want 51, 4, 2 and no error", len(found.Matches), found.Lines, found.Same, err)
	}
}

func TestSearchIsBoundedAndRefusesBadInput(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	history := loop(100, 200)
	history[3] = message.ToolResult("call_0", strings.Repeat("x", 5000)+" KEY_IN_THE_MIDDLE "+strings.Repeat("y", 5000)+"\n"+strings.ReplaceAll(numbers(50), "line ", "KEY_"))
	r.preflight(history)
	found, err := r.Search(t.Context(), "s", regexp.MustCompile("KEY_"), 3)
	if err != nil || len(found.Matches) != 3 || found.Lines != 51 {
		t.Fatalf("%d matches of %d lines, %v; want 3, 51 and no error", len(found.Matches), found.Lines, err)
	}
	if m := found.Matches[0]; len(m.Text) > 400 || !strings.Contains(m.Text, "KEY_IN_THE_MIDDLE") || !strings.HasPrefix(m.Text, "…") || !strings.HasSuffix(m.Text, "…") {
		t.Errorf("a long line is shown as %d bytes: %q", len(m.Text), m.Text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Search(ctx, "s", regexp.MustCompile("KEY_"), 3); !errors.Is(err, context.Canceled) {
		t.Errorf("under an ended context: %v, want Canceled", err)
	}
	if _, err := r.Search(t.Context(), "", regexp.MustCompile("x"), 0); !errors.Is(err, compact.ErrSession) {
		t.Errorf("without a session: %v, want ErrSession", err)
	}
	if _, err := r.Search(t.Context(), compact.UnnamedSession+"1", regexp.MustCompile("x"), 0); !errors.Is(err, compact.ErrNotFound) {
		t.Errorf("of a session without a name: %v, want ErrNotFound", err)
	}
	if found, err := r.Search(t.Context(), "never-seen", regexp.MustCompile("x"), 0); err != nil || found.Lines != 0 {
		t.Errorf("of a session without steps: %+v, %v", found, err)
	}
}

// TestRecallToolSearchesEverything: the request has a pattern without a
// reference.
func TestRecallToolSearchesEverything(t *testing.T) {
	call, ref, r := recallRig(t, numbers(1000), compact.ToolBytes(800))
	got := call(`{"pattern":"^line (49|950)( |$)"}`)
	want := "[s2 tool, turn 1 · ref " + ref + "]\n49:line 49\n950:line 950 ERROR"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := call(`{"pattern":"^line (49|51|950)( |$)","context":1}`), "[s2 tool, turn 1 · ref "+ref+"]\n48-line 48\n49:line 49\n50-line 50 ERROR\n51:line 51\n52-line 52\n--\n949-line 949\n950:line 950 ERROR\n951-line 951"; got != want {
		t.Errorf("with the lines around: got %q, want %q", got, want)
	}
	if got, want := call(`{"pattern":"^line (49|50)( |$)","context":2}`), "[s2 tool, turn 1 · ref "+ref+"]\n47-line 47\n48-line 48\n49:line 49\n50:line 50 ERROR\n51-line 51\n52-line 52"; got != want {
		t.Errorf("neighbors that match: got %q, want %q", got, want)
	}
	if got := call(`{"pattern":"^line 501$","context":30}`); len(got) > 800 || !strings.HasSuffix(got, "[1 of 1 matching lines: messages before tool results, newest first; lines around them are left out: ask with less context]") {
		t.Errorf("too many lines of context: %q", got)
	}
	if got := call(`{"pattern":"no such thing anywhere"}`); got != "[no line of the removed text matches]" {
		t.Errorf("got %q, want %q", got, "[no line of the removed text matches]")
	}
	got = call(`{"pattern":"line"}`)
	if len(got) > 800 || !strings.HasSuffix(got, "narrow the pattern, or ask for a reference]") || !strings.Contains(got, " of 1000 matching lines") {
		t.Errorf("%d bytes: %q, want at most 800, text that ends with %q and text with %q", len(got), got, "narrow the pattern, or ask for a reference]", " of 1000 matching lines")
	}
	shown := compact.RecallTool(r.CompactManager, compact.ToolShown(r.preflight(loop(100, 200))))
	answer, err := shown.Call(t.Context(), "s", json.RawMessage(`{"pattern":"line"}`))
	if err != nil || !strings.HasPrefix(answer, "recall: ref is missing: here a pattern needs") {
		t.Errorf("where conversations are shared: %q, %v; want text that begins with %q and no error", answer, err, "recall: ref is missing: here a pattern needs")
	}
	for arguments, want := range map[string]string{
		`{"ref":"s3"}`: `read_file {"path":"pkg/file_1.go"}`,
		`{"ref":"s1-s50","pattern":"file_7.go\""}`:          `:read_file {"path":"pkg/file_7.go"}`,
		`{"ref":"turn:1"}`:                                  "recall: this conversation has no text with the reference",
		`{"ref":"s1-s50","pattern":"no such thing at all"}`: "[no line of ",
	} {
		if answer, err := shown.Call(t.Context(), "s", json.RawMessage(arguments)); err != nil || !strings.Contains(answer, want) {
			t.Errorf("where conversations are shared, %s: %q, %v; want text with %q and no error", arguments, answer, err, want)
		}
	}
}

// TestNumbersOfASummaryAreRecalled: recall returns for s12 the message that a summary
// cites as [s12], over chained compactions and in another process.
func TestNumbersOfASummaryAreRecalled(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	history := needles(200)
	steps := map[int]bool{}
	var res *compact.Result
	for n := 20; n <= len(history); n += 20 {
		res = r.preflight(history[:n:n])
		steps[res.Step] = steps[res.Step] || res.Summary != nil
	}
	if len(steps) < 4 {
		t.Fatalf("only %d steps", len(steps)-1)
	}
	var summarized []message.Message
	for i, d := range res.Decisions {
		if d.Decision.String() == "summarized" {
			summarized = append(summarized, history[i])
		}
	}
	for n, m := range summarized {
		if n%samples.Every(1) != 0 {
			continue
		}
		ref := fmt.Sprintf("s%d", n+1)
		got, err := recall.Text(t.Context(), r.archive, "s", ref)
		want := m.Text()
		if m.Role == message.RoleTool {
			want = m.ResultText()
		}
		if err != nil || !strings.Contains(got, want) {
			t.Fatalf("%s: %.60q, %v; want %.60q", ref, got, err, want)
		}
	}
	got, err := r.Recall(t.Context(), "s", "[s3–s5]")
	if err != nil || strings.Count(got, "[s") != 3 || !strings.HasPrefix(got, "[s3 ") {
		t.Errorf("a range: %.200q, %v; want text that begins with %q and no error", got, err, "[s3 ")
	}
	for _, ref := range []string{"s100000", "s0", "s", "s12-", "s9-s3"} {
		if got, err := r.Recall(t.Context(), "s", ref); !errors.Is(err, compact.ErrNotFound) {
			t.Errorf("%s: %.60q, %v, want ErrNotFound", ref, got, err)
		}
	}
}

// TestARangeOfManyNumbersIsReadInPart: the answer returns fifty messages, and says which
// are left. Without that, a model would take a pattern without a match in them for one
// without a match in the whole range.
func TestARangeOfManyNumbersIsReadInPart(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	r.preflight(loop(100, 200))
	text, err := r.Recall(t.Context(), "s", "s2-s120")
	if got := strings.Count(text, "\n[s") + 1; err != nil || got != 50 || !strings.HasPrefix(text, "[s2 ") || !strings.Contains(text, "\n[s51 ") {
		t.Errorf("%d messages, %v: %.100q; want 50, no error, text that begins with %q and text with %q", got, err, text, "[s2 ", "\n[s51 ")
	}
	tool := compact.RecallTool(r.CompactManager, compact.ToolBytes(2_000))
	for arguments, want := range map[string]string{
		`{"ref":"s2-s120"}`:                             "\n[only s2 to s51 were read; ask for s52-s120, too]",
		`{"ref":"s2-s120","pattern":"file_50"}`:         "[no line of 100 matches]\n[only s2 to s51 were read; ask for s52-s120, too]",
		`{"ref":"s2-s51","pattern":"no such thing"}`:    "[no line of 100 matches]",
		`{"ref":"[s52–s120]","pattern":"file_50.go\""}`: "file_50.go\"}\n[only s52 to s101 were read; ask for s102-s120, too]",
	} {
		if got, err := tool.Call(t.Context(), "s", json.RawMessage(arguments)); err != nil || len(got) > 2_000 || !strings.HasSuffix(got, want) {
			t.Errorf("%s: %d bytes, %v: %.300q, want %q at the end", arguments, len(got), err, got, want)
		}
	}
}

// TestNumbersOfSeveralAgentsAreDistinguished: each agent has an s1.
func TestNumbersOfSeveralAgentsAreDistinguished(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	views := map[string]*compact.Result{}
	for _, agent := range []string{"one", "two"} {
		history := loop(100, 200)
		history[1] = message.User("The task of agent " + agent + ".")
		history[3] = message.ToolResult(history[3].Parts[0].CallID, "the result of agent "+agent)
		views[agent] = r.preflight(history, compact.WithAgent(agent))
	}
	got, err := r.Recall(t.Context(), "s", "s1")
	if err != nil || !strings.Contains(got, `[agent "one"]`) || !strings.Contains(got, `[agent "two"]`) {
		t.Errorf("%.200q, %v; want text with %q, text with %q and no error", got, err, `[agent "one"]`, `[agent "two"]`)
	}
	for agent, res := range views { // the tool of an agent that has its view reads its own s2
		got, err := compact.RecallTool(r.CompactManager, compact.ToolView(res)).Call(t.Context(), "s", json.RawMessage(`{"ref":"s2"}`))
		if err != nil || got != "the result of agent "+agent {
			t.Errorf("s2 of agent %s: %.200q, %v", agent, got, err)
		}
	}
	late := compact.RecallTool(r.CompactManager, compact.ToolView(views["one"]))
	if got, err := late.Call(t.Context(), "s", json.RawMessage(`{"ref":"s1000"}`)); err != nil || !strings.Contains(got, "; s1 to s") {
		t.Errorf("a number that the agent does not have: %.200q, %v", got, err)
	}
	// The numbers of turns continue from one agent to the next, so that a number
	// identifies one turn.
	for turn, agent := range map[string]string{"turn:1": "one", "turn:101": "two"} {
		if got, err := r.Recall(t.Context(), "s", turn+":request"); err != nil || got != "The task of agent "+agent+"." {
			t.Errorf("%s: %.200q, %v; want that of agent %s", turn, got, err, agent)
		}
	}
}

func TestSearchPrefersSpokenText(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	history := loop(100, 200)
	history[5] = message.ToolResult(history[5].Parts[0].CallID, "the Root Cause of nothing\n"+strings.Repeat("the root cause again\n", 9))
	history = append(history[:6:6], append([]message.Message{message.Assistant("The root cause is the lock.")}, history[6:]...)...)
	r.preflight(history)
	pattern, err := recall.SearchPattern("root cause")
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.Search(t.Context(), "s", pattern, 0)
	if err != nil || len(found.Matches) != 3 || found.Lines != 11 {
		t.Fatalf("%+v, %v, want 3 matches of 11 lines and no error", found, err)
	}
	for i, role := range []message.Role{message.RoleAssistant, message.RoleTool, message.RoleTool} {
		if found.Matches[i].Role != role {
			t.Errorf("match %d is of %s, want %s", i, found.Matches[i].Role, role)
		}
	}
	if pattern, err = recall.SearchPattern("Root"); err != nil || pattern.MatchString("root") {
		t.Errorf("a pattern with a capital ignores case: %v", err)
	}
}
