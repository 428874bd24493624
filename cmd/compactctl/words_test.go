package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/replay"
	"github.com/agentcompact/compact/serve"
	"github.com/agentcompact/compact/trace"
)

// The words for numbers are right at each of their limits.
func TestNumbersAreInTheRightWords(t *testing.T) {
	decided := func(before, after int) string {
		return tokensOf(compact.MessageDecision{TokensBefore: before, TokensAfter: after})
	}
	for _, c := range []struct{ name, got, want string }{
		{"no price", money(serve.Stats{Calls: 2, Unpriced: 2}), ""},
		{"some prices", money(serve.Stats{Calls: 3, Unpriced: 1, With: 1, Without: 2.5}), ", about $1.00 instead of $2.50, without 1 call of models whose price is not known"},
		{"all prices", money(serve.Stats{Calls: 3, With: 1, Without: 2.5}), ", about $1.00 instead of $2.50"},
		{"less than a cent", money(serve.Stats{Calls: 1, Sent: 3, History: 9, With: 0.0008, Without: 0.012}), ", about $0.0008 instead of $0.01"},
		{"nothing removed", money(serve.Stats{Calls: 1, Sent: 9, History: 9, With: 0.0008, Without: 0.0008}), ", about $0.0008"},
		{"unchanged", decided(4200, 4200), "4,200"},
		{"gone", decided(4200, 0), "4,200 → -"},
		{"masked", decided(4200, 21), "4,200 → 21"},
		{"nothing done", deeds(0, 0, 0, 0), "nothing"},
		{"one deed", deeds(0, 1, 0, 0), "masked 1 tool result"},
		{"two deeds", deeds(2, 0, 0, 3), "cut 2 tool results and dropped 3 messages"},
		{"all deeds", deeds(1, 2, 3, 4), "cut 1 tool result, masked 2 tool results, summarized 3 messages and dropped 4 messages"},
		{"earlier calls", stepsOf(compact.Earlier{}), "earlier calls"},
		{"an earlier step", stepsOf(compact.Earlier{Steps: 1, Last: 7}), "step 7"},
		{"earlier steps", stepsOf(compact.Earlier{Steps: 3, Last: 7}), "3 steps, the last of them 7,"},
		{"settings", settingsOf(compact.Earlier{Preset: "masking", Window: 8000}), "preset masking, window 8,000"},
		{"a strategy", settingsOf(compact.Earlier{Strategy: "brief", Window: 1}), "strategy brief, window 1"},
		{"no summaries", summariesOf(&replay.AccountMoney{}), ""},
		{"summaries", summariesOf(&replay.AccountMoney{Summaries: 0.5}), "summaries: $0.5000\n"},
		{"estimated summaries", summariesOf(&replay.AccountMoney{Summaries: 0.5, Estimated: 0.25}), "summaries: $0.5000, $0.2500 of it estimated\n"},
		{"an unknown turn", turnName(0), "-"},
		{"a turn", turnName(1200), "1,200"},
		{"an unknown time", stamp(time.Time{}), "at an unknown time"},
		{"a time", stamp(time.Date(2026, 1, 2, 15, 4, 5, 0, time.FixedZone("", 3600))), "2026-01-02 14:04 UTC"},
		{"the same name", inFolder("a", "a"), "a"},
		{"another name", inFolder("a", "b"), "a (b)"},
		{"results", editsOf(compact.StageReport{Stage: "mask", Edits: 2}), "  2 tool results"},
		{"files", editsOf(compact.StageReport{Stage: "media", Edits: 1}), "  1 attachment"},
		{"messages", editsOf(compact.StageReport{Stage: "summarize", Edits: 1}), ""},
		{"nobody", byWhom("", ""), ""}, {"somebody", byWhom("w", ""), " by w"}, {"a reason", byWhom("", "y"), " · y"}, {"both", byWhom("w\n", "y"), " by w · y"},
		{"ranges", ranges([]int{0, 1, 2, 6, 8, 9}), "1-3, 7, 9-10"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// Arguments with blanks were in quotes, unless one argument is the whole query.
func TestQuotesOfTheShellArePutBack(t *testing.T) {
	for _, c := range []struct{ given, want []string }{
		{[]string{"disk quota"}, []string{"disk quota"}},
		{[]string{"disk", "quota"}, []string{"disk", "quota"}},
		{[]string{"disk", "connection refused"}, []string{"disk", `"connection refused"`}},
		{[]string{"disk", `say "no" now`}, []string{"disk", `say "no" now`}},
	} {
		given := slices.Clone(c.given)
		if got := phrases(given); !slices.Equal(got, c.want) || !slices.Equal(given, c.given) {
			t.Errorf("%q: %q, want %q", c.given, got, c.want)
		}
	}
}

// The printed command names the archive, unless it is the default.
func TestCommandNamesTheArchive(t *testing.T) {
	for location, want := range map[string]string{
		".compact/archive/s": "", "/srv/archive/s": " --archive /srv/archive", "my archive/s": " --archive 'my archive'", "s3://b/team/s": " --archive s3://b/team",
	} {
		if got := archiveFlag(location); got != want {
			t.Errorf("%s: %q, want %q", location, got, want)
		}
	}
}

// An agent gets the version that its own URL has.
func TestPathOfTheProxyHasTheVersionOfTheURL(t *testing.T) {
	for _, c := range []struct{ provider, path, old, want string }{
		{"openai", "/openai/v1", "http://h/api", "/openai"}, {"openai", "/openai/v1", "http://h/v1", "/openai/v1"}, {"openai", "/openai/v1", "http://h/v1/", "/openai/v1"},
		{"openai", "/openai/v1", "http://other/api", "/openai/v1"}, {"anthropic", "/anthropic", "http://h/api", "/anthropic"},
	} {
		if got := pathFor(c.provider, c.path, c.old, []string{"openai=http://h/api", "openai=http://h/v1", "openai=http://h/v1/", "anthropic=http://h/api"}); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestOnlyLoopbackAddressesAreLocal(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "localhost:1": true, "[::1]:1": true, "127.9.9.9:1": true, ":8484": false, "0.0.0.0:1": false, "10.0.0.1:1": false, "example.com:1": false, "localhost": false,
	} {
		if isLocal(address) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
}

// Each kind of error has its exit status.
func TestErrorsHaveTheirExitStatus(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"none": {nil, exitOK}, "any": {errors.New("x"), exitFailed}, "usage": {&usageError{os.ErrExist}, exitUsage}, "input": {&inputError{err: os.ErrExist}, exitInput},
		"budget": {fmt.Errorf("x: %w", compact.ErrInsufficientBudget), exitBudget}, "archive": {fmt.Errorf("x: %w", compact.ErrArchiveFailed), exitArchive},
		"broken": {&brokenArchive{os.ErrExist}, exitArchive}, "a read": {fmt.Errorf("x: %w", &recall.ReadError{}), exitArchive}, "unproven": {&unproven{[]string{"s"}}, exitUnproven},
		"a command": {errors.Join(&commandStatus{42}, &usageError{os.ErrExist}), 42},
	} {
		if got := status(c.err); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	for _, err := range []error{exec.ErrNotFound, &exec.Error{Name: "x", Err: os.ErrNotExist}} {
		if notRun(err) != exitNotFound {
			t.Errorf("%v: %d", err, notRun(err))
		}
	}
	if got := notRun(os.ErrPermission); got != exitCanNot {
		t.Error(got)
	}
}

// An exporter's error that it has logged itself, and that lost nothing, is not repeated.
func TestLostEventsAreReported(t *testing.T) {
	var out strings.Builder
	a := newApp(nil, &out, &out)
	for i, e := range []trace.ExportError{{Op: "export", Logged: true}, {Op: "export"}, {Op: "export", Logged: true, Dropped: 2}, {Op: "shutdown", Logged: true}} {
		e.Exporter, e.Err = fmt.Sprint("number ", i), errors.New("no connection")
		a.losses.add(&e)
	}
	told := a.losses.tell(a)
	if strings.Contains(told, "number 0") || strings.Count(told, "\n") != 3 || strings.Count(out.String(), "warning: ") != 3 || a.losses.tell(a) != "" {
		t.Errorf("%s\n%s", told, &out)
	}
}

// Each kind of odd message is reported once, with its number and its first place. A result
// without an id can have any call.
func TestOddMessagesAreCounted(t *testing.T) {
	result := func(ids ...string) message.Message {
		m := message.Message{Role: message.RoleTool}
		for _, id := range ids {
			m.Parts = append(m.Parts, message.Part{Kind: message.KindToolResult, CallID: id, Text: "x"})
		}
		return m
	}
	call := message.Message{Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindToolCall, CallID: "a", Name: "f"}}}
	fine := []message.Message{message.User("q"), call, result("a"), result("")}
	for name, c := range map[string]struct {
		more []message.Message
		want string
	}{
		"none":    {nil, ""},
		"orphans": {[]message.Message{result("b", "c"), result("a"), result("b")}, "f: warning: 2 tool results without a call; the first is message 5\n"},
		"a role":  {[]message.Message{{Role: "robot", Parts: fine[0].Parts}}, `f: warning: 1 message of an unknown role; the first is message 5 ("robot")` + "\n"},
		"empty":   {[]message.Message{{Role: message.RoleUser}, {Role: message.RoleUser}}, "f: warning: 2 messages without content; the first is message 5\n"},
	} {
		var out strings.Builder
		newApp(nil, &out, &out).sayOdd(&transcript{name: "f", msgs: append(slices.Clone(fine), c.more...)})
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", name, &out, c.want)
		}
	}
}
