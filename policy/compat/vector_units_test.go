package compat_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/token"
)

func units(s string) int { return token.UTF16.Count(s) }

type unitRow struct {
	ID    string
	Fn    string
	Input struct {
		Value    string
		Content  string
		MaxChars int
	}
	Expected json.RawMessage
}

func TestVectorHistoryReducerUnits(t *testing.T) {
	eachSet(t, "history-reducer-units", func(t *testing.T, path string) {
		clips, masks := newTally(t, "clipText"), map[string]*tally{}
		for _, r := range rows[unitRow](t, path) {
			if r.Fn == "clipText" {
				judgeClip(t, clips, r)
				continue
			}
			if masks[r.Fn] == nil {
				masks[r.Fn] = newTally(t, r.Fn)
			}
			judgeUnitMask(t, masks[r.Fn], r)
		}
		clips.print()
		for _, fn := range []string{"maskStandardObservation", "maskDispatchObservation"} {
			if masks[fn] != nil {
				masks[fn].print()
			}
		}
	})
}

func judgeClip(t *testing.T, c *tally, r unitRow) {
	var want string
	decode(t, r.Expected, &want)
	in, limit := r.Input.Value, r.Input.MaxChars
	got := compat.ClipUTF16(in, limit)
	var d deviations
	// Go's decoder returns U+FFFD for half of a surrogate pair.
	cut := strings.TrimSuffix(want, "...")
	d.add(want != in && strings.HasSuffix(cut, "\uFFFD") && !strings.HasPrefix(in, cut), "splits_surrogate", func() string {
		kept := strings.TrimSuffix(got, "...")
		switch {
		case !utf8.ValidString(got), !strings.HasPrefix(in, kept):
			return fmt.Sprintf("%q is no prefix of %q", got, in)
		case units(got) > limit, units(got) < limit-1:
			return fmt.Sprintf("%q has %d units, want %d or one less", got, units(got), limit)
		}
		return ""
	})
	c.judge(r.ID, differ(want, got), "", d)
}

func judgeUnitMask(t *testing.T, c *tally, r unitRow) {
	var want struct {
		Masked      string
		MaskedChars int
	}
	decode(t, r.Expected, &want)
	in := r.Input.Content
	got := observation(t, in)
	d := maskDeviations(in, want.Masked, got)
	counts := ""
	if saved := units(in) - units(got); saved != want.MaskedChars {
		counts = fmt.Sprintf("masks %d units, want %d", saved, want.MaskedChars)
	}
	c.judge(r.ID, differ(want.Masked, got), counts, d)
}

// observation returns a result after the preset's mask.
func observation(t *testing.T, text string) string {
	t.Helper()
	msgs := []message.Message{message.Assistant("", message.Call("a", "bash", "{}")), message.ToolResult("a", text), message.User("go on")}
	e := &reduce.Engine{Steps: []reduce.Step{{Stage: policy.Mask{Recent: compat.Tail(1), CostAsChars: true, BareBlocks: true}, Goal: policy.All}}, Pins: pins, Cost: token.NewCharsEstimator(), Dispatch: []string{"*"}}
	out, err := run(t, e, msgs, budget(1<<40))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range out.Passes {
		if p.Err != nil {
			t.Fatal(p.Err)
		}
	}
	return out.Conversation.Messages()[1].ResultText()
}

// The texts that the source writes and keeps. They are repeated here so that the
// predicates do not depend on the stages.
const (
	vecBegin = "BEGIN_DISPATCH_RESULT"
	vecEnd   = "END_DISPATCH_RESULT"
)

func observationMark(n int) string { return fmt.Sprintf("[observation masked — %d chars]", n) }
func dispatchMark(n int) string    { return fmt.Sprintf("[dispatch output masked — %d chars]", n) }

// blocksOf returns the dispatch blocks of a text. The last block may extend to the end of
// the text.
func blocksOf(text string) (blocks []string) {
	for {
		_, after, ok := strings.Cut(text, vecBegin)
		if !ok {
			return blocks
		}
		inside, rest, ended := strings.Cut(after, vecEnd)
		block := vecBegin + inside
		if ended {
			block += vecEnd
		}
		blocks, text = append(blocks, block), rest
	}
}

// firstBlock returns the only block that the source keeps.
func firstBlock(text string) string {
	if b := blocksOf(text); len(b) > 0 && strings.HasSuffix(b[0], vecEnd) && len(b[0]) >= len(vecBegin)+len(vecEnd) {
		return b[0]
	}
	return ""
}

// isMark reports whether a whole text is a placeholder of the source or of this
// package.
func isMark(text string) bool {
	var n int
	for _, form := range []string{"[observation masked — %d chars]", "[result masked — ~%d tokens removed]"} {
		if _, err := fmt.Sscanf(text, form, &n); err == nil && text == fmt.Sprintf(form, n) {
			return true
		}
	}
	first, rest, _ := strings.Cut(text, "\n")
	if _, err := fmt.Sscanf(first, "[dispatch output masked — %d chars]", &n); err != nil || first != dispatchMark(n) {
		return false
	}
	return rest != "" && rest == strings.Join(blocksOf(rest), "\n")
}

// maskDeviations returns the predicates for one masked text.
func maskDeviations(in, want, got string) (d deviations) {
	if want == in {
		return nil
	}
	block := firstBlock(in)
	whole := []string{observationMark(units(in))}
	if block != "" {
		whole = append(whole, block, dispatchMark(units(in)-units(block))+"\n"+block)
	}
	unchanged := func() string { return differ(in, got) }
	d.add(isMark(in), "remasked", unchanged)
	d.add(!slices.Contains(whole, want), "placeholder_clipped", func() string { return wholeOrUntouched(in, got) })
	d.add(units(want) >= units(in) || utf8.RuneCountInString(want) > utf8.RuneCountInString(in), "no_saving", func() string { return wholeOrUntouched(in, got) })
	d.add(!strings.Contains(want, strings.Join(blocksOf(in), "\n")), "dispatch_block_lost", func() string { return wholeOrUntouched(in, got) })
	return d
}

// wholeOrUntouched checks that masking either keeps a text unchanged or replaces it by a
// whole placeholder with the true size and every block, in fewer units.
func wholeOrUntouched(in, got string) string {
	if got == in {
		return ""
	}
	blocks := blocksOf(in)
	kept := strings.Join(blocks, "\n")
	outside := units(in)
	for _, b := range blocks {
		outside -= units(b)
	}
	want := []string{observationMark(outside)}
	if len(blocks) > 0 {
		want = []string{kept, dispatchMark(outside) + "\n" + kept}
	}
	switch {
	case !slices.Contains(want, got):
		return fmt.Sprintf("%q became %q", in, got)
	case units(got) >= units(in):
		return fmt.Sprintf("%q saves nothing over %q", got, in)
	}
	return ""
}

func differ(want, got string) string {
	if want == got {
		return ""
	}
	return fmt.Sprintf("want %.600q\ngot  %.600q", want, got)
}

func decode(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}
