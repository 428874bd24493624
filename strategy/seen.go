package strategy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// lackedShare is the maximum share of a model's summary for lists of missing names and
// the places where they were seen. Such lists only help to find the originals; they don't
// replace them.
const lackedShare = 0.15

// seenNames is the maximum number of names in one line.
const seenNames = 6

// maxSeen is the maximum number of names that are offered, best first.
const maxSeen = 400

// quotedShare is the maximum share of a summary for quotations of names that no other
// line contains.
const quotedShare = 0.06

// seenVerb separates a place from the names that were seen there.
const seenVerb = " names "

// worthListing reports whether an identifier is meaningful next to the place where it was
// seen. A number, a version, an email address, alternative words, a device and a tool
// are not.
func (e *entity) worthListing() bool {
	switch e.Kind {
	case ident.Number, ident.Version, ident.Email:
		return false
	case ident.Path:
		if choice(e.Text) && e.Count[textAsked] == 0 || strings.HasPrefix(e.Text, "/dev/") {
			return false
		}
	}
	return !e.Tool
}

// maxCarried is the maximum number of names from the previous summary that are listed
// before the names of this history.
const maxCarried = 30

// carried returns the identifiers that the previous summary names, highest
// score first.
func (x *nameIndex) carried() []*entity {
	var out []*entity
	for _, e := range x.all {
		if e.Place > 0 && e.Kind != ident.Number {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *entity) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(len(out), maxCarried)]
}

// seenLines returns lines that name the places where missing identifiers were seen. They
// name no more identifiers than most. missing reports whether an identifier is missing.
// The names of one place share lines.
func (h *History) seenLines(section, most int, missing func(*entity) bool) []Line {
	type group struct {
		place place
		names []string
	}
	byPlace, taken := map[place]int{}, map[*entity]bool{}
	var groups []group
	n := 0
	for _, e := range slices.Concat(h.index.carried(), h.index.ranked) {
		if n == most {
			break
		}
		if !e.worthListing() || !missing(e) || taken[e] {
			continue
		}
		taken[e] = true
		n++
		p := e.In
		if p.where != textAsked && p.where != textShown {
			p.call = at{-1, 0}
		}
		i, ok := byPlace[p]
		if !ok || len(groups[i].names) == seenNames {
			i = len(groups)
			byPlace[p] = i
			groups = append(groups, group{place: p})
		}
		groups[i].names = append(groups[i].names, e.Text)
	}
	var out []Line
	for _, g := range groups {
		if where, step := h.placeName(g.place); where != "" {
			value := 0.0
			if step == 0 {
				value = seenCarried
			}
			out = append(out, Line{Section: section, Text: where + seenVerb + pairs(g.names) + cite(step), Value: value, Order: 200_000 + step})
		}
	}
	return out
}

// placeName returns a short description of a text, and its step.
func (h *History) placeName(p place) (string, int) {
	if p.step == 0 {
		return "the summary before", 0
	}
	if p.call.step >= 0 && p.call.step < len(h.Steps) && p.call.call < len(h.Steps[p.call.step].Calls) {
		s := &h.Steps[p.call.step]
		c := &s.Calls[p.call.call]
		if len(c.files) == 1 && (c.files[0].Op != fileops.Read || c.shownFile() != "") {
			return "`" + c.files[0].Path + "`", s.ID
		}
		return c.name(), s.ID
	}
	switch p.where {
	case textTold:
		return "the message", int(p.step)
	case textShown:
		if s := h.step(int(p.step)); s != nil && s.Given != "" {
			return instructionsGiven, int(p.step)
		}
		return "the text given", int(p.step)
	}
	return "the assistant", int(p.step)
}

// instructionsGiven names a file of instructions as the place of a name.
const instructionsGiven = "the file of instructions"

// quotingVerbs separate a place from the lines that are quoted from it.
var quotingVerbs = []string{" has “", hadBefore + "[s", " printed “", " shows “", showsVerb + "“", " was changed with “", " declares “", " says “", readsVerb}

// sawNames reports whether a line lists names of a place, or quotes lines for
// the names in them.
func sawNames(line string) bool {
	return prose.BeginsAny(line, []string{"`", "the diff", "the output"}) && prose.HasAny(line, quotingVerbs) || strings.Contains(line, "`"+seenVerb) || prose.BeginsAny(line, []string{"the summary before" + seenVerb, "the message" + seenVerb, "the text given" + seenVerb, instructionsGiven + seenVerb, "the assistant" + seenVerb})
}

