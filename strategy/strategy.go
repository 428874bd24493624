package strategy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A Strategy defines the contents of a summary.
type Strategy struct {
	// Name is the name in configurations.
	Name string
	// Sections are the sections of the summary, in order; the common sections
	// are appended when it is registered. Lines under no heading become notes,
	// which the next summary puts into the first section.
	Sections []Section
	// Instructions describe the contents, in the system prompt. The rules for
	// every strategy (length, format, what to avoid) are added.
	Instructions string
	// Examples are worked examples: a history and its summary.
	Examples []Example
	// Extract proposes lines for the sections, from the messages alone. It is
	// deterministic and must not modify the history.
	Extract func(h *History) []Line
}

// A Section is one section of a summary.
type Section struct {
	Title string
	// Share is the share of the limit for this section while other sections
	// have lines to add; 0 = no limit.
	Share float64
	// Lists says that lists of identifiers go into this section. If no section has this
	// flag, they go under References.
	Lists bool
}

// An Example is one worked example of a prompt.
type Example struct{ History, Summary string }

// A Line is a proposal of an extractor for a summary: one bullet, or one
// sentence of a shared bullet.
// Section is an index in [Strategy.Sections].
type Line struct {
	Section int
	Text    string // one line, without the bullet
	// Group is the beginning of a bullet that several lines share. With "[s12] told the
	// user", two lines become "- [s12] told the user: It works. The port is 80."; a mark
	// shows where a line between them was left out. A line with an empty Group has a
	// separate bullet.
	Group string
	// Value is the worth of the line besides its identifiers, which are rated
	// separately; the best lines of a section have about 1.
	Value float64
	// Names are identifiers that the text contains only in pieces, such as the path of a
	// file if its folder is written once for several files.
	Names []string
	// Order sorts the lines of a section; the sort is stable.
	Order int

	inside  bool   // a part of a result that other parts precede
	of      int    // number of parts of the result, if it is a list; 0 = unknown
	member  string // name of the list in the result that has the part, if the text lacks it
	routine bool   // a look or an edit, which another line mostly tells

	place *listed // place in a list of the quoted message; nil = not in a list
}

var registered = map[string]Strategy{}

// register adds a strategy for [Lookup]. The files of the strategies call it when the
// package is initialized.
func register(s Strategy) Strategy {
	if _, taken := registered[s.Name]; taken {
		panic("strategy: " + s.Name + " registered twice")
	}
	s.Sections = append(slices.Clone(s.Sections), commonSections...)
	registered[s.Name] = s
	return s
}

// Lookup returns the strategy of that name; the error lists the names.
func Lookup(name string) (Strategy, error) {
	if s, ok := registered[name]; ok {
		return s, nil
	}
	return Strategy{}, fmt.Errorf("strategy: unknown strategy %q; known strategies are %s", name, strings.Join(Names(), ", "))
}

// Names returns the names of the strategies, sorted.
func Names() []string {
	names := make([]string, 0, len(registered))
	for n := range registered {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// section returns the section that a heading names: by its title, by a
// beginning of the title, or by the title with more words after it.
func (s Strategy) section(heading string) (int, bool) {
	for i := range s.Sections {
		if s.Sections[i].Title == heading { // the common case, without a key for each title
			return i, true
		}
	}
	heading = headingKey(heading)
	for i := range s.Sections {
		if headingKey(s.Sections[i].Title) == heading {
			return i, true
		}
	}
	for i := range s.Sections {
		title := headingKey(s.Sections[i].Title)
		if len(heading) >= leastHeading && (prose.BeginsWord(title, heading) || prose.BeginsWord(heading, title)) {
			return i, true
		}
	}
	return 0, false
}

// leastHeading is the minimum length of a heading that matches only a part of a title, in
// bytes.
const leastHeading = 4

// headingKey returns a heading in lower case, without colons, emphasis, numbers and emoji
// around it.
func headingKey(h string) string {
	return strings.ToLower(strings.TrimFunc(h, func(r rune) bool { return !unicode.IsLetter(r) }))
}
