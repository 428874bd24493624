package testrun

import (
	"slices"
	"strings"
	"unicode"
)

// Tells returns the line of an output that describes best how its command ended; To is 0
// if there is none. failed reports that the command ended with a status other than 0.
// printed is text that the command prints in any case, so a success in it does not
// count.
//
// A failure according to [Read] comes first. Otherwise, the first of these lines that the
// output has is returned:
//
//   - for a failed command: the first place in a file; the first line that calls itself an
//     error; the last line with a word for an error
//   - a line about an end of the command from outside, if the output begins with it or no
//     other line about the end follows it
//   - for a command that has ended and has not failed: an error after a commit; a commit;
//     the last line about a success or an error, because after a pipe a program that
//     raised an exception can have status 0; the only line with a tick
func Tells(output string, failed bool, printed string) Report {
	r := Read(output)
	if r.Verdict == Failure {
		return r.unframed(output)
	}
	s := reader{printed: printed}
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
		s.began = true
	}
	return s.best(failed).unframed(output)
}

// unframed returns the report for the text inside a frame: of "=== 2 passed ===" only "2
// passed" counts.
func (r Report) unframed(output string) Report {
	line := output[r.From:r.To]
	if strings.HasPrefix(line, "==") {
		inner := strings.Trim(line, "= ")
		r.From += strings.Index(line, inner)
		r.To = r.From + len(inner)
	}
	return r
}

// A reader keeps the lines that describe how a command ended. To 0 means that there is
// none.
type reader struct {
	commit, first, word, last, place, tick Report
	grave, stopped                         Report // the last error, and the line about an end of the command from outside
	ticked                                 int    // lines with a sign for something done or valid
	traced                                 bool   // within the lines of a traceback
	began                                  bool   // a line was read
	cut                                    bool   // the first line describes an end of the command from outside
	runs                                   bool   // the command still runs
	printed                                string // text that the command prints in any case
}

func (s *reader) read(line, plain string, at Report) {
	low := strings.ToLower(plain[:min(len(plain), longestStatus)])
	trace := s.traced
	if s.traced = s.traced && (line[0] == ' ' || line[0] == '\t') || strings.HasPrefix(low, "traceback (most recent call last)"); s.traced {
		return
	}
	switch {
	case isTermination(low):
		s.stopped, s.cut = at.is(Failure), s.cut || !s.began
	case Wrapper(plain) || !strings.ContainsFunc(plain, unicode.IsLetter):
	case begins(low, runningStarts):
		s.runs = true
	case line[0] == '[' && commits(plain):
		s.commit, s.grave = at.is(Success), Report{}
	case begins(low, idleStarts) && s.last.To > 0:
	case trace && namesException(plain), begins(low, errorStarts), begins(plain, alarms), begins(low, idleStarts):
		s.last = at.is(Failure)
		if !begins(plain, alarms) && !begins(low, idleStarts) {
			s.grave = s.last
		}
		if s.first.To == 0 || trace {
			s.first = s.last
		}
	case Diagnostic(plain) && (line[0] > ' ' || !Logged(plain)):
		if s.place.To == 0 {
			s.place = at.is(Failure)
		}
	case s.printed != "" && strings.Contains(s.printed, plain):
	case begins(plain, ticks) && !hasAny(low, sums):
		if s.ticked++; s.ticked == 1 {
			s.tick = at.is(Success)
		}
	case Line(plain) == Success, begins(plain, ticks), begins(low, doneStarts), isGitPush(plain):
		s.last = at.is(Success)
	case hasAny(low, errorWords):
		s.word = at.is(Failure)
	}
}

func (r Report) is(v Verdict) Report { return Report{v, r.From, r.To} }

func (s *reader) best(failed bool) Report {
	switch {
	case failed && s.place.To > 0:
		return s.place
	case failed && s.first.To > 0:
		return s.first
	case failed && s.word.To > 0:
		return s.word
	case s.cut, s.stopped.To > max(s.last.To, s.commit.To):
		return s.stopped
	case failed, s.runs:
		return Report{}
	case s.grave.To > 0 && s.commit.To > 0:
		return s.grave
	case s.commit.To > 0:
		return s.commit
	case s.last.To > 0:
		return s.last
	case s.ticked == 1: // one of many such lines does not describe the whole
		return s.tick
	}
	return Report{}
}

// errorStarts begin lines, in lower case, in which a command reports that it failed.
// alarms are signs for the same.
var (
	errorStarts = []string{"fatal: ", "error: ", "error[", "! [rejected]", "! [remote rejected]", "conflict (", "automatic merge failed", "panic: ", "uncaught ", "bash: ", "sh: ", "zsh: ", "curl: ("}
	alarms      = []string{"✗", "✘", "❌", "✖", "⛔", "⚠"}
)

// runningStarts begin lines, in lower case, in which a program reports that a command
// still runs. endings are lines about an end of a command from outside, and endStarts
// begin such lines.
var (
	runningStarts = []string{"process running with session id ", "command running in background"}
	endings       = []string{"^c", "killed", "terminated", "aborted", "interrupted", "keyboardinterrupt"}
	endStarts     = []string{"command timed out", "error: command timed out", "execution timed out", "timed out after ", "[request interrupted", "[interrupted", "interrupted by ", "command was interrupted", "command was aborted", "segmentation fault", "aborted (core dumped)", "!!!!!!!!!! keyboardinterrupt"}
)

// isTermination reports whether a line, in lower case, reports an end of the command from
// outside.
func isTermination(low string) bool {
	return slices.Contains(endings, low) || begins(low, endStarts)
}

// idleStarts begin lines, in lower case, in which git reports that it had nothing to do.
var idleStarts = []string{"nothing to commit", "nothing added to commit", "no changes added to commit"}

// errorWords occur in lines of other failed commands.
var errorWords = []string{"error", "failed", "cannot ", "can't ", "could not ", "not found", "no such ", "denied", "refused", "invalid", "timed out", "conflict", "unable to ", "not staged", "nothing to commit", "nothing added"}

// doneStarts begin lines, in lower case, in which a command reports its work.
var doneStarts = []string{"successfully ", "all tests pass", "all checks pass", "all existing tests pass", "created pull request", "https://github.com/", "* [new ", "added ", "published "}

// ticks begin lines about something done or valid. A single line of a list of ticks
// means little, unless it is a total.
var (
	ticks = []string{"✓", "✔", "✅", "🎉"}
	sums  = []string{" all ", " pass", "success", "complete", " done", "created"}
)

// commits reports whether a line is git's report of a commit: "[main 1a2b3c4] Subject".
func commits(line string) bool {
	head, _, closed := strings.Cut(strings.TrimPrefix(line, "["), "] ")
	words := strings.Fields(head)
	if line[0] != '[' || !closed || len(words) < 2 {
		return false
	}
	hash := words[len(words)-1]
	return len(hash) >= 7 && strings.Trim(hash, "0123456789abcdef") == ""
}

// isGitPush reports whether a line is git's report of a push: "1a2b3c4..5d6e7f8  main -> main".
func isGitPush(line string) bool {
	refs, to, ok := strings.Cut(line, " -> ")
	words := strings.Fields(refs)
	return ok && to != "" && len(words) == 2 && strings.Contains(words[0], "..")
}

// namesException reports whether a line names an exception: "ValueError: too large".
func namesException(line string) bool {
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
