package main

import "strings"

// folded wraps each paragraph that has a line which is too long. Indented lines stay
// unchanged.
func folded(text string) string {
	var out, paragraph []string
	end := func() {
		for _, line := range paragraph {
			if columnsOf(line) > helpColumns {
				paragraph = wrap(strings.Join(paragraph, " "), helpColumns)
				break
			}
		}
		out, paragraph = append(out, paragraph...), nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
			end()
			out = append(out, line)
			continue
		}
		paragraph = append(paragraph, line)
	}
	end()
	return strings.Join(out, "\n")
}
