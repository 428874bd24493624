package strategy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A Strategy says what a summary holds.
type Strategy struct {
	// Name is what configurations call it.
	Name string
	// Sections of the summary, in order; those that every strategy has are
	// appended when it is registered. What stands under none of their
	// headings becomes notes, which the next summary takes into the first.
	Sections []Section
	// Instructions say what to write, in the system prompt. What holds for
	// every strategy (length, form, what not to do) is added to them.
	Instructions string
	// Examples are worked ones: what went in, what came out.
	Examples []Example
	// Extract proposes lines for the sections, from the messages alone. It is
	// deterministic and must not modify the history.
	Extract func(h *History) []Line
}

// A Section is one heading of a summary with its lines.
type Section struct {
	Title string
	// Share of the limit that the section may take while others have
	// something to say too; 0 = no bound.
	Share float64
	// Lists says that lists of identifiers stand in this section; a strategy
	// without such a section has them under References.
	Lists bool
}

// An Example is one worked example of a prompt.
type Example struct{ History, Summary string }

// A Line is what an extractor offers for a summary: one bullet, or one sentence
// of a bullet that several share.
type Line struct {
	Section int
	Text    string // one line, without the bullet
	// Group is the beginning of a bullet that lines share: "[s12] told the user"
	// makes "- [s12] told the user: It works. The port is 80." of two lines, and
	// puts a mark where one between them was left out. Empty: a bullet of its own.
	Group string
	// Value says what the line is worth beside the identifiers in it, which
	// are valued by themselves; the best lines of a section are near 1.
	Value float64
	// Names are identifiers that the text names in pieces: the path of a file
	// whose folder it says once for several.
	Names []string
	// Order sorts the lines of a section; equal ones stay as they came.
	Order int
}

var registered = map[string]Strategy{}

// register makes a strategy known to [Lookup]; the files of the strategies do
// it when the package is initialized.
func register(s Strategy) Strategy {
	if _, taken := registered[s.Name]; taken {
		panic("strategy: " + s.Name + " registered twice")
	}
	s.Sections = append(slices.Clone(s.Sections), commonSections...)
	registered[s.Name] = s
	return s
}

// An UnknownError says that no strategy has this name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("strategy: there is no strategy %q; known: %s", e.Name, strings.Join(Names(), ", "))
}

// Lookup returns the strategy of that name; the error is an *[UnknownError].
func Lookup(name string) (Strategy, error) {
	if s, ok := registered[name]; ok {
		return s, nil
	}
	return Strategy{}, &UnknownError{name}
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

// section returns the section that a heading names: by its title, by the
// beginning of it, or with more behind it.
func (s Strategy) section(heading string) (int, bool) {
	heading = headingKey(heading)
	for i := range s.Sections {
		if headingKey(s.Sections[i].Title) == heading {
			return i, true
		}
	}
	for i := range s.Sections {
		title := headingKey(s.Sections[i].Title)
		if len(heading) >= leastHeading && (beginsWord(title, heading) || beginsWord(heading, title)) {
			return i, true
		}
	}
	return 0, false
}

// leastHeading is the shortest beginning of a title that stands for it.
const leastHeading = 4

// headingKey is a heading without what people vary: case, colons, emphasis,
// numbers, pictures.
func headingKey(h string) string {
	return strings.ToLower(strings.TrimFunc(h, func(r rune) bool { return !unicode.IsLetter(r) }))
}
