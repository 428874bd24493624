package strategy

import (
	"strconv"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/shell"
)

// resetIn returns the number of the step in which a git reset took back the commit of a call,
// 0 if none did. The changes may be in a later commit.
func (h *History) resetIn(commit *Call, step int) int {
	if commitHash(commit.Result) == "" {
		return 0
	}
	var branch []string // hashes of the commits that are on the branch
	own, in := -1, 0
	h.eachCall(func(s *Step, c *Call) {
		if in != 0 || !c.Answered || c.Outcome == Failed {
			return
		}
		shell.Any(c.Command(), func(simple string) bool {
			if left := leftBy(simple, branch); left < len(branch) {
				if branch = branch[:left]; own >= left {
					in = s.ID
				}
			}
			return false
		})
		if hash := commitHash(c.Result); hash != "" && makesCommit(c, false) {
			if c == commit && s.ID == step {
				own = len(branch)
			}
			branch = append(branch, hash)
		}
	})
	return in
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
		if strings.HasPrefix(hash, to) || strings.HasPrefix(to, hash) {
			return i + 1
		}
	}
	return 0
}
