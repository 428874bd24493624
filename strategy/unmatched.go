package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// findUnmatched removes the edits by commands that replace text in place (sed -i, perl -pi) if
// the same command, or a look right after it, shows that nothing was replaced. Such a command
// ends with 0 and prints nothing, whether it found the text or not.
func (h *History) findUnmatched() {
	var recent []*Call           // calls that replace in place, after which only looks stand
	created := map[string]bool{} // files that calls created
	h.eachCall(func(_ *Step, c *Call) {
		for _, f := range c.files {
			if f.Op == fileops.Created {
				created[f.Path], created[f.Named] = true, true
			}
		}
		if !c.Answered || c.Command() == "" {
			recent = nil
			return
		}
		if replacesInPlace(c.Command()) {
			recent = append(recent, c)
		} else if c.deed() != deedLook {
			recent = nil
		}
		for i, edit := range recent {
			edit.dropUnmatched(c, created, i == len(recent)-1)
		}
	})
}

// replacesInPlace reports whether a command replaces text in a file.
func replacesInPlace(cmd string) bool { return len(replacements(cmd)) > 0 }

// replacements returns the new texts of the replacements of a command in place, by file. The
// text is "" if it is unknown, for example because a pattern makes it.
func replacements(cmd string) map[string]string {
	out := map[string]string{}
	if !prose.HasAny(cmd, []string{"sed -", "perl -"}) {
		return out
	}
	for _, simple := range shell.Split(shell.WithoutHeredocs(cmd)) {
		w := shell.WithoutPrefix(shell.Fields(simple))
		if len(w) == 0 || !slices.Contains([]string{"sed", "gsed", "perl"}, shell.Base(w[0])) {
			continue
		}
		text := newTextOf(w)
		for _, f := range fileops.SimpleOps(simple) {
			if f.Op == fileops.Edited {
				out[f.Path] = text
			}
		}
	}
	return out
}

// newTextOf returns the new text of the only script s/old/new/ among the words of a command.
func newTextOf(words []string) string {
	text, n := "", 0
	for _, word := range words[1:] {
		if len(word) < 4 || word[0] != 's' || !strings.ContainsRune("/|#,:@!~%", rune(word[1])) {
			continue
		}
		if parts := strings.Split(word[2:], word[1:2]); len(parts) == 3 {
			text, n = parts[1], n+1
		}
	}
	if n != 1 || len(text) < leastNew || strings.ContainsAny(text, `\&$*.[]^(){}+?`) {
		return ""
	}
	return text
}

// leastNew is the minimum length of a new text whose absence shows that nothing was replaced.
const leastNew = 3

// dropUnmatched removes the edits of c that a look shows to have changed nothing. The look can
// be c itself. Git may not track the created files yet. newest means that no call after c
// replaced the new text again.
func (c *Call) dropUnmatched(look *Call, created map[string]bool, newest bool) {
	cmd, shown := shell.WithoutHeredocs(look.Command()), body(look.Result)
	if strings.ContainsAny(cmd, "|>") || prose.HasAny(cmd, []string{"git add", "git commit", "git stash"}) || look.Exit > 1 || running(look.Result) {
		return
	}
	looks := shell.Split(cmd)
	if look == c {
		looks = afterReplacements(looks)
	}
	for file, text := range replacements(c.Command()) {
		unseen := look.Exit < 1 && !created[file] && !mayBeIgnored(file) && lacksDiff(looks, shown, file)
		if !unseen && !(newest && lacksText(looks, shown, file, text)) {
			continue
		}
		c.files = slices.DeleteFunc(c.files, func(f fileops.Op) bool {
			return f.Op == fileops.Edited && (f.Path == file || f.Named == file)
		})
	}
}

// afterReplacements returns the simple commands after the last one that replaces in place.
func afterReplacements(all []string) []string {
	for i := len(all) - 1; i >= 0; i-- {
		if replacesInPlace(all[i]) {
			return all[i+1:]
		}
	}
	return nil
}

// mayBeIgnored reports whether git may not compare a file: it ignores many hidden files, and
// does not know the files of the system.
func mayBeIgnored(file string) bool {
	return strings.HasPrefix(file, ".") && !strings.HasPrefix(file, "./") || strings.Contains(file, "/.") || prose.BeginsAny(file, []string{"~", "/etc/", "/tmp/", "/usr/", "/var/", "/opt/"})
}

// diffOptions are options of git diff with which the output names each changed file.
var diffOptions = []string{"--", "-p", "-u", "--stat", "--numstat", "--name-only", "--name-status", "--no-color"}

// lacksDiff reports whether one of the commands compares the files with the last commit, and
// the output does not name a file.
func lacksDiff(looks []string, shown, file string) bool {
	for _, simple := range looks {
		w := shell.WithoutPrefix(shell.Fields(simple))
		if len(w) < 2 || w[0] != "git" || w[1] != "diff" || slices.ContainsFunc(w, func(o string) bool { return strings.HasPrefix(o, "-") && !slices.Contains(diffOptions, o) }) {
			continue
		}
		of := shell.Operands(w[2:])
		if len(of) > 0 && !(len(of) == 1 && of[0] == file) {
			continue
		}
		return !strings.Contains(shown, shell.Base(file)) && !strings.Contains(strings.ToLower(shown), "not a git repository")
	}
	return false
}

// lacksText reports whether one of the commands searches a file for a text, and the output does
// not have it.
func lacksText(looks []string, shown, file, text string) bool {
	if text == "" || strings.Contains(shown, text) {
		return false
	}
	for _, simple := range looks {
		w := shell.WithoutPrefix(shell.Fields(simple))
		if len(w) > 2 && slices.Contains([]string{"grep", "rg", "egrep", "fgrep"}, w[0]) && slices.Contains(w, text) && slices.Contains(w, file) {
			return !slices.ContainsFunc(w, func(o string) bool { return strings.HasPrefix(o, "-") && strings.ContainsAny(o, "vLoq") }) && countsNone(shown)
		}
	}
	return false
}

// countsNone reports whether an output is empty, or is the number 0.
func countsNone(shown string) bool {
	for line := range strings.Lines(shown) {
		if line = strings.TrimSpace(line); line != "" && line != "0" && !framed(line) {
			return false
		}
	}
	return true
}
