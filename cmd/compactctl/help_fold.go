package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// foldHelp wraps the texts of all commands at helpColumns. Indented lines stay
// unchanged.
func foldHelp(cmd *cobra.Command) {
	cmd.Long = folded(cmd.Long)
	for _, sub := range cmd.Commands() {
		foldHelp(sub)
	}
}

// folded wraps each paragraph that has a line which is too long.
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
