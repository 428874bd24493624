package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/recall"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
)

// recallDefinition returns the tools of a request, with the recall tool
// between two others.
func recallDefinition(t *testing.T, r *rig) json.RawMessage {
	t.Helper()
	def, err := compact.RecallTool(r.CompactManager).For("openai")
	if err != nil {
		t.Fatal(err)
	}
	return json.RawMessage(`[{"type":"function","function":{"name":"bash"}},` + string(def) + `]`)
}

// shell returns an agent loop of commands, with the lines of their harness.
func shell(rounds int) []message.Message {
	msgs := []message.Message{message.System("You fix bugs."), message.User("Make all tests pass.")}
	for i := range rounds {
		id := "call_" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		msgs = append(msgs,
			message.Assistant("", message.Call(id, "bash", `{"command":"go test ./... -run \"Test[A]\"","timeout":60}`)),
			message.ToolResult(id, "Exit code 1\n"+text(300)+strings.Repeat("!", i)))
	}
	return msgs
}

var shellForm = regexp.MustCompile(`\[observation masked — \d+ chars · bash "go test \./\.\.\. -run "Test\[A\]"" · exit 1( · recall [0-9a-f]{12})?\]`)

// masked returns the placeholder of the first masked result.
func masked(t *testing.T, res *compact.Result) string {
	t.Helper()
	for _, m := range res.Messages {
		if strings.HasPrefix(m.ResultText(), "[observation masked") {
			return m.ResultText()
		}
	}
	t.Fatal("nothing is masked")
	return ""
}

func TestPlaceholdersMentionRecallOnlyIfTheToolExists(t *testing.T) {
	history := shell(60)
	mentions := func(view []message.Message) bool { return strings.Contains(bytesOf(view), "recall") }
	for _, c := range []struct {
		name string
		opts func(r *rig) []compact.Option
		want bool
	}{
		{"no tools", func(*rig) []compact.Option { return nil }, false},
		{"other tools", func(*rig) []compact.Option {
			return []compact.Option{compact.WithTools(json.RawMessage(`[{"type":"function","function":{"name":"bash"}}]`))}
		}, false},
		{"another tool with the name recall", func(*rig) []compact.Option {
			return []compact.Option{compact.WithTools(json.RawMessage(`[{"name":"recall","input_schema":{"properties":{"memory":{}}}}]`))}
		}, false},
		{"declared", func(r *rig) []compact.Option { return []compact.Option{compact.WithTools(recallDefinition(t, r))} }, true},
		{"answered by the transport", func(*rig) []compact.Option { return []compact.Option{compact.WithRecall()} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, compact.Config{MaxContextTokens: 16_000})
			res := r.preflight(history, c.opts(r)...)
			text := masked(t, res)
			if !shellForm.MatchString(text) || len([]rune(text)) > 160 {
				t.Errorf("a placeholder reads %q", text)
			}
			if got := mentions(res.Messages); got != c.want {
				t.Errorf("the view speaks of recall: %v, want %v", got, c.want)
			}
		})
	}
}

func TestEveryWireDeclaresTheRecallTool(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 16_000})
	for _, wire := range []string{"openai", "responses", "anthropic", "gemini"} {
		def, err := compact.RecallTool(r.CompactManager).For(wire)
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.Preflight(context.Background(), wire, shell(60), compact.WithTools(json.RawMessage("["+string(def)+"]")))
		if err != nil || !strings.Contains(masked(t, res), "recall") {
			t.Errorf("%s: %v, or the placeholder lacks recall", wire, err)
		}
	}
}

// Masked results keep their form: a tool that appears or disappears later
// changes no byte of the prefix.
func TestLateRecallToolRewritesNothing(t *testing.T) {
	for _, first := range []bool{false, true} {
		r := newRig(t, compact.Config{MaxContextTokens: 16_000})
		with := map[bool][]compact.Option{true: {compact.WithRecall()}}
		history := shell(45)
		res := r.preflight(history, with[first]...)
		before := bytesOf(res.Messages)
		again := r.preflight(history, with[!first]...)
		if res.MaskedCount == 0 || bytesOf(again.Messages) != before {
			t.Errorf("recall first %v: the view changed with the tools", first)
		}
		if first {
			continue
		}
		if grown := r.preflight(shell(90), with[true]...); !grown.Triggered || !strings.Contains(bytesOf(grown.Messages), "recall") {
			t.Errorf("new masks don't speak of recall (triggered %v)", grown.Triggered)
		}
	}
}

