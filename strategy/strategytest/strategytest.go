// Package strategytest tests strategies against the contract of
// [strategy.Strategy].
//
//	func TestStrategy(t *testing.T) { strategytest.Run(t, myStrategy) }
//
// Each promise is a subtest, over several conversations. A failure quotes the
// promise.
package strategytest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

type testCase struct {
	name    string
	promise string
	check   func(s strategy.Strategy) error
}

var cases = []testCase{
	{"ExtractsTheSame", "Extract is deterministic.", extractsSame},
	{"LeavesTheHistory", "Extract must not modify the history.", leavesHistory},
	{"LinesFit", "A line is one line, of one of the strategy's own sections.", linesFit},
	{"WritesWithoutAModel", "The extractive backend writes a summary within the limit, with headings of the strategy alone.", writes},
	{"ExamplesAreOfItsForm", "An example has a history, and a summary with headings of the strategy alone.", examples},
}

// Run tests a strategy: a strategy of the caller, before [strategy.New], or a built-in
// strategy.
func Run(t *testing.T, s strategy.Strategy) {
	t.Helper()
	ready, err := usable(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if err := guarded(c.check, ready); err != nil {
				t.Errorf("%s\n%v", c.promise, err)
			}
		})
	}
}

func usable(s strategy.Strategy) (strategy.Strategy, error) {
	if built, err := strategy.Lookup(s.Name); err == nil && len(built.Sections) == len(s.Sections) {
		return built, nil
	}
	return strategy.New(s)
}

// guarded runs a check, and returns a panic of the extractor as an error.
func guarded(check func(strategy.Strategy) error, s strategy.Strategy) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return check(s)
}

func request(s strategy.Strategy, msgs []message.Message) strategy.Request {
	return strategy.Request{Strategy: s, Messages: msgs, First: 1, MaxTokens: 400, Count: func(text string) int { return len(strings.Fields(text)) }}
}

// each calls f for the test histories.
func each(s strategy.Strategy, f func(r strategy.Request) error) error {
	var errs []error
	for name, msgs := range histories() {
		if err := f(request(s, msgs)); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func extractsSame(s strategy.Strategy) error {
	return each(s, func(r strategy.Request) error {
		a, b := s.Extract(strategy.NewHistory(r)), s.Extract(strategy.NewHistory(r))
		if !reflect.DeepEqual(a, b) {
			return fmt.Errorf("the first call returned %d lines and the second %d; their number or text differs", len(a), len(b))
		}
		return nil
	})
}

func leavesHistory(s strategy.Strategy) error {
	return each(s, func(r strategy.Request) error {
		h, want := strategy.NewHistory(r), strategy.NewHistory(r)
		s.Extract(h)
		if !reflect.DeepEqual(h.Steps, want.Steps) || !reflect.DeepEqual(h.Previous, want.Previous) {
			return errors.New("extract changed the steps or the previous summary of the history")
		}
		return nil
	})
}

func linesFit(s strategy.Strategy) error {
	return each(s, func(r strategy.Request) error {
		for i, l := range s.Extract(strategy.NewHistory(r)) {
			if l.Section < 0 || l.Section >= len(s.Sections) {
				return fmt.Errorf("line %d names section %d; the strategy has %d sections: %q", i, l.Section, len(s.Sections), l.Text)
			}
			if strings.ContainsAny(l.Text, "\r\n") || strings.TrimSpace(l.Text) == "" {
				return fmt.Errorf("line %d is empty or has a line break: %q", i, l.Text)
			}
		}
		return nil
	})
}

func writes(s strategy.Strategy) error {
	return each(s, func(r strategy.Request) error {
		d, err := strategy.Extractive{}.Summarize(context.Background(), r)
		if err != nil {
			return err
		}
		if n := r.Count(d.Text); n > r.MaxTokens {
			return fmt.Errorf("the summary has %d tokens; the limit is %d", n, r.MaxTokens)
		}
		return headings(s, d.Text)
	})
}

func headings(s strategy.Strategy, text string) error {
	known := map[string]bool{"References": true}
	for _, sec := range s.Sections {
		known[sec.Title] = true
	}
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok && !known[title] {
			return fmt.Errorf("the heading %q is not one of the strategy", title)
		}
	}
	return nil
}

func examples(s strategy.Strategy) error {
	for i, e := range s.Examples {
		if strings.TrimSpace(e.History) == "" || !strings.Contains(e.Summary, "## ") {
			return fmt.Errorf("example %d has no history, or a summary without headings", i)
		}
		if err := headings(s, e.Summary); err != nil {
			return fmt.Errorf("example %d: %w", i, err)
		}
	}
	return nil
}

// histories returns small sessions: an agent that edits files, and a
// conversation.
func histories() map[string][]message.Message {
	agent := []message.Message{message.User("Rename the package util to textutil. The tests must stay green.")}
	for i, step := range []struct{ say, call, args, got string }{
		{"I look where it is used.", "bash", `{"command":"grep -rn util ."}`, "cmd/main.go:14: import \"example.com/app/util\""},
		{"I decided to use git mv because it keeps the history.", "bash", `{"command":"git mv util textutil"}`, ""},
		{"", "edit", `{"path":"cmd/main.go","old":"app/util","new":"app/textutil"}`, "ok"},
		{"", "bash", `{"command":"go test ./..."}`, "ok  	example.com/app/textutil	0.01s"},
	} {
		id := fmt.Sprintf("call_%d", i)
		agent = append(agent, message.Assistant(step.say, message.Call(id, step.call, step.args)), message.ToolResult(id, step.got+"\n"))
	}
	return map[string][]message.Message{
		"an agent": append(agent, message.Assistant("It is renamed, and the tests pass.")),
		"talk": {
			message.User("What is the balance of account 4417-22?"), message.Assistant("It is 1830.55 EUR."),
			message.User("Never transfer more than 500 at once. Transfer 200 to savings."), message.Assistant("I transferred 200 EUR to savings."),
		},
	}
}
