package strategy

import "strings"

// carried offers the lines of the summary before again, where nothing that is
// known now stands in their place.
func (h *History) carried(s Strategy, now []Line) []Line {
	taken := map[string]bool{}
	for _, l := range now {
		if k := subject(longPaths(l.Text, h.base)); k != "" {
			taken[k] = true
		}
	}
	next, _ := s.section(Coming)
	log, _ := s.section(Happened)
	newNext := len(h.Steps) > 0 && h.announced().Text != ""
	var out []Line
	offer := func(section int, lines []string) {
		for n, l := range lines {
			_, _, item := statusOf(l)
			if item || beginsAny(l, []string{newestRequest, firstRequest, notReplied}) || listing(l) || onlyNames(l) || h.tellsOfFiles(l) || section == next && newNext && next > 0 {
				continue
			}
			if k := subject(l); k != "" && taken[k] && section != log {
				continue
			}
			out = append(out, Line{Section: section, Text: l, Value: carriedValue(section, n, l, section == log), Order: max(lastStep(l)-carriedBefore, -carriedBefore)})
		}
	}
	offer(0, h.Previous.Notes)
	for i, lines := range h.Previous.Sections {
		offer(i, lines)
	}
	return out
}

// onlyNames reports whether a line lists names of the summary before the one that
// it stands in: nobody could work from it.
func onlyNames(line string) bool { return strings.HasPrefix(line, "the summary before"+seenVerb) }

// carriedBefore puts what is carried before what is new.
const carriedBefore = 1 << 20

// carriedValue is what a line of the summary before is worth: the task most,
// what failed or was found by the place that it has there.
func carriedValue(section, n int, line string, log bool) float64 {
	switch {
	case section == 0 && n == 0:
		return taskValue
	case sawNames(line):
		return seenCarried
	case strings.Contains(line, "failed"):
		return 1.95
	case log:
		return max(1.8-0.02*float64(n), 1.2)
	}
	return max(1.9-0.03*float64(n), 1.2)
}

// seenCarried is what a line of names is worth that was carried.
const seenCarried = 0.25

// tellsOfFiles reports whether a line is one from which the states of files
// are read back.
func (h *History) tellsOfFiles(l string) bool {
	d := Document{Notes: []string{l}}
	return len(d.files()) > 0
}

// subject is what a line says something of: the command or the file in
// backticks at its beginning.
func subject(line string) string {
	for _, before := range []string{"ran ", "called ", ""} {
		if rest, ok := strings.CutPrefix(line, before+"`"); ok {
			name, _, ok := strings.Cut(rest, "`")
			if ok {
				return name
			}
		}
	}
	return ""
}
