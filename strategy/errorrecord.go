package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// mostOfRecord is the maximum number of lines of the message in an error record.
const mostOfRecord = 4

// withoutRecords replaces the error records of PowerShell by their messages. A record has a
// message of one or more lines, the place of the command, the marked command, a category and an
// id; the category repeats the message in codes. messages are the messages of cmdlets and of
// PowerShell itself. The record of another program is made of the first line that the program
// wrote to its standard error, which is left alone.
func withoutRecords(text string) (rest string, messages []string) {
	if !strings.Contains(text, "+ FullyQualifiedErrorId") {
		return text, nil
	}
	lines := strings.Split(text, "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		end, id := recordEnd(lines, i)
		if end == 0 {
			out = append(out, lines[i])
			continue
		}
		if i = end; id == "NativeCommandError" {
			continue
		}
		from := len(out)
		for from > 0 && len(out)-from < mostOfRecord && strings.TrimSpace(out[from-1]) != "" {
			if from--; strings.Contains(out[from], " : ") {
				break
			}
		}
		message := prose.Squash(strings.Join(out[from:], " "))
		out, messages = append(out[:from], message), append(messages, message)
	}
	return strings.Join(out, "\n"), messages
}

// recordEnd returns the last line of the error record whose place stands in line i, and the id
// of the error; 0 if no record has its place there.
func recordEnd(lines []string, i int) (end int, id string) {
	if place := strings.TrimSpace(lines[i]); !strings.HasPrefix(place, "At ") || !strings.Contains(place, " char:") {
		return 0, ""
	}
	for k := i + 1; k < len(lines) && strings.TrimSpace(lines[k]) != ""; k++ {
		if _, after, ok := strings.Cut(lines[k], "+ FullyQualifiedErrorId : "); ok {
			return k, strings.TrimSpace(after)
		}
	}
	return 0, ""
}
