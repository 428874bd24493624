package strategy

import (
	"slices"
	"strconv"
	"strings"
)

// Sections that follow the own sections of every strategy.
const (
	headingHappened = "What happened"
	headingStanding = "Where things stand"
	headingComing   = "What is next"
)

// commonSections are appended to the sections of every strategy.
var commonSections = []Section{
	{Title: headingHappened, Share: 0.45},
	{Title: headingStanding, Share: 0.25},
	{Title: headingComing, Share: 0.12},
}

// commonLines returns the lines for the common sections.
func (h *History) commonLines(s Strategy) []Line {
	var out []Line
	if i, ok := s.section(headingHappened); ok {
		out = append(out, h.logLines(i)...)
		out = append(out, h.returnedLines(i)...)
		out = append(out, h.heardLines(i)...)
	}
	if i, ok := s.section(headingStanding); ok {
		if _, own := s.section(deltaChecksTitle); !own {
			out = append(out, h.checkLines(i)...)
		}
		out = append(out, h.standingLines(i)...)
	}
	if i, ok := s.section(headingComing); ok {
		out = append(out, h.nextLines(i)...)
	}
	return out
}

// wayBack begins the line that explains the block.
const wayBack = "This block stands for the earlier part of this conversation"

// isFirst follows the number of the first message in an introduction, if it is not 1.
const isFirst = " is the first message of that part"

// introduction returns the line that explains the block and the tool recall. first is the
// number of the first message; it is not 1 if the history was changed after an earlier
// compaction, because a number names one message for good.
func introduction(words []Word, recall bool, first int) string {
	line := wayBack + "; [s12] is the 12th message of that part"
	if first > 1 {
		line = wayBack + "; " + stepID(first) + isFirst
	}
	if len(words) > 0 {
		line += ", and the words of the user are verbatim"
	}
	if slices.ContainsFunc(words, Word.cut) {
		line += ", but cut at “…” and at notes in brackets"
	}
	if recall {
		line += ". The tool recall returns the original for s12 or a reference, and looks for a pattern in all of them"
	}
	return line + "."
}

// firstNumber returns the number of the first message that a summary with the given text
// covers.
func firstNumber(text string) int {
	line, _, _ := strings.Cut(text, "\n")
	line, found := strings.CutPrefix(line, wayBack+"; [s")
	number, _, told := strings.Cut(line, "]"+isFirst)
	if n, err := strconv.Atoi(number); found && told && err == nil {
		return n
	}
	return 1
}

// withoutIntroduction removes the line of introduction from the beginning of a summary.
func withoutIntroduction(text string) string {
	if !strings.HasPrefix(text, wayBack) {
		return text
	}
	_, rest, _ := strings.Cut(text, "\n")
	return strings.TrimLeft(rest, "\n")
}

// title reports whether a line ends the section of the user's words: a heading
// of the strategy or of the renderer.
func (s Strategy) title(line string) bool {
	h, ok := strings.CutPrefix(line, "## ")
	if !ok {
		return false
	}
	if h == headingReferences || h == headingPaths || h == notes || h == headingWords {
		return true
	}
	for i := range s.Sections {
		if s.Sections[i].Title == h {
			return true
		}
	}
	return false
}
