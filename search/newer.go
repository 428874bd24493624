package search

import "strings"

// newer has the matching lines of summaries that were read so far. The next summary of a
// session repeats most lines of the previous one, so a line is a match only in the newest
// summary that has it.
type newer map[summaryLine]bool

type summaryLine struct{ folder, line string }

// without returns a text without the lines that a newer summary of the same session has,
// and remembers the others. Messages are returned unchanged.
func (n newer) without(m *Match, marked string) string {
	if m.Role != roleSummary {
		return marked
	}
	var lines []string
	for line := range strings.SplitSeq(marked, "\n") {
		key := summaryLine{m.Folder, line}
		if !strings.Contains(line, markBegin) || n[key] {
			continue
		}
		n[key] = true
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