// seenSection returns the section for the lines of seenLines.
func (s Strategy) seenSection() int {
	for _, title := range []string{"Key entities", headingStanding} {
		if i, ok := s.section(title); ok {
			return i
		}
	}
	return 0
}

// excerptSection returns the section for excerpts of texts that were read.
func (s Strategy) excerptSection() int {
	if i, ok := s.section(headingHappened); ok {
		return i
	}
	return 0
}

// quotedLines returns lines that quote texts with the best missing identifiers. most is the
// maximum number of these identifiers. missing reports whether an identifier is missing.
// The quotations from one place share lines.
func (h *History) quotedLines(section, most int, missing func(*entity) bool) []Line {
	groups := placedQuotes{byPlace: map[place]int{}}
	n := 0
	for _, e := range h.index.ranked {
		if n == most {
			break
		}
		if !e.worthListing() || !missing(e) {
			continue
		}
		text, verb := h.textAt(e.In)
		if verb == "" || h.typedIn(e.In, e.Text) || h.outdates(e.In) {
			continue
		}
		n++
		i := groups.of(e.In, verb)
		if verb == showsVerb && !h.concerns(lineWith(text, e.Text), e.Text) {
			continue // a page has many names, of its sponsors for example
		}
		groups.add(i, text, e.Text)
	}
	var out []Line
	for i := range groups.list {
		g := &groups.list[i]
		if len(g.lines) > 0 {
			where, step := h.placeName(g.place)
			out = append(out, Line{Section: section, Text: where + g.verb + g.String() + cite(step), Order: 70_000 + step})
		}
	}
	return out
}

// placedQuotes are the quotations of a section, grouped by their place.
type placedQuotes struct {
	list    []quotationGroup
	byPlace map[place]int // index of the group that a place adds to
}

type quotationGroup struct {
	place place
	verb  string
	quotation
}

// of returns the index of the group of a place, and begins one if there is none.
func (q *placedQuotes) of(p place, verb string) int {
	i, ok := q.byPlace[p]
	if !ok || q.list[i].verb != verb {
		i = len(q.list)
		q.byPlace[p] = i
		q.list = append(q.list, quotationGroup{place: p, verb: verb})
	}
	return i
}

// add quotes the line of a text that has a name, in a new group if the group is full.
func (q *placedQuotes) add(i int, text, name string) {
	g := &q.list[i]
	if g.add(text, name) || len(g.lines) != quotesTogether {
		return
	}
	more := quotationGroup{place: g.place, verb: g.verb}
	if more.add(text, name) {
		q.byPlace[g.place] = len(q.list)
		q.list = append(q.list, more)
	}
}

// typedIn reports whether the words of the user at a place have a name. They stay verbatim.
func (h *History) typedIn(p place, name string) bool {
	s := h.step(int(p.step))
	return p.call.step < 0 && s != nil && s.user() && strings.Contains(s.Text, name)
}

// concerns reports whether a line has a word of the task besides the name for which it is
// quoted, or the task has no words to compare.
func (h *History) concerns(line, name string) bool {
	return len(h.themes()) == 0 || h.themes().in(strings.ReplaceAll(line, name, " "), 1) > 0
}

// addSeen lists under References, within lackedShare, the most important identifiers that
// a model's document lacks.
func (h *History) addSeen(d Document, s Strategy, limit int, count func(string) int) Document {
	c := newComposer(s, h, limit, count)
	c.base = ""
	have := namesIn(d)
	missing := func(e *entity) bool { return !have[e.Text] }
	lines := h.seenLines(0, salient, missing)
	all := c.candidates(lines)
	for _, k := range all {
		k.gain = c.worth(k)
	}
	slices.SortStableFunc(all, func(a, b *candidate) int { return cmp.Compare(b.gain, a.gain) })
	room := min(int(lackedShare*float64(limit)), limit-count(d.Render(s))) - count("\n## "+headingReferences+"\n")
	d.References = nil
	for _, k := range all {
		if k.cost <= room {
			room -= k.cost
			d.References = append(d.References, k.Text)
		}
	}
	return d
}
