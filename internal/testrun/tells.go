package testrun

import (
	"strings"
	"unicode"
)

// Tells returns the line of an output that says most of how its command ended: To 0 if
// none does. failed says that the command ended with a status other than 0.
//
// What [Read] takes for a failure goes first. Of a command that failed it is then the
// first place in a file, or the first line that calls itself an error, or else the
// last one with a word of one. Of any other command it is a commit that was made, or
// the last line that says what was done or what went wrong: behind a pipe, an exception
// ends with status 0.
func Tells(output string, failed bool) Report {
	r := Read(output)
	if r.Verdict == Failure {
		return r.unframed(output)
	}
	var s reader
	from := 0
	for line := range strings.Lines(output) {
		start := from
		from += len(line)
		line = line[:min(len(line), longest)]
		text := strings.TrimSpace(line)
		if text == "" {
			continue
		}
		start += strings.Index(line, text)
		s.read(line, strings.TrimSpace(Uncolored(text)), Report{From: start, To: start + len(text)})
	}
	return s.best(r, failed).unframed(output)
}

// unframed returns the report without the rule in which a line stands: of
// "=== 2 passed ===" only what is said counts.
func (r Report) unframed(output string) Report {
	line := output[r.From:r.To]
	if strings.HasPrefix(line, "==") {
		inner := strings.Trim(line, "= ")
		r.From += strings.Index(line, inner)
		r.To = r.From + len(inner)
	}
	return r
}

// A reader keeps the lines that say how a command ended. To 0 means that there is none.
type reader struct {
	commit, first, word, last, place, tick Report
	ticked                                 int  // lines with a sign that something is done or holds
	traced                                 bool // within the lines of a traceback
}

func (s *reader) read(line, plain string, at Report) {
	low := strings.ToLower(plain[:min(len(plain), longestStatus)])
	trace := s.traced
	if s.traced = s.traced && (line[0] == ' ' || line[0] == '\t') || strings.HasPrefix(low, "traceback (most recent call last)"); s.traced {
		return
	}
	switch {
	case Wrapper(plain) || !strings.ContainsFunc(plain, unicode.IsLetter):
	case commits(plain):
		s.commit = at.is(Success)
	case trace && raised(plain), begins(low, errorStarts), begins(plain, alarms):
		s.last = at.is(Failure)
		if s.first.To == 0 || trace {
			s.first = s.last
		}
	case Diagnostic(plain) && (line[0] > ' ' || !Logged(plain)):
		if s.place.To == 0 {
			s.place = at.is(Failure)
		}
	case begins(plain, ticks) && !hasAny(low, sums):
		if s.ticked++; s.ticked == 1 {
			s.tick = at.is(Success)
		}
	case Line(plain) == Success, begins(plain, ticks), begins(low, doneStarts), pushed(plain):
		s.last = at.is(Success)
	case hasAny(low, errorWords):
		s.word = at.is(Failure)
	}
}

func (r Report) is(v Verdict) Report { return Report{v, r.From, r.To} }

func (s *reader) best(reported Report, failed bool) Report {
	switch {
	case failed && s.place.To > 0:
		return s.place
	case failed && s.first.To > 0:
		return s.first
	case failed:
		return s.word
	case s.commit.To > 0:
		return s.commit
	case s.last.To > 0:
		return s.last
	case s.ticked == 1: // one of many would say less than nothing
		return s.tick
	}
	return reported
}

// errorStarts begin lines, in lower case, in which a command says that it failed. alarms
// do so by a sign.
var (
	errorStarts = []string{"fatal: ", "error: ", "error[", "! [rejected]", "! [remote rejected]", "conflict (", "automatic merge failed", "panic: ", "uncaught ", "bash: ", "sh: ", "zsh: ", "curl: ("}
	alarms      = []string{"✗", "✘", "❌", "✖", "⛔", "⚠"}
)

// errorWords stand in lines of other commands that failed.
var errorWords = []string{"error", "failed", "cannot ", "can't ", "could not ", "not found", "no such ", "denied", "refused", "invalid", "timed out", "conflict", "unable to ", "not staged", "nothing to commit", "nothing added"}

// doneStarts begin lines, in lower case, in which a command says what it did.
var doneStarts = []string{"successfully ", "all tests pass", "all checks pass", "all existing tests pass", "created pull request", "https://github.com/", "* [new ", "added ", "published "}

// ticks begin lines about something that is done or holds. One of a list of them says
// little, unless it sums up.
var (
	ticks = []string{"✓", "✔", "✅", "🎉"}
	sums  = []string{" all ", " pass", "success", "complete", " done", "created"}
)

// commits reports whether git says in a line what it committed: "[main 1a2b3c4] Subject".
func commits(line string) bool {
	head, _, closed := strings.Cut(strings.TrimPrefix(line, "["), "] ")
	words := strings.Fields(head)
	if line[0] != '[' || !closed || len(words) < 2 {
		return false
	}
	hash := words[len(words)-1]
	return len(hash) >= 7 && strings.Trim(hash, "0123456789abcdef") == ""
}

// pushed reports whether git says in a line what it pushed: "1a2b3c4..5d6e7f8  main -> main".
func pushed(line string) bool {
	refs, to, ok := strings.Cut(line, " -> ")
	words := strings.Fields(refs)
	return ok && to != "" && len(words) == 2 && strings.Contains(words[0], "..")
}

// raised reports whether a line names an exception: "ValueError: too large".
func raised(line string) bool {
	name, _, _ := strings.Cut(line, ":")
	return name != "" && !strings.ContainsAny(name, " \t()=") && unicode.IsLetter(rune(name[0]))
}

func hasAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
