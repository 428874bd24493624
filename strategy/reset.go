package strategy

import (
	"strconv"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// resetIn returns the number of the step in which a git reset took back the commit of a call,
// 0 if none did. The changes may be in a later commit.
func (h *History) resetIn(commit *Call, step int) int {
	if commitHash(commit.Result) == "" {
		return 0
	}
	b := branch{commit: commit, step: step, own: -1}
	h.eachCall(func(s *Step, c *Call) {
		if b.in == 0 && c.Answered && c.Outcome != Failed {
			b.follow(s.ID, c)
		}
	})
	return b.in
}

// A branch tracks the commits on a git branch through the steps of a session, until a git
// reset takes back the commit of a call.
type branch struct {
	commit *Call
	step   int
	hashes []string // "" for a commit whose hash is not known
	own    int      // index of the first commit of the call, -1 before that call
	in     int      // number of the step with the reset
}

// follow follows the commits and the resets of a call in the order of its commands.
func (b *branch) follow(step int, c *Call) {
	var hashes []string
	if makesCommit(c, false) {
		hashes = commitHashes(c.Result)
	}
	commits := func(n int) {
		if n = min(n, len(hashes)); n > 0 && c == b.commit && step == b.step && b.own < 0 {
			b.own = len(b.hashes)
		}
		b.hashes, hashes = append(b.hashes, hashes[:n]...), hashes[n:]
	}
	shell.Any(c.Command(), func(simple string) bool {
		simple = shell.WithoutGlobals(simple)
		switch {
		case strings.HasPrefix(simple, "git commit"):
			commits(1)
		case prose.BeginsAny(simple, addingCommits):
			b.hashes = append(b.hashes, "")
		}
		b.reset(simple, c, step)
		return false
	})
	commits(len(hashes)) // of commands in a loop or in quotes
}

// addingCommits lists commands that add a commit without a hash in their output.
var addingCommits = []string{"git merge ", "git cherry-pick ", "git revert ", "git pull"}

// reset removes the commits that a simple command takes back. The output of git names the
// commit that the branch ends with.
func (b *branch) reset(simple string, by *Call, step int) {
	left := leftBy(simple, b.hashes)
	if left == len(b.hashes) {
		return
	}
	if _, after, ok := strings.Cut(by.Result, "HEAD is now at "); ok {
		for i, hash := range b.hashes {
			if hash != "" && strings.HasPrefix(after, hash) {
				left = i + 1
			}
		}
	}
	if b.hashes = b.hashes[:left]; b.own >= left {
		b.in = step
	}
}

// leftBy returns how many of the commits on a branch a simple command leaves there. Only a git
// reset to an earlier commit takes commits back. A commit that is not on the list is older.
func leftBy(simple string, branch []string) int {
	w := shell.Fields(shell.WithoutGlobals(simple))
	if len(w) < 3 || w[0] != "git" || w[1] != "reset" {
		return len(branch)
	}
	to := ""
	for _, word := range w[2:] {
		switch {
		case word == "--soft" || word == "--mixed" || word == "--hard" || word == "--keep":
		case strings.HasPrefix(word, "-") || to != "":
			return len(branch) // a reset of files
		default:
			to = word
		}
	}
	back, relative := strings.CutPrefix(strings.ToLower(to), "head")
	switch {
	case relative && back != "" && strings.Trim(back, "^") == "":
		return max(0, len(branch)-len(back))
	case relative && back == "~":
		return max(0, len(branch)-1)
	case relative && strings.HasPrefix(back, "~"):
		if n, err := strconv.Atoi(back[1:]); err == nil && n >= 0 {
			return max(0, len(branch)-n)
		}
		return len(branch)
	case len(to) < leastHash || strings.Trim(to, "0123456789abcdef") != "":
		return len(branch)
	}
	for i, hash := range branch {
		if hash != "" && (strings.HasPrefix(hash, to) || strings.HasPrefix(to, hash)) {
			return i + 1
		}
	}
	return 0
}
