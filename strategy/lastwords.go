package strategy

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// lastWords returns the line of an output that says most about the outcome. It prefers a
// test report (with any exit status), then an address or the fields of a JSON result, then
// a line that states an action or an error, then the last meaningful line. It returns ""
// for an effect that is followed by a command that only shows something.
func (c *Call) lastWords() string {
	if c.doubt && c.Says != "" {
		return c.Says
	}
	if found := c.diagnosed(); found != "" {
		return prose.Clip(found, maxWords)
	}
	verdict, says := testReport(c.Result[max(0, len(c.Result)-maxReport):])
	if verdict == testrun.Failure && testrun.Wrapper(says) {
		says = cmp.Or(c.ErrorLine(), says)
	}
	if verdict != testrun.Failure && c.deed() == deedRun && c.Effect() {
		if own := c.ownWords(); own != "" {
			return own
		}
	}
	if verdict == testrun.Failure || verdict == testrun.Success && c.deed() != deedLook {
		return prose.Clip(says, maxWords)
	}
	if made := addressIn(body(c.Result)); made != "" {
		return prose.Clip(made, maxWords)
	}
	if fields := recordOf(body(c.Result)); len(fields) > 0 {
		most := maxWords
		if !slices.ContainsFunc(fields, func(f field) bool { return !f.nested() }) {
			most = maxNested
		}
		return prose.CutText(recordWords(fields), most)
	}
	if c.looksAfterwards() {
		return c.ownWords()
	}
	if c.showsLast() {
		return ""
	}
	if short := c.shortOutput(); short != "" {
		return short
	}
	return tellingLine(body(c.Result))
}

// longestCode is the maximum length, in characters, of the output of code that is quoted as a
// whole. Its last line is mostly the type of a table.
const longestCode = 240

// shortOutput returns a short output of code as a whole, "" for a long one and for a command.
func (c *Call) shortOutput() string {
	text := body(c.Result)
	if c.arg("code") == "" || len(text) > 4*longestCode {
		return ""
	}
	var lines []string
	for line := range strings.Lines(testrun.Uncolored(text)) {
		if line = prose.Squash(line); line != "" && !framed(line) && !ourOwn(line) && !frameOfTable(line) {
			lines = append(lines, line)
		}
	}
	all := strings.Join(lines, "; ")
	if utf8.RuneCountInString(all) > longestCode {
		return ""
	}
	return all
}

// showsLast reports whether a command ends with a part that only shows something, after
// parts that change something. Then the end of the output says nothing about the change.
func (c *Call) showsLast() bool {
	if c.Command() == "" || !c.Effect() {
		return false
	}
	last := ""
	shell.Any(c.Command(), func(simple string) bool {
		last = cmp.Or(simple, last)
		return false
	})
	return looksOnly(last) && !prose.BeginsAny(last, []string{"echo ", "printf ", "tail ", "head ", "grep ", "git status", "git log"})
}

// tellingLine returns the line of an output that says most about the outcome. If the output
// ends with many lines of one form, it also returns the few lines before them. It returns ""
// if the output ends with statements of a program, the last of which says nothing.
func tellingLine(output string) string {
	rest := strings.TrimRight(output, " \t\r\n")
	if head, tail := beforeAlike(rest); head != "" {
		return head + " … " + prose.Clip(tail, maxWords)
	}
	if rows := tableRows(rest); rows != "" {
		return rows
	}
	if few := figures(rest); few != "" {
		return few
	}
	if few := members(rest); few != "" {
		return few
	}
	last, idler := "", "" // idler is used if all lines of the output are idle
	for range 2 * statusEdge {
		i := strings.LastIndexByte(rest, '\n')
		line := strings.TrimSpace(testrun.Uncolored(rest[i+1:]))
		line = strings.TrimSpace(line[strings.LastIndexByte(line, '\r')+1:]) // a terminal no longer shows the progress before it
		if len(line) > 3 && !framed(line) && !ourOwn(line) && !noOutcome(line) && !testrun.Wrapper(line) && !frameOfTable(line) {
			line = prose.Squash(line[:min(len(line), 4*maxWords)])
			low := strings.ToLower(line)
			if prose.BeginsAny(low, tellingStarts) || installed(low) || published(line) || committed(line) {
				return prose.Clip(line, maxWords)
			}
			if idler = cmp.Or(idler, line); !idle(low) && strings.ContainsFunc(line, unicode.IsLetter) {
				last = cmp.Or(last, line)
			}
		}
		if i < 0 {
			break
		}
		rest = strings.TrimRight(rest[:i], " \t\r\n")
	}
	if strings.HasSuffix(last, ";") && endsInCode(output) {
		return ""
	}
	if word := lastReported(output); last == "" && idler == "" && len(word) <= 3 {
		last = word // "no", "0"
	}
	return prose.Clip(cmp.Or(last, idler), maxWords)
}

// leastStatements is the minimum number of lines that end like statements in the last lines of
// an output of code.
const leastStatements = 3

// endsInCode reports whether the last lines of an output are statements of a program.
func endsInCode(output string) bool {
	n := 0
	for _, line := range lastLines(output, 2*leastStatements) {
		if line = strings.TrimSpace(line); strings.HasSuffix(line, ";") || line == "}" || strings.HasSuffix(line, "{") {
			n++
		}
	}
	return n >= leastStatements
}

// Limits of an output that is quoted as a whole: its lines, and its characters.
const (
	mostFigures    = 6
	longestFigures = 100
)

