package strategy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on the sections that a caller names.
const (
	mostSections     = 12
	longestTitle     = 60 // characters
	ownSectionsShare = 0.5
)

// underTitles is the instruction to a model for headings that the caller names.
const underTitles = `Record the state of the work, so that it can go on from it: under each heading what its title says. Items of work begin with [open], [blocked] or [done].`

// Asking returns the strategy with the given sections in place of its own ones, and with
// the prompt in place of its instructions and examples. nil and "" keep the strategy's
// own. The common sections stay. Without a model, the strategy fills the sections that it
// knows, and puts its other lines under "Where things stand".
func (s Strategy) Asking(sections []string, prompt string) Strategy {
	own := s
	if len(sections) > 0 {
		own.Instructions, own.Examples = underTitles, nil
		own.Sections = nil
		for _, title := range sections {
			own.Sections = append(own.Sections, Section{Title: strings.TrimSpace(title), Share: ownSectionsShare / float64(len(sections))})
		}
		own.Sections = append(own.Sections, commonSections...)
		own.Extract = s.extractInto(own)
	}
	if prompt != "" {
		own.Instructions, own.Examples = prompt, nil
	}
	return own
}

// extractInto returns an Extract function that puts the lines of s into the sections of
// own, by title. It puts the lines of a section that own does not have under "Where things
// stand".
func (s Strategy) extractInto(own Strategy) func(h *History) []Line {
	standing, _ := own.section(headingStanding)
	to := make([]int, len(s.Sections))
	for i := range s.Sections {
		to[i] = standing
		if k, ok := own.titled(s.Sections[i].Title); ok {
			to[i] = k
		}
	}
	return func(h *History) []Line {
		lines := s.Extract(h)
		for i := range lines {
			lines[i].Section = to[lines[i].Section]
		}
		return lines
	}
}

// titled returns the section with exactly that title.
func (s Strategy) titled(title string) (int, bool) {
	i := slices.IndexFunc(s.Sections, func(o Section) bool { return o.Title == title })
	if i < 0 {
		key := headingKey(title)
		i = slices.IndexFunc(s.Sections, func(o Section) bool { return headingKey(o.Title) == key })
	}
	return i, i >= 0
}

// CheckSections returns the index of the first invalid title, and the reason.
func CheckSections(titles []string) (at int, err error) {
	if len(titles) > mostSections {
		return mostSections, fmt.Errorf("is one too many: at most %d sections", mostSections)
	}
	seen := map[string]bool{}
	for _, every := range []string{headingWords, headingHappened, headingStanding, headingComing, headingReferences, notes} {
		seen[headingKey(every)] = true
	}
	for i, title := range titles {
		key := headingKey(title)
		switch {
		case strings.IndexFunc(key, unicode.IsLetter) < 0:
			return i, errors.New("is not a heading: it has no letter")
		case utf8.RuneCountInString(title) > longestTitle:
			return i, fmt.Errorf("must have at most %d characters", longestTitle)
		case strings.ContainsFunc(title, unicode.IsControl) || strings.ContainsAny(title, "#<>"):
			return i, errors.New("must be one line of text, without # and <>")
		case seen[key] && i > 0 && slices.ContainsFunc(titles[:i], func(t string) bool { return headingKey(t) == key }):
			return i, errors.New("appears twice")
		case seen[key]:
			return i, errors.New("is in every summary; leave it out")
		}
		seen[key] = true
	}
	return 0, nil
}
