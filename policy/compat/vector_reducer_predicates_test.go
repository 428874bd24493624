package compat_test

import (
	"fmt"
	"slices"

	"github.com/agentcompact/compact/message"
)

// reducerDeviations returns the predicates for a row of the history reducer.
func reducerDeviations(r *reducerRow, got *reduced) (d deviations) {
	e := &r.Result
	at := matchFromEnd(r.Messages, e.Messages)
	d.add(r.keep() < 1, "window_below_one", func() string {
		if !got.Refused {
			return "a window below one must be refused"
		}
		return ""
	})
	changed, texts := 0, map[string]deviation{}
	for k, i := range at {
		if i < 0 || r.Messages[i].Content == e.Messages[k].Content {
			continue
		}
		changed++
		for _, x := range maskDeviations(r.Messages[i].Content, e.Messages[k].Content, r.Messages[i].Content) {
			texts[x.name] = x
		}
	}
	// Our texts are checked for every row, see unsound.
	for _, name := range []string{"remasked", "placeholder_clipped", "no_saving", "dispatch_block_lost"} {
		_, match := texts[name]
		d.add(match, name, nothing)
	}
	if k := slices.Index(at, -1); k >= 0 {
		d.add(true, "untagged_summary", func() string { return summaryRequired(r, got) })
		d.add(slices.ContainsFunc(e.Messages[k+1:], isSystem), "summary_before_system", nothing)
		d.add(e.Messages[k].Content != clip(contractText(gone(r, at)), r.summaryChars()), "summary_of_placeholders", nothing)
	}
	d.add(!r.off() && sizeOf(e.Messages) > r.Options.MaxInputChars, "over_budget", nothing)
	d.add(!hasAnchor(r, at), "anchor_lost", nothing)
	d.add(openRoundTouched(r, at), "open_round", nothing)
	d.add(spanTorn(r, at), "torn_span", nothing)
	d.add(keptByID(r, at), "kept_by_pair_id", nothing)
	fit := newFit(r)
	stage := func(want string) func() string {
		return func() string { return differ(want, got.Stage) }
	}
	d.add(e.ReductionStage == "fallback" && fit.masking, "gave_up_masking", stage("masking"))
	d.add(e.ReductionStage == "fallback" && !fit.masking && fit.summary != "", "gave_up_summary", stage("summarization"))
	d.addCounts(e.MaskedCount != changed, "counts_what_is_gone")
	return d
}

func isSystem(m reducerMessage) bool { return m.Role == message.RoleSystem }

// gone returns the messages that are not in an outcome.
func gone(r *reducerRow, at []int) (out []reducerMessage) {
	for i, m := range r.Messages {
		if !slices.Contains(at, i) {
			out = append(out, m)
		}
	}
	return out
}

// matchFromEnd returns, for each message of an outcome, the matching message of
// the history, -1 for the summary. Both sequences have the same end.
func matchFromEnd(history, out []reducerMessage) []int {
	at := make([]int, len(out))
	i := len(history) - 1
	for k := len(out) - 1; k >= 0; k-- {
		j := i
		for j >= 0 && !sameMessage(history[j], out[k]) {
			j--
		}
		at[k] = j
		if j >= 0 {
			i = j - 1
		}
	}
	return at
}

func sameMessage(a, b reducerMessage) bool {
	if a.Role != b.Role || a.PairID != b.PairID || a.PairRole != b.PairRole {
		return false
	}
	return a.Content == b.Content || a.Role == message.RoleTool && a.PairRole == "result"
}

func hasAnchor(r *reducerRow, at []int) bool {
	anchor := -1
	for i, m := range r.Messages {
		if m.Role == message.RoleUser && m.PairRole != "result" {
			anchor = i
		}
	}
	for _, i := range at {
		if i == anchor {
			return true
		}
	}
	return anchor < 0
}

// summaryRequired checks a row in which the source has a summary in its own form. Ours must
// be one tagged message with the same text for the original messages, within its limit,
// unless masking alone is enough or there is no room for a summary.
func summaryRequired(r *reducerRow, got *reduced) string {
	fit := newFit(r)
	text := ""
	for i, src := range got.Source {
		if src < 0 {
			text = got.Messages[i].Content
			if got.Messages[i].Role != message.RoleAssistant {
				return "the summary is not the assistant's"
			}
		}
	}
	if fit.masking {
		return differ("masking", got.Stage)
	}
	if units(text) > r.summaryChars() {
		return fmt.Sprintf("a summary of %d units, at most %d are allowed", units(text), r.summaryChars())
	}
	return differ(fit.summary, text)
}

// history returns the row's history as messages.
func (r *reducerRow) history() []message.Message {
	out := make([]message.Message, len(r.Messages))
	for i, m := range r.Messages {
		out[i] = m.message()
	}
	return out
}

// fates returns a number for each message: 0 = removed, 1 = edited, 2 = unchanged.
func fates(r *reducerRow, at []int) []int {
	out := make([]int, len(r.Messages))
	for k, i := range at {
		if i < 0 {
			continue
		}
		out[i] = 2
		if r.Messages[i].Content != r.Result.Messages[k].Content {
			out[i] = 1
		}
	}
	return out
}

// openRoundTouched reports whether a message without an answer was removed, or an
// observation that no model has read was masked.
func openRoundTouched(r *reducerRow, at []int) bool {
	fate := fates(r, at)
	for i := message.Open(message.Rounds(r.history())); i < len(fate); i++ {
		if fate[i] != 2 {
			return true
		}
	}
	return false
}

// spanTorn reports whether the messages of one round, including late results and the
// messages before them, are handled differently: some stay and some were removed, or some
// are masked although the round holds one of the last messages, which must stay raw.
func spanTorn(r *reducerRow, at []int) bool {
	fate := fates(r, at)
	last := len(r.Messages)
	for n := r.keep(); n > 0 && last > 0; {
		if last--; r.Messages[last].Role != message.RoleSystem {
			n--
		}
	}
	for _, span := range message.Rounds(r.history()) {
		gone, masked := 0, 0
		for i := span.Start; i < span.End; i++ {
			switch fate[i] {
			case 0:
				gone++
			case 1:
				masked++
			}
		}
		if gone > 0 && gone < span.Len() || masked > 0 && span.End > last {
			return true
		}
	}
	return false
}

// keptByID reports whether a message stays, or stays raw, only because it has the id of a
// call that stays. Such a message is a result before its call, or a second result much
// later, and thus not part of the round.
func keptByID(r *reducerRow, at []int) bool {
	e := &r.Result
	if e.ReductionStage == "" || r.keep() < 1 {
		return false
	}
	raw, stays := spans(r)
	for i, fate := range fates(r, at) {
		m := &r.Messages[i]
		observation := r.masking() && m.Role == message.RoleTool && m.PairRole == "result" && wholeMask(m.Content) != m.Content
		if fate == 2 && (e.DroppedCount > 0 && !stays[i] || e.DroppedCount == 0 && observation && !raw[i]) {
			return true
		}
	}
	return false
}
