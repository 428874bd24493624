package strategy

import (
	"errors"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/material"
	"github.com/agentcompact/compact/strategy/internal/ident"
)

var errUnverified = errors.New("verification removed all of its lines")

// Complete turns a draft into the text of a summary. It verifies the draft of a model, adds
// missing identifiers, redacts the text and keeps it within the limit.
func (t *Task) Complete(s Strategy, draft string, model bool) (material.Text, error) {
	d := ParseDocument(s, neutralText(draft))
	d.Words = nil // Head adds them
	var v verdict
	if model {
		d, v = verify(d, t.material())
		d = t.history.verifyClaims(d, s, t.Request(s), &v)
		d.References = nil // they are chosen by rank, not by the model
		if d.empty() {
			return material.Text{}, &Failure{Reason: ErrUnusable, Detail: errUnverified}
		}
		d = t.history.withPlan(d, s, t.limit, t.in.Count, func(d Document, limit int) Document { return t.fitted(d, s, limit) })
	}
	text := d.Render(s)
	if t.terms.Redact != nil {
		if clean := t.terms.Redact(text); clean != text {
			d = fit(ParseDocument(s, clean), s, t.limit, t.in.Count)
			text = d.Render(s)
		}
	}
	if strings.TrimSpace(text) == "" {
		if model {
			return material.Text{}, &Failure{Reason: ErrUnusable, Detail: errUnverified}
		}
		if text = ""; len(t.words) == 0 {
			text = nothingSaid
		}
	}
	out := material.Text{Text: strings.TrimSpace(t.head(s) + text), Invented: v.invented, Retention: retention(d, t.history.index)}
	out.Named, out.References = d.identifiers()
	return out, nil
}

// fitted returns a model's document with the identifiers that it lacks, within
// limit tokens.
func (t *Task) fitted(d Document, s Strategy, limit int) Document {
	d = makeRoom(d, s, t.history.index, limit, t.in.Count)
	d = t.history.addSeen(d, s, limit, t.in.Count)
	return fit(d, s, limit, t.in.Count)
}

// identifiers counts the identifiers that a document names. referenced counts the
// identifiers that occur only in lines that list where names were seen.
func (d Document) identifiers() (named, referenced int) {
	all, told := map[string]bool{}, map[string]bool{}
	d = d.full()
	d.all(func(lines []string) []string {
		for _, l := range lines {
			for _, id := range ident.All(l) {
				all[id] = true
				told[id] = told[id] || !sawNames(l)
			}
		}
		return lines
	})
	for id := range all {
		if !told[id] {
			referenced++
		}
	}
	return len(all), referenced
}

// source returns the texts from which a summary may take names: the messages, the
// previous summary, and the counts that the summarizer saw.
func (t *Task) source() *source {
	more := []string{t.in.Previous}
	r := t.Request(t.strategy)
	for _, e := range r.entries() {
		for _, o := range e.observations {
			more = append(more, o.line)
		}
	}
	if t.terms.AllSeen {
		return newSource(slices.Concat(t.in.Messages, t.in.Visible), more...)
	}
	return newSource(t.in.Messages, more...)
}

// neutralText disables text in a draft that reads like this package's tags.
func neutralText(s string) string {
	if !strings.Contains(s, "COMPACT-SUMMARY") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "<COMPACT-SUMMARY", "<compact-summary"), "</COMPACT-SUMMARY", "</compact-summary")
}

// makeRoom drops lines that name none of the most salient identifiers, last
// lines first, until the missing identifiers fit as references.
func makeRoom(d Document, s Strategy, x *nameIndex, limit int, count func(string) int) Document {
	d = d.clone()
	top := map[string]bool{}
	for _, e := range x.Top(salient) {
		top[e.Text] = true
	}
	for {
		have := namesIn(d)
		need := 0
		for id := range top {
			if !have[id] {
				need += count(" " + id)
			}
		}
		if need > 0 {
			need += 25
		}
		need = min(need, int(float64(limit)*lackedShare))
		if count(d.Render(s))+need <= limit || !d.dropPlain(top) {
			return d
		}
	}
}

// dropPlain removes the last line that names none of the identifiers, from the
// longest section that has one. The first line of a section stays.
func (d *Document) dropPlain(names map[string]bool) bool {
	longest, at := -1, -1
	for i := range d.Sections {
		if longest >= 0 && len(d.Sections[i]) <= len(d.Sections[longest]) {
			continue
		}
		for k := len(d.Sections[i]) - 1; k > 0; k-- {
			if !namesAny(d.Sections[i][k], names) {
				longest, at = i, k
				break
			}
		}
	}
	if longest < 0 {
		return false
	}
	s := d.Sections[longest]
	d.Sections[longest] = append(s[:at:at], s[at+1:]...)
	return true
}

func namesAny(line string, names map[string]bool) bool {
	for _, id := range ident.All(line) {
		if names[id] {
			return true
		}
	}
	return false
}

// nothingSaid is the summary of messages without words of the user and without
// actions.
const nothingSaid = "Nothing was asked, said or done in it."
