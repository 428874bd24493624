package compat_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
)

// fit describes the views that would fit the budget of a row if every placeholder were
// whole. The source decides the same, but with defects.
type fit struct {
	masking bool   // the view with masked old observations fits
	summary string // the summary, if it fits together with the messages that must stay; "" = none
}

func newFit(r *reducerRow) (f fit) {
	if r.off() || r.keep() < 1 {
		return f
	}
	raw, stays := spans(r)
	shown := slices.Clone(r.Messages)
	edited := false
	for i := range shown {
		if m := &shown[i]; r.masking() && !raw[i] && m.Role == message.RoleTool && m.PairRole == "result" {
			m.Content = wholeMask(m.Content)
			edited = edited || m.Content != r.Messages[i].Content
		}
	}
	f.masking = edited && sizeOf(shown) <= r.Options.MaxInputChars
	f.summary = summaryThatFits(r, shown, stays)
	return f
}

// spans returns which messages stay raw, and which stay at all. The rounds of the last
// messages and of the unanswered messages stay raw. The rounds of system messages and of
// the last user message also stay.
func spans(r *reducerRow) (raw, stays []bool) {
	raw, stays = make([]bool, len(r.Messages)), make([]bool, len(r.Messages))
	rounds := message.Rounds(r.history())
	open, anchor := message.Open(rounds), message.Anchor(r.history())
	last := map[int]bool{}
	for i := len(r.Messages) - 1; i >= 0 && len(last) < r.keep(); i-- {
		if r.Messages[i].Role != message.RoleSystem {
			last[i] = true
		}
	}
	for _, span := range rounds {
		visible, must := span.Start >= open, span.Start <= anchor && anchor < span.End
		for i := span.Start; i < span.End; i++ {
			visible = visible || last[i]
			must = must || r.Messages[i].Role == message.RoleSystem
		}
		for i := span.Start; i < span.End; i++ {
			raw[i], stays[i] = visible, visible || must
		}
	}
	return raw, stays
}

// wholeMask returns the placeholder for a text, or the text if no placeholder is
// shorter.
func wholeMask(text string) string {
	if isMark(text) {
		return text
	}
	blocks := blocksOf(text)
	kept, outside := strings.Join(blocks, "\n"), units(text)
	for _, b := range blocks {
		outside -= units(b)
	}
	forms := []string{observationMark(outside)}
	if len(blocks) > 0 {
		forms = []string{dispatchMark(outside) + "\n" + kept, kept}
	}
	for _, form := range forms {
		if units(form) < units(text) && utf8.RuneCountInString(form) <= utf8.RuneCountInString(text) {
			return form
		}
	}
	return text
}

const tags = len("<COMPACT-SUMMARY v1>\n\n</COMPACT-SUMMARY>")

// summaryThatFits returns the summary of the messages that do not stay. The text of the
// source must fit with the results in the view; our text comes from the original results.
func summaryThatFits(r *reducerRow, shown []reducerMessage, stays []bool) string {
	room, size := r.Options.MaxInputChars, 0
	var seen, originals []reducerMessage
	for i, m := range shown {
		if stays[i] {
			room -= units(m.Content)
			continue
		}
		size += units(m.Content)
		seen = append(seen, m)
		if m = r.Messages[i]; m.PairRole == "result" && isMark(m.Content) {
			// A placeholder carries no information, but the blocks after it do.
			if _, m.Content, _ = strings.Cut(m.Content, "\n"); m.Content == "" {
				m.PairRole = ""
			}
		}
		originals = append(originals, m)
	}
	limit := min(room, r.summaryChars())
	if len(seen) == 0 || units(clip(contractText(seen), r.summaryChars())) > room || limit < tags+40 {
		return ""
	}
	text := fmt.Sprintf("<COMPACT-SUMMARY v1>\n%s\n</COMPACT-SUMMARY>", strings.TrimSpace(clip(contractText(originals), limit-tags)))
	if units(text) >= size {
		return ""
	}
	return text
}

var jsSpace = regexp.MustCompile(`[\t\n\v\f\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]+`)

// contractText returns the text of a summary without a limit.
func contractText(msgs []reducerMessage) string {
	objective, asked := "Not specified.", false
	var tasks, outcomes, constraints []string
	for _, m := range msgs {
		if m.Role == message.RoleUser && m.PairRole == "" && !asked {
			objective, asked = strings.TrimFunc(m.Content, func(c rune) bool { return jsSpace.MatchString(string(c)) }), true
		}
		if m.PairRole == "result" {
			outcomes = append(outcomes, m.Content)
		}
		if slices.Contains(m.Tags, "unresolved") {
			tasks = append(tasks, m.Content)
		}
		if slices.Contains(m.Tags, "constraint") {
			constraints = append(constraints, m.Content)
		}
	}
	return strings.Join([]string{
		"Conversation summary (contract):",
		"- Objective: " + clip(objective, 220),
		"- Unresolved tasks: " + listed(tasks, 6, "None captured."),
		"- Key tool outcomes: " + listed(outcomes, 6, "No tool outcomes captured."),
		"- Current constraints: " + listed(constraints, 8, "No constraints captured."),
	}, "\n")
}

func listed(texts []string, most int, none string) string {
	var distinct []string
	for _, s := range texts {
		if s = strings.Trim(jsSpace.ReplaceAllString(s, " "), " "); s != "" && !slices.Contains(distinct, s) {
			distinct = append(distinct, s)
		}
	}
	distinct = distinct[:min(most, len(distinct))]
	for i := range distinct {
		distinct[i] = clip(distinct[i], 120)
	}
	if len(distinct) == 0 {
		return none
	}
	return strings.Join(distinct, "; ")
}

// clip cuts a text to n units. The last three units are dots.
func clip(s string, n int) string {
	if units(s) <= n {
		return s
	}
	for i := len(s) - 1; i >= 0; i-- {
		if utf8.RuneStart(s[i]) && units(s[:i])+3 <= n {
			return s[:i] + "..."
		}
	}
	return ""
}