// figures returns a short output as a whole if all its lines have a number, since each of
// them can be the result: "test 0.47", "train 0.90". It returns "" for other outputs, and
// for an output in which one line by itself states the outcome.
func figures(output string) string {
	if strings.Count(output, "\n") >= 2*mostFigures {
		return ""
	}
	var lines []string
	for line := range strings.Lines(testrun.Uncolored(output)) {
		line = prose.Squash(line[strings.LastIndexByte(strings.TrimRight(line, "\r\n"), '\r')+1:])
		if line == "" || framed(line) || ourOwn(line) {
			continue
		}
		if utf8.RuneCountInString(line) > longestFigures && !logLine.MatchString(line) {
			return "" // whatever the line says, it is too long
		}
		low := strings.ToLower(line)
		if !strings.ContainsAny(line, tenDigits) || markedNumber.MatchString(line) || idle(low) || noOutcome(line) || testrun.Wrapper(line) || frameOfTable(line) || installed(low) || published(line) || committed(line) || qualifies(line) || prose.BeginsAny(low, tellingStarts[:7]) || strings.Contains(low, "passed") {
			return ""
		}
		lines = append(lines, line)
	}
	if len(lines) > 1 && !slices.ContainsFunc(lines, func(l string) bool { return !logLine.MatchString(l) }) {
		return prose.Clip(lines[0], maxWords) // the newest commit is first
	}
	all := strings.Join(lines, "; ")
	if n := len(lines); n < 2 || n > mostFigures || utf8.RuneCountInString(all) > longestFigures {
		return ""
	}
	return all
}

// Limits of an output of members that is quoted as a whole.
const (
	mostMembers    = 6
	longestMembers = 160
)

// memberLine matches a line of settings: "CART_URL: http://cart", "replicas=3", or the head of a
// group of them.
var memberLine = lazy.Compile(`^[-\s]*["']?[A-Za-z_][\w.\-/]*["']?(?::|\s?=)(?:\s.*)?\S*$`)

// members returns a short output as a whole if all its lines are settings, since each of them can
// be the one that was sought. It returns "" for other outputs.
func members(output string) string {
	if strings.Count(output, "\n") >= 2*mostMembers {
		return ""
	}
	var lines []string
	for line := range strings.Lines(testrun.Uncolored(output)) {
		switch line = strings.TrimSpace(line); {
		case line == "" || framed(line) || ourOwn(line):
		case !memberLine.MatchString(line) || claims(line) || tellsFailure(line) || noOutcome(line) || testrun.Wrapper(line) || prose.BeginsAny(strings.ToLower(line), tellingStarts):
			return ""
		default:
			lines = append(lines, prose.Squash(line))
		}
	}
	all := strings.Join(lines, "; ")
	if n := len(lines); n < 2 || n > mostMembers || utf8.RuneCountInString(all) > longestMembers {
		return ""
	}
	return all
}

// logLine matches a line of git log --oneline.
var logLine = lazy.Compile(`^[0-9a-f]{7,12} \S`)

// qualifies reports whether a line qualifies a verdict ([Call.besides]).
func qualifies(line string) bool {
	return warningLine.MatchString(line) || alarmLine.MatchString(line) || skippedLine.MatchString(line) || mixedCount.MatchString(line)
}

// Limits for an output that ends with lines of one form: the maximum number of lines before
// them, and the minimum number of these lines.
const (
	mostBeforeAlike = 6
	leastAlike      = 8
)

// beforeAlike reads an output that ends with lines that differ only in their numbers. It
// returns the lines before them, and the last line. head is "" for another output, or if
// too many lines are before them.
func beforeAlike(output string) (head, tail string) {
	lines := strings.Split(testrun.Uncolored(output), "\n")
	n := len(lines)
	form := withoutDigits(lines[n-1])
	for n > 0 && withoutDigits(lines[n-1]) == form {
		n--
	}
	if n == 0 || n > mostBeforeAlike || len(lines)-n < leastAlike {
		return "", ""
	}
	for _, line := range lines[:n] {
		if line = strings.TrimSpace(line); len(line) > 3 && !framed(line) && !ourOwn(line) && !frameOfTable(line) {
			head += "; " + prose.Squash(line)
		}
	}
	head = strings.TrimPrefix(head, "; ")
	if len(head) > maxWords {
		return "", ""
	}
	return head, prose.Squash(lines[len(lines)-1])
}

// withoutDigits returns a line with # in place of each number.
func withoutDigits(line string) string {
	line = strings.TrimSpace(line)
	i := strings.IndexAny(line, tenDigits)
	if i < 0 {
		return line
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexAny(line, tenDigits) {
		b.WriteString(line[:i] + "#")
		line = strings.TrimLeft(line[i:], tenDigits)
	}
	return b.String() + line
}

const tenDigits = "0123456789"

// frameOfTable reports whether a line is a frame of a table, or the count of its rows.
func frameOfTable(line string) bool {
	if n, ok := strings.CutPrefix(line, "("); ok {
		count, rest, _ := strings.Cut(n, " ")
		return prose.IsDigits(count) && (rest == "rows)" || rest == "row)")
	}
	return typeOfTable.MatchString(line) || !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// typeOfTable matches the line in which a library states the type or the size of a table.
var typeOfTable = lazy.Compile(`^(?:(?:Name: [^,]+, |Length: \d+, |Freq: \w+, )*dtype: \w+|\[\d+ rows x \d+ columns\])$`)