func TestPlainPlaceholdersAndThoseWithoutAnArchiveStateOnlyTheSize(t *testing.T) {
	plain := regexp.MustCompile(`\A\[observation masked — \d+ chars\]\z`)
	for name, c := range map[string]compact.Config{
		"plain":     {MaxContextTokens: 16_000},
		"memory":    {MaxContextTokens: 16_000, Storage: compact.StorageConfig{Adapter: "memory"}},
		"summarize": {MaxContextTokens: 16_000, Preset: "masking"},
	} {
		c.Mask.Plain = name == "plain"
		if text := masked(t, newRig(t, c).preflight(shell(60), compact.WithRecall())); !plain.MatchString(text) {
			t.Errorf("%s: %q, want a placeholder with only the size", name, text)
		}
	}
}

func TestRecallShownAnswersOnlyReferencesOfTheView(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, compact.Config{MaxContextTokens: 16_000})
	id := compact.UnnamedSession + "1"
	history := shell(60)
	res, err := r.Preflight(ctx, id, history, compact.WithRecall())
	if err != nil {
		t.Fatal(err)
	}
	text := masked(t, res)
	ref := text[len(text)-13 : len(text)-1]
	if got, err := r.RecallShown(ctx, res, ref, recall.Head(1)); err != nil || got != "Exit code 1" {
		t.Errorf("%q, %v; want %q and no error", got, err, "Exit code 1")
	}
	kept := testkey.Ref(history[len(history)-1].Parts[0]) // is in the archive, and in the view in full
	for _, not := range []string{kept, "turn:3", ref[:8], ""} {
		if got, err := r.RecallShown(ctx, res, not); !errors.Is(err, compact.ErrNotFound) {
			t.Errorf("%q: %.40q, %v, want ErrNotFound", not, got, err)
		}
	}
	if _, err := r.Recall(ctx, id, ref); !errors.Is(err, compact.ErrNotFound) {
		t.Errorf("a session without a name is read: %v, want ErrNotFound", err)
	}
}

// Conversations without a name that begin alike share their session and their numbers.
// A number is answered with a message that the caller has sent, and with no other.
func TestRecallShownAnswersNumbersOfTheOwnHistory(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	id := compact.UnnamedSession + "1"
	call := func(secret string) *compact.Result {
		history := loop(100, 200)
		history[5] = message.ToolResult(history[5].Parts[0].CallID, "the result of "+secret)
		res, err := r.Preflight(t.Context(), id, history, compact.WithRecall(), compact.WithBranch("the same beginning"))
		if err != nil || res.Summary == nil {
			t.Fatalf("%+v, %v, want a summary and no error", res, err)
		}
		return res
	}
	one, two := call("one"), call("two")
	for res, want := range map[*compact.Result]string{one: "the result of one", two: "the result of two"} {
		var whole string
		for n := 1; n < 500; n += 50 {
			text, err := r.RecallShown(t.Context(), res, fmt.Sprintf("s%d-s%d", n, n+49))
			if err != nil && !errors.Is(err, compact.ErrNotFound) {
				t.Fatal(err)
			}
			whole += text
		}
		if !strings.Contains(whole, want) || strings.Count(whole, "the result of ") != 1 {
			t.Errorf("%s: %.300q", want, whole)
		}
	}
	kept := compact.Result{Session: id, Messages: two.Messages} // was not returned by a call
	if got, err := r.RecallShown(t.Context(), &kept, "s1-s50"); !errors.Is(err, compact.ErrNotFound) {
		t.Errorf("without a history: %.100q, %v, want ErrNotFound", got, err)
	}
}

func TestSummaryMentionsRecallOnlyIfTheToolExists(t *testing.T) {
	history := shell(60)
	for i := range 12 {
		history = append(history, message.User("Look at this: "+text(400)+strings.Repeat("!", i)), message.Assistant("I did."))
	}
	for _, want := range []bool{false, true} {
		var opts []compact.Option
		if want {
			opts = append(opts, compact.WithRecall())
		}
		res, err := newRig(t, compact.Config{MaxContextTokens: 32_000}).ManualCompact(context.Background(), "s", history, "", opts...)
		if err != nil || res.Summary == nil {
			t.Fatalf("no summary: %v", err)
		}
		if got := strings.Contains(res.Summary.Text, "recall"); got != want {
			t.Errorf("the summary speaks of recall: %v, want %v:\n%s", got, want, res.Summary.Text)
		}
	}
}
