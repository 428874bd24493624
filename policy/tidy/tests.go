package tidy

import "strings"

// totals are the beginnings of lines that sum up a test run, a build or a linter.
var totals = byFirst(
	"FAIL", "ok  \t", "PASS", "Tests:", "Tests ", "Test Files", "Test Suites", "Ran ", "test result:", "BUILD ", "Found ", "Failures:", "FAILED", "Summary", "Total", "Done in", "Finished",
	"Duration", "Coverage", "make: ", "make[", "npm ERR", "error Command", "Executed ", "Results", "✖ ", "✗ ", "Passed!", "Failed!",
	"not ok", "TAP version", "# tests ", "# pass ", "# fail ",
)

// passes are the beginnings of lines that report success or progress.
var passes = byFirst("ok ", "PASS", "--- PASS", "=== RUN", "=== PAUSE", "=== CONT", "✓", "✔", "√", "(pass)", "· ", "[PASS]", "PASSED", "Compiling ", "Downloading ", "Downloaded ", "Checking ", "Building ", "Installing ", "Collecting ", "Requirement already", "Fetching ")

// tests reduces the output of a test run or a build to the failures, the lines
// around them, and the totals.
func tests(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	if r.asked.file != "" {
		return pass
	}
	says, run := d.isRun(from, to)
	if !run {
		return pass
	}
	c := newChoice(d)
	c.errors()
	for i := from; i < to; i++ {
		switch is := says[i-from]; {
		case is&aPass != 0: // even if the line is also a total, because there may be one per file
			if c.rank[i] < must {
				c.rank[i] = drop
			}
		case is&aTotal != 0:
			c.raise(i, best)
		}
		text := unprefixed(d.lines[i].text)
		switch {
		case strings.HasPrefix(text, "not ok"):
			c.around(i, must, 1, 2)
		case strings.HasPrefix(text, compared):
			c.raise(i, best)
		case says[i-from]&aPass == 0 && isDetail(text):
			c.raise(i, good)
		}
		if c.rank[i] == must {
			for k := i + 1; k <= i+8 && k < to && says[k-from]&aPass == 0; k++ {
				c.raise(k, good)
			}
		}
	}
	c.span(from, to, room/10, room/5)
	c.named(r, good)
	return done(d.shown("failures and totals", c.take(room)))
}

// compared is the beginning of the lines in which pytest prints the compared values.
const compared = "E   "

// details are the beginnings of lines with the values that a failed test compared.
var details = byFirst("> ", "Expected", "Received", "expected", "received", "actual", "got", "want", "left:", "right:", "assert", "AssertionError", "--> ", "● ", "- Expected", "+ Received", "panic:", "thread '")

// isDetail reports whether a line says what failed: a comparison, or a text after a file
// and a line number.
func isDetail(text string) bool {
	return beginsAny(text, details) || hitOf(text).at > 0
}

// The meaning of a line, as bits.
const (
	aPass uint8 = 1 << iota
	aTotal
)

// isRun reports whether the output comes from a test run, a build or a linter: it has
// enough lines that report success or progress, or enough totals. says holds the meaning
// of each line.
func (d *draft) isRun(from, to int) (says []uint8, run bool) {
	pass, total := 0, 0
	says = make([]uint8, to-from)
	for i := from; i < to; i++ {
		text := unprefixed(d.lines[i].text)
		if isTotal(text) {
			says[i-from] |= aTotal
		}
		if isPass(text) {
			says[i-from] |= aPass
			pass++
		} else if says[i-from] != 0 {
			total++
		}
	}
	return says, pass*4 >= to-from || total > 0 && pass*10 >= to-from || total > 2
}

func isPass(text string) bool {
	return beginsAny(text, passes) || strings.HasSuffix(text, " PASSED") || strings.HasSuffix(text, "... ok") || strings.IndexByte(text, 'P') >= 0 && strings.Contains(text, " PASSED ")
}

// isTotal reports whether a line sums up a run. Such a line has a known beginning, a
// frame of equals signs, or a count of passes or failures.
func isTotal(text string) bool {
	if len(text) > 300 {
		return false
	}
	if beginsAny(text, totals) {
		return true
	}
	if strings.HasPrefix(text, "==") && strings.HasSuffix(text, "==") {
		return true
	}
	for i := 0; ; i++ {
		n := strings.IndexByte(text[i:min(len(text), 40)], ' ')
		if n < 0 {
			return false
		}
		if i += n; i > 0 && isDigit(text[i-1]) && beginsAny(text[i+1:], sums) {
			return true
		}
	}
}

// sums are the words that follow a count in a total.
var sums = byFirst("pass", "fail", "errors", "warnings")

// unprefixed returns a line without its indentation and without the prefix that a program
// adds when it runs several tasks ("@scope/name test: ").
func unprefixed(text string) string {
	text = unindented(text)
	if i := strings.Index(text[:min(len(text), 61)], ": "); i > 0 {
		head := text[:i]
		if strings.HasSuffix(head, " test") || strings.HasSuffix(head, " build") || strings.HasSuffix(head, " lint") || strings.HasSuffix(head, ":test") || strings.HasSuffix(head, ":build") || strings.HasSuffix(head, ":lint") {
			return strings.TrimLeft(text[i+2:], " ")
		}
	}
	return text
}

// starts holds beginnings of lines by their first byte.
type starts [256][]string

func byFirst(all ...string) *starts {
	t := &starts{}
	for _, s := range all {
		t[s[0]] = append(t[s[0]], s)
	}
	return t
}

func beginsAny(text string, t *starts) bool {
	if text == "" {
		return false
	}
	for _, s := range t[text[0]] {
		if strings.HasPrefix(text, s) {
			return true
		}
	}
	return false
}
