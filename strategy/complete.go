package strategy

import (
	"errors"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/ident"
)

var errUnverified = errors.New("verification removed all of its lines")

// complete turns a draft into the text of a summary. It verifies the draft, adds missing
// identifiers, redacts the text and keeps it within the limit.
func (j *job) complete(draft string) (string, error) {
	d := ParseDocument(j.strategy, neutralText(draft))
	d.Words = nil // head adds them
	var v verdict
	if j.info.Name != BackendExtractive {
		d, v = verify(d, j.material())
		d = j.history.verifyClaims(d, j.strategy, j.request(), &v)
	}
	if j.info.Name != BackendExtractive {
		// References are chosen by rank, not by the model.
		d.References = nil
	}
	if d.empty() && j.info.Name != BackendExtractive {
		return "", &Failure{Reason: ErrUnusable, Detail: errUnverified}
	}
	if j.info.Name != BackendExtractive {
		d = j.history.withPlan(d, j.strategy, j.limit, j.in.Count, j.fitted)
	}
	text := d.Render(j.strategy)
	if j.w.Redact != nil {
		if clean := j.w.Redact(text); clean != text {
			d = fit(ParseDocument(j.strategy, clean), j.strategy, j.limit, j.in.Count)
			text = d.Render(j.strategy)
		}
	}
	if strings.TrimSpace(text) == "" {
		if j.info.Name != BackendExtractive {
			return "", &Failure{Reason: ErrUnusable, Detail: errUnverified}
		}
		if text = ""; len(j.words) == 0 {
			text = nothingSaid
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.outcome.Named, j.outcome.References = d.identifiers()
	j.outcome.Invented = v.invented
	j.outcome.Retention = retention(d, j.history.index)
	return strings.TrimSpace(j.head(j.strategy) + text), nil
}

// fitted returns a model's document with the identifiers that it lacks, within
// limit tokens.
func (j *job) fitted(d Document, limit int) Document {
	d = makeRoom(d, j.strategy, j.history.index, limit, j.in.Count)
	d = j.history.addSeen(d, j.strategy, limit, j.in.Count)
	return fit(d, j.strategy, limit, j.in.Count)
}

// identifiers counts the identifiers that a document names. referenced counts those
// that occur only in lines that list where names were seen.
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
func (j *job) source() *source {
	more := []string{j.in.Previous}
	r := j.request()
	for _, e := range r.entries() {
		for _, o := range e.observations {
			more = append(more, o.line)
		}
	}
	if j.info.Name == BackendAgent { // the agent's request also holds the visible messages
		return newSource(slices.Concat(j.in.Messages, j.in.Visible), more...)
	}
	return newSource(j.in.Messages, more...)
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
