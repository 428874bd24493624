package strategy

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// A rebase may apply one commit and stop at the next one. It is not done, and a later --abort takes
// also the first one back.
func TestRebaseThatStopsAtALaterCommitIsDoneInPart(t *testing.T) {
	stops := command("1", "", "git add a.go && git rebase --continue", "[detached HEAD 1b22cd0] a: load lazily\n 1 file changed\nCONFLICT (content): Merge conflict in b.go\nerror: could not apply 0d4c7f1... b: parse offsets")
	tells(t, long("Rebase my branch.", stops...), []string{"[done in part] ran `git add a.go && git rebase --continue`"}, []string{"(then aborted"})
	aborts := append(append([]message.Message{}, stops...), command("2", "", "git rebase --abort && git status -sb", "## feature/tz")...)
	tells(t, long("Rebase my branch.", aborts...), []string{"could not apply 0d4c7f1... b: parse offsets” (then aborted [s6])"}, nil)

	picks := command("1", "", "git cherry-pick 1b22cd0 0d4c7f1", "[main 77d0a1e] a: load lazily\n 1 file changed\nerror: could not apply 0d4c7f1... b: parse offsets")
	tells(t, long("Pick the two commits.", picks...), []string{"[done in part] ran `git cherry-pick 1b22cd0 0d4c7f1`"}, nil)
	hook := command("1", "", "git commit -qam x", "[main 77d0a1e] x\nerror: the hook could not send a mail")
	tells(t, long("Commit.", hook...), []string{"[done] ran `git commit -qam x`"}, nil)
}
