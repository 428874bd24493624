package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/trace"
)

// reportWriter writes the table of a Result.
type reportWriter struct {
	strings.Builder
	style style
	res   *compact.Result
	circumstances
}

// printReport describes the result for a person, beginning with one sentence.
func printReport(w io.Writer, s style, res *compact.Result, x circumstances, out string) error {
	r := &reportWriter{style: s, res: res, circumstances: x}
	r.headline()
	r.layers()
	r.outcome()
	r.details(out)
	_, err := io.WriteString(w, r.String())
	return err
}

// headline prints the first sentence of the report, and the most important numbers.
func (r *reportWriter) headline() {
	res := r.res
	fmt.Fprintln(r, r.style.bold(r.sentence(res)))
	from, to := res.TokensIn, res.After.Total
	if from != to {
		fmt.Fprintf(r, "%s → %s %s (%s)", count(from), r.style.green(count(to)), unit(res), relative(from, to))
	} else {
		fmt.Fprintf(r, "%s %s", count(to), unit(res))
	}
	fmt.Fprintf(r, ", %s of %s\n", share(to, res.MaxTokens), window(res))
	if res.Triggered {
		fmt.Fprintln(r, account(res))
	}
	fmt.Fprintln(r)
}

// account describes in one line which messages were removed, which stay, and how to
// recall the removed text.
func account(res *compact.Result) string {
	stays := "stays: " + things(res.KeptCount, "message")
	if res.Summary != nil {
		stays += " and a summary"
	}
	back := "nothing was stored"
	if a := res.Archived; a != nil && a.Adapter == "memory" {
		back = "nothing, because the archive was in memory (storage.adapter)"
	} else if a != nil {
		back = "compactctl archive show " + quoted(res.Session) + archiveFlag(a.Location)
	}
	var gone []string
	for _, d := range []struct {
		n    int
		what string
	}{{res.TruncatedCount, "cut"}, {res.MaskedCount, "masked"}, {res.SummarizedCount, "summarized"}, {res.DroppedCount, "dropped"}} {
		if d.n > 0 {
			gone = append(gone, count(d.n)+" "+d.what)
		}
	}
	return "gone: " + strings.Join(gone, ", ") + "; " + stays + "; back: " + back
}

// archiveFlag names the archive that holds a session, unless it is the default.
func archiveFlag(location string) string {
	archive := filepath.Dir(location)
	if strings.Contains(location, "://") {
		archive = location[:strings.LastIndexByte(location, '/')]
	}
	if filepath.ToSlash(archive) == ".compact/archive" {
		return ""
	}
	return " --archive " + quoted(archive)
}

// quoted quotes a word for a shell, and makes it safe for a terminal.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_./:@%+=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(oneLine(s), "'", `'\''`) + "'"
}

// sentence describes the result, or the reason why nothing was done.
func (x circumstances) sentence(res *compact.Result) string {
	if res.Triggered {
		return x.done(res)
	}
	s := "Nothing was changed (" + res.Reason + ")"
	switch res.Reason {
	case trace.ReasonNothingOld:
		s = "Nothing to remove: all remaining messages are pinned or recent"
	case trace.ReasonBelow:
		s = fmt.Sprintf("Nothing to do: the next compaction is due at %s %s", count(res.Trigger), unit(res))
		if x.economic {
			s += ", or earlier where it pays"
		}
	case trace.ReasonWaiting:
		s = fmt.Sprintf("Nothing to do yet: the last compaction ended above the target, and the next is due at %s %s", count(res.Trigger), unit(res))
	case trace.ReasonNever:
		s = "Nothing to do: compaction is switched off (policy.when: never)"
	case trace.ReasonFloor:
		s = "Above the target, but nothing to remove: all remaining messages are pinned or recent"
	}
	if res.Replayed > 0 {
		s += ".\nEdits of earlier compactions, applied again: " + deeds(res.TruncatedCount, res.MaskedCount, res.SummarizedCount, res.DroppedCount)
	}
	return s + "."
}

