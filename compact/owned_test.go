package compact_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// A caller owns its configuration after New, and each result after its call. Whatever it
// writes into them, later calls return the same views, summaries and numbers.
func TestCallersOwnWhatTheyGaveAndGot(t *testing.T) {
	for _, preset := range compact.Presets() {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			want := strings.Split(answersTo(t, preset, func(any) {}), "\n")
			for i, line := range strings.Split(answersTo(t, preset, func(owned any) { overwrite(reflect.ValueOf(owned)) }), "\n") {
				if i >= len(want) || line != want[i] {
					t.Fatalf("a caller that overwrites what it owns gets\n%.400s\nwant\n%.400s", line, want[min(i, len(want)-1)])
				}
			}
		})
	}
}

// answersTo returns the answers of a manager to its callers: two agents with two models,
// observed or not.
func answersTo(t *testing.T, preset string, use func(owned any)) string {
	c, err := compact.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Archive = "gpt-4", 6000, memory.New()
	c.Overrides = []compact.Override{{Model: "gpt-4o*", Set: map[string]any{"max_context_tokens": 9000, "mask.exclude_tools": []string{"grep"}}}}
	m, err := compact.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	use(&struct{ A, B, C, D, E, F any }{&c.Policy, &c.Tidy, &c.Mask, &c.Summarizer, &c.Prices, &c.Overrides})
	var out strings.Builder
	for n := 4; n < 60; n += 9 {
		for _, model := range []string{"gpt-4", "gpt-4o"} {
			for _, opts := range [][]compact.Option{nil, {compact.WithObserve()}} {
				res, err := m.Preflight(context.Background(), "s"+model, loop(n, 150), append(opts, compact.WithModel(model))...)
				if err != nil {
					t.Fatal(err)
				}
				for r := res; r != nil; r = r.Projected {
					fmt.Fprintln(&out, bytesOf(r.Messages), r.Step, r.Before, r.After, r.Decisions, r.Sources, r.Earlier, r.Candidates, r.MaxTokens)
					if r.Summary != nil {
						fmt.Fprintln(&out, *r.Summary)
					}
				}
				use(res)
			}
		}
	}
	return out.String()
}

// overwrite changes all values that a caller can reach, except the content of messages.
func overwrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			overwrite(v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[message.Message]() {
			v.Set(reflect.ValueOf(message.User("another conversation")))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				overwrite(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			overwrite(v.Index(i))
		}
	case reflect.Map:
		v.Clear()
	default:
		if !v.CanSet() {
			return
		}
		switch {
		case v.Kind() == reflect.String:
			v.SetString("overwritten")
		case v.CanInt():
			v.SetInt(7777)
		case v.CanFloat():
			v.SetFloat(0.777)
		case v.Kind() == reflect.Bool:
			v.SetBool(!v.Bool())
		}
	}
}
