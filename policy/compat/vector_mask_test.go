package compat_test

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

type maskRow struct {
	ID      string
	Input   struct{ Messages []wireMessage }
	Options struct {
		End   int `json:"conversation_end_idx"`
		First int `json:"keep_first"`
		Last  int `json:"keep_last"`
	}
	Expected struct {
		Messages []wireMessage
		After    int `json:"tokens_after"`
		Before   int `json:"tokens_before"`
	}
}

func TestVectorMask(t *testing.T) {
	eachSet(t, "duragent-mask", func(t *testing.T, path string) {
		c := newTally(t, "mask_tool_results")
		for _, r := range rows[maskRow](t, path) {
			in := history(r.Input.Messages)
			out, err := stage(t, policy.Mask{Since: at(r.Options.End), KeepFirst: r.Options.First, KeepLast: r.Options.Last, Form: formname.Result}, in, unbounded)
			if err != nil {
				t.Fatal(err)
			}
			got := lines(out.Conversation.Messages())
			counts := differ(fmt.Sprint(r.Expected.Before, r.Expected.After), fmt.Sprint(gateway.Messages(in), out.View.Total()))
			c.judge(r.ID, cmp.Diff(lines(history(r.Expected.Messages)), got), counts, maskResultDeviations(&r, got))
		}
		c.print()
	})
}

// maskResultDeviations returns the predicates for masked results. In these rows too, all other
// results must be as expected.
func maskResultDeviations(r *maskRow, got []string) (d deviations) {
	found := map[string]bool{}
	required := history(r.Expected.Messages)
	open := message.Open(message.Rounds(history(r.Input.Messages)))
	for i, m := range r.Input.Messages {
		was, is := m.text(), r.Expected.Messages[i].text()
		if was == is {
			continue
		}
		names, mark := resultMaskDeviations(m.message(), is, i >= open)
		if len(names) > 0 {
			required[i] = message.ToolResult(m.ToolCallID, mark)
		}
		for _, name := range names {
			found[name] = true
		}
	}
	check := func() string { return cmp.Diff(lines(required), got) }
	for _, name := range []string{"remasked", "grew", "no_saving", "size_of_the_cut", "open_round"} {
		d.add(found[name], name, check)
	}
	return d
}

// resultMaskDeviations returns the predicates for one masked result, with the text
// that must replace it.
func resultMaskDeviations(m message.Message, is string, open bool) (names []string, required string) {
	was := m.ResultText()
	required = was
	add := func(match bool, name string) {
		if match {
			names = append(names, name)
		}
	}
	larger := estimate(is) > estimate(was) || utf8.RuneCountInString(is) > utf8.RuneCountInString(was)
	add(isMark(was), "remasked")
	add(larger && len(names) == 0, "grew")
	add(!larger && len(names) == 0 && estimate(is) == estimate(was), "no_saving")
	add(open, "open_round")
	if _, original, ok := cutOf(was); ok && original != estimate(was) {
		mark := fmt.Sprintf("[result masked — ~%d tokens removed]", gateway.Message(m)-estimate(was)+original)
		if len(names) == 0 && cheaper(mark, was) {
			required = mark
		}
		add(true, "size_of_the_cut")
	}
	return names, required
}