// outcome prints the numbers of messages by decision.
func (r *reportWriter) outcome() {
	res := r.res
	all := []string{"kept " + count(res.KeptCount)}
	for _, d := range []struct {
		name string
		n    int
	}{
		{"truncated", res.TruncatedCount}, {"masked", res.MaskedCount},
		{"summarized", res.SummarizedCount}, {"dropped", res.DroppedCount},
	} {
		all = append(all, d.name+" "+count(d.n))
	}
	r.note("outcome", "outcome", strings.Join(all, " · "))
	if res.MaskedChars > 0 {
		r.note("", "", count(res.MaskedChars)+" characters masked")
	}
	r.stages()
	if s := res.InvariantStatus; s != compact.InvariantsOK {
		r.note(r.style.yellow("fallback"), "fallback", "some stages failed; see the warnings and the events")
	}
}

// stages prints the work of each stage if more than one acted. A message that
// one stage masked and the next summarized has only the last decision in the
// counts above.
func (r *reportWriter) stages() {
	var did []compact.StageReport
	for _, s := range r.res.Stages {
		if s.Edits > 0 && s.Err == "" {
			did = append(did, s)
		}
	}
	if len(did) < 2 {
		return
	}
	name, width := "stages", len(count(did[0].Before))
	for _, s := range did {
		line := left(s.Stage, stageColumns) + "  " + right(count(s.Before), width) + " → " + right(count(s.After), width)
		fmt.Fprintf(r, "%s  %s\n", left(name, noteColumns), line+editsOf(s))
		name = ""
	}
}

// editsOf describes the number of results that a stage edited. Other stages remove
// messages, which are counted elsewhere.
func editsOf(s compact.StageReport) string {
	switch s.Stage {
	case "truncate", "mask", "squeeze":
		return "  " + things(s.Edits, "tool result")
	case "media":
		return "  " + things(s.Edits, "attachment")
	}
	return ""
}

// stageColumns is the maximum length of a stage's name.
const stageColumns = 9

// details prints further facts, one line each.
func (r *reportWriter) details(out string) {
	res := r.res
	if s := res.Summary; s != nil {
		r.note("summary", "summary", fmt.Sprintf("v%d, %s by %s: %s %s for %s", s.Version, s.Strategy, by(s.Backend, s.Model), count(s.Tokens), unit(res), count(s.InputSize)))
	}
	if res.Note != "" {
		r.note("note", "note", oneLine(res.Note))
	}
	r.note("session", "session", oneLine(res.Session)+stepOf(res))
	if a := res.Archived; a != nil {
		r.note("archive", "archive", printable(a.Location))
		r.note("", "", strings.Join(a.Files, "\n"))
	}
	if out != "" && out != "-" {
		r.note("written", "written", printable(out))
	}
	r.note("time", "time", times(res.Timing))
}

func stepOf(res *compact.Result) string {
	if res.Step == 0 {
		return ""
	}
	return fmt.Sprintf(", step %d", res.Step)
}

// note writes a named line, and wraps it.
func (r *reportWriter) note(painted, name, text string) {
	for paragraph := range strings.SplitSeq(text, "\n") {
		for _, line := range wrap(paragraph, reportColumns-noteColumns-2) {
			fmt.Fprintf(r, "%s%s  %s\n", painted, strings.Repeat(" ", noteColumns-len(name)), line)
			painted, name = "", ""
		}
	}
}

// reportColumns is the width of a report.
const reportColumns = 80

const noteColumns = 12

func by(backend, model string) string {
	if model == "" {
		return backend
	}
	return backend + " (" + model + ")"
}

// window describes the window that the headline's percentage refers to.
func window(res *compact.Result) string {
	size := count(res.MaxTokens)
	if res.Model == "" {
		return "a window of " + size + " (no model is named; counted by " + res.CountingUnit + ")"
	}
	return printable(res.Model) + "'s window of " + size
}
