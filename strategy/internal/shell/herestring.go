package shell

import "strings"

// WithoutHereStrings returns a script without the text of the here-strings of PowerShell: they
// begin with @' or @" at the end of a line, and end with '@ or "@ at the beginning of one. It
// returns the whole script if a here-string does not end.
func WithoutHereStrings(cmd string) string {
	if !strings.Contains(cmd, "\n'@") && !strings.Contains(cmd, "\n\"@") {
		return cmd
	}
	var out strings.Builder
	end := ""
	for line := range strings.Lines(cmd) {
		if end != "" {
			rest, ends := strings.CutPrefix(line, end)
			if !ends {
				continue
			}
			line, end = rest, ""
		}
		before := strings.TrimRight(line, " \t\r\n")
		switch {
		case strings.HasSuffix(before, "@'"):
			line, end = before[:len(before)-2], "'@"
		case strings.HasSuffix(before, `@"`):
			line, end = before[:len(before)-2], `"@`
		}
		out.WriteString(line)
	}
	if end != "" {
		return cmd
	}
	return out.String()
}
