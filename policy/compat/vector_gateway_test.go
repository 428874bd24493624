package compat_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/token"
)

// wireMessage is a message in the format of the gateway.
type wireMessage struct {
	Role       message.Role
	Content    *string
	ToolCalls  []wireCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

type wireCall struct {
	ID       string
	Type     string
	Function struct{ Name, Arguments string }
}

func (m wireMessage) text() string { return orDefault(m.Content, "") }

// emptyCalls reports whether m has an empty list of calls.
func (m wireMessage) emptyCalls() bool { return m.ToolCalls != nil && len(m.ToolCalls) == 0 }

func (m wireMessage) message() message.Message {
	switch m.Role {
	case message.RoleTool:
		return message.ToolResult(m.ToolCallID, m.text())
	case message.RoleAssistant:
		calls := make([]message.Part, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			calls[i] = message.Call(c.ID, c.Function.Name, c.Function.Arguments)
		}
		return message.Assistant(m.text(), calls...)
	}
	out := message.User(m.text())
	out.Role = m.Role // the source also has a role "steering"
	return out
}

func history(msgs []wireMessage) []message.Message {
	out := make([]message.Message, len(msgs))
	for i, m := range msgs {
		out[i] = m.message()
	}
	return out
}

// lines returns messages in a form that can be compared.
func lines(msgs []message.Message) []string {
	out := make([]string, len(msgs))
	for i, m := range msgs {
		out[i] = string(m.Role) + ":"
		for _, p := range m.Parts {
			if p.Kind == message.KindToolCall || p.Kind == message.KindToolResult {
				out[i] += fmt.Sprintf(" <%s %s%s>", p.CallID, p.Name, p.Args)
			}
			out[i] += p.Text
		}
	}
	return out
}

var gateway = token.NewGatewayEstimator()

func estimate(s string) int { return gateway.Text(s) }

// cheaper reports whether our edit is allowed: it must have fewer tokens and no
// more characters.
func cheaper(is, was string) bool {
	return estimate(is) < estimate(was) && utf8.RuneCountInString(is) <= utf8.RuneCountInString(was)
}

func at(i int) func(*policy.View) int { return func(*policy.View) int { return i } }

// stage runs one stage of the gateway. The error is a *policy.BudgetError.
func stage(t *testing.T, s policy.Stage, msgs []message.Message, cap int) (*reduce.Outcome, error) {
	t.Helper()
	e := &reduce.Engine{Steps: []reduce.Step{{Stage: s, Goal: policy.ToBudget}}, Pins: systemPins, Cost: gateway}
	if _, drop := s.(compat.Groups); !drop {
		e.Steps[0].Goal = policy.All
	}
	b := policy.Budget{Max: cap, Cap: cap}.CapOnly()
	out, err := e.Run(context.Background(), reduce.Request{Conversation: reduce.NewConversation(msgs, systemPins, nil), Budget: b})
	if err != nil && !errors.Is(err, policy.ErrInsufficientBudget) {
		t.Fatal(err)
	}
	for _, p := range out.Passes {
		if p.Err != nil {
			t.Errorf("%v", p.Err)
		}
	}
	return out, err
}

const unbounded = 1 << 40

// cutOf returns the original size of the result that a truncated text comes from.
func cutOf(text string) (limit, original int, ok bool) {
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	within := func(n, limit int) bool { return limit-3 <= n && n <= limit }
	if m := cutHead.FindStringSubmatch(text); m != nil && within(len(text)-len(m[0]), 4*number(m[1])) {
		return number(m[1]), number(m[2]), number(m[2]) > number(m[1])
	}
	if m := cutTail.FindStringSubmatch(text); m != nil && within(len(text)-len(m[0]), 4*number(m[1])) {
		return number(m[1]), number(m[2]), number(m[2]) > number(m[1])
	}
	for _, m := range cutBoth.FindAllStringSubmatchIndex(text, -1) {
		limit, original = number(text[m[2]:m[3]]), number(text[m[4]:m[5]])
		if within(m[0], 2*limit) && within(len(text)-m[1], 2*limit) && original > limit {
			return limit, original, true
		}
	}
	return 0, 0, false
}

var (
	cutHead = regexp.MustCompile(`\n\n\[truncated: kept first ~(\d+) of ~(\d+) tokens \(head\)\]$`)
	cutTail = regexp.MustCompile(`^\[truncated: kept last ~(\d+) of ~(\d+) tokens \(tail\)\]\n\n`)
	cutBoth = regexp.MustCompile(`\n\n\[truncated: kept first\+last ~(\d+) of ~(\d+) tokens \(both\)\]\n\n`)
)
