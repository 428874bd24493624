package strategy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A gitAgent is an agent that edits files and runs git.
type gitAgent struct {
	msgs []message.Message
	n    int
}

func (a *gitAgent) edit(path string) *gitAgent {
	a.n++
	id := fmt.Sprint("e", a.n)
	a.msgs = append(a.msgs,
		message.Assistant("", message.Call(id, "edit", fmt.Sprintf(`{"path":%q,"old_string":"row %d","new_string":"column %d"}`, path, a.n, a.n))),
		message.ToolResult(id, "The file "+path+" has been updated."))
	return a
}

func (a *gitAgent) git(command, output string) *gitAgent {
	a.n++
	id := fmt.Sprint("g", a.n)
	a.msgs = append(a.msgs, message.Assistant("", message.Call(id, "bash", fmt.Sprintf(`{"command":%q}`, command))), message.ToolResult(id, output))
	return a
}

func TestFilesWhoseChangesWereTakenBackAreMarked(t *testing.T) {
	for name, c := range map[string]struct {
		do        *gitAgent
		want, not []string
	}{
		"checkout": {new(gitAgent).edit("up/client.go").edit("up/retry.go").git("git checkout -- up/client.go", ""),
			[]string{"`up/client.go`: edited, then taken back [s8]", "[s8] took back `up/client.go`", "`up/retry.go`: edited [s6]"}, nil},
		"checkout without dashes, of a revision": {new(gitAgent).edit("up/client.go").git("git checkout main up/client.go", "Updated 1 path from 1a2b3c4"),
			[]string{"`up/client.go`: edited, then taken back [s6]"}, []string{"`main`"}},
		"a branch": {new(gitAgent).edit("up/client.go").git("git checkout release/1.2", "Switched to branch 'release/1.2'"),
			[]string{"`up/client.go`: edited [s4]"}, []string{"taken back", "took back"}},
		"restore": {new(gitAgent).edit("up/client.go").edit("up/client.go").git("cd repo && git restore ../up/client.go; git restore up/client.go", ""),
			nil, []string{"edited twice"}},
		"only unstaged": {new(gitAgent).edit("up/client.go").git("git restore --staged up/client.go", ""),
			[]string{"`up/client.go`: edited [s4]"}, []string{"taken back", "took back"}},
		"a failure": {new(gitAgent).edit("up/client.go").git("git checkout -- up/client.go", "Exit code: 1\nerror: pathspec 'up/client.go' did not match any file(s) known to git"),
			[]string{"`up/client.go`: edited [s4]"}, []string{"taken back", "took back `"}},
		"edited again": {new(gitAgent).edit("up/client.go").edit("up/client.go").git("git checkout -- up/client.go", "").edit("up/client.go"),
			[]string{"`up/client.go`: edited [s10]"}, []string{"then taken back", "edited twice"}},
		"after a commit": {new(gitAgent).edit("up/client.go").git("git commit -am 'up: client'", "[main 4be1f02] up: client").edit("up/client.go").git("git checkout -- up/client.go", ""),
			[]string{"`up/client.go`: edited [s4]", "[s10] took back `up/client.go`"}, []string{"then taken back", "edited twice", "changed and not in the last commit"}},
		"after a commit that a hook refused": {new(gitAgent).edit("up/client.go").git("git commit -am 'up: client'", "Exit code: 1\ngofmt: up/client.go is not formatted").git("git checkout -- up/client.go", ""),
			[]string{"`up/client.go`: edited, then taken back [s8]"}, nil},
		"never changed": {new(gitAgent).edit("up/retry.go").git("git checkout -- up/client.go", ""),
			[]string{"`up/retry.go`: edited [s4]"}, []string{"`up/client.go`: ", "took back `"}},
	} {
		t.Run(name, func(t *testing.T) { tells(t, long("Make the uploader faster.", c.do.msgs...), c.want, c.not) })
	}
}

func TestCodeDeltaMarksTakenBackFiles(t *testing.T) {
	msgs := new(gitAgent).edit("up/client.go").edit("up/retry.go").git("git checkout -- up/client.go", "").msgs
	in := long("Make the uploader faster.", msgs...)
	in.Count = func(s string) int { return (len(s) + 3) / 4 }
	first := written(t, codeDelta, 1500, in)
	then := long("Go on.", new(gitAgent).edit("up/timeout.go").msgs...)
	then.Previous, then.Count = first, in.Count
	for text, of := range map[string]string{first: "the first summary", written(t, codeDelta, 1500, then): "the next one"} {
		if !strings.Contains(text, "[took back] up/client.go [s8]") || strings.Contains(text, "[edited] up/client.go") {
			t.Errorf("%s does not say that the change was taken back:\n%s", of, text)
		}
	}
}

// Commits that a git reset took back are not done any more. A reset of files, and a failed reset,
// take back no commit.
func TestResetCommitIsNotLeftAsDone(t *testing.T) {
	for reset, want := range map[string][2]bool{ // whether the first and the second commit are taken back
		"git reset --soft 0aa4711":        {true, true}, // an older commit
		"git reset --soft 9c01d2e":        {false, true},
		"git reset --soft HEAD~1":         {false, true},
		"git -C . reset HEAD^^":           {true, true},
		"git reset --hard HEAD~2 && ls":   {true, true},
		"git reset HEAD":                  {},
		"git reset HEAD~1 -- store/a.go":  {},
		"git reset HEAD~1 store/a.go":     {},
		"git reset store/feed":            {},
		"git log --oneline 0aa4711..HEAD": {},
	} {
		var msgs []message.Message
		for i, c := range [][2]string{{"git commit -m 'up: retries'", "[main 9c01d2e] up: retries"}, {"git commit -m 'up: timeout'", "[main 4be1f02] up: timeout"}, {reset, "ok"}, {"git commit -m 'up: both'", "[main 77aa31c] up: both"}} {
			msgs = append(msgs, command(itoa(i), "", c[0], c[1])...)
		}
		var wanted, not []string
		for i, subject := range []string{"up: retries", "up: timeout"} {
			if want[i] {
				wanted = append(wanted, subject+" (then taken back with git reset [s8])")
			} else {
				wanted = append(wanted, subject+" (do not repeat)")
			}
		}
		tells(t, long("Commit the steps.", msgs...), append(wanted, "up: both (do not repeat)"), not)
	}
}

func TestRevertedCommitIsNotLeftAsDone(t *testing.T) {
	push := func(hash string) string {
		return "[main " + hash + "] up: timeout\n 1 file changed\nTo example.com:up.git"
	}
	tells(t, long("Make the uploader faster.", new(gitAgent).
		edit("up/retry.go").git("git commit -am 'up: retries'", "[main 4be1f02] up: retries").
		edit("up/timeout.go").git("git commit -am 'up: timeout' && git push", push("9c01d2e")).
		git("git revert --no-edit 9c01d2e8 && git push", "[main 77aa31c] Revert \"up: timeout\"").msgs...),
		[]string{"up: retries (do not repeat) [s6]", "up: timeout (reverted [s12]) [s10]"}, []string{"up: timeout (do not repeat)"})
	tells(t, long("Make the uploader faster.", new(gitAgent).
		edit("up/timeout.go").git("git commit -am 'up: timeout'", "[main 9c01d2e] up: timeout").
		git("git revert --no-edit 9c01d2e", "Exit code: 1\nerror: could not revert 9c01d2e... up: timeout").msgs...),
		[]string{"up: timeout (do not repeat) [s6]"}, []string{"(reverted"})
}

func TestFilesOfARevertedCommitAreMarked(t *testing.T) {
	a := func() *gitAgent {
		return new(gitAgent).edit("up/retry.go").git("git commit -am 'up: retries'", "[main 4be1f02] up: retries")
	}
	revert := `[main 77aa31c] Revert "up"`
	for name, c := range map[string]struct {
		do        *gitAgent
		want, not []string
	}{
		"all of the file": {a().git("git revert --no-edit 4be1f02", revert), []string{"`up/retry.go`: edited, then taken back [s8]"}, nil},
		"a shorter hash": {new(gitAgent).edit("up/retry.go").git("git commit -am 'up: retries'", "[main 4be1f02a9c] up: retries").git("git revert --no-edit 4be1f02", revert),
			[]string{"`up/retry.go`: edited, then taken back [s8]"}, nil},
		"an earlier commit":       {a().edit("up/retry.go").git("git commit -am 'up: more'", "[main 9c01d2e] up: more").git("git revert 4be1f02", revert), []string{"`up/retry.go`: edited [s"}, []string{"then taken back"}},
		"a part of the files":     {new(gitAgent).edit("up/retry.go").edit("up/doc.md").git("git add up/doc.md && git commit -m 'up: doc'", "[main 4be1f02] up: doc\n 1 file changed, 1 insertion(+)").git("git revert 4be1f02", revert), []string{"`up/retry.go`: edited [s4]", "`up/doc.md`: edited, then taken back [s10]"}, nil},
		"files that nobody added": {new(gitAgent).edit("up/retry.go").edit("up/doc.md").git("git commit -m 'up: doc'", "[main 4be1f02] up: doc\n 1 file changed, 1 insertion(+)").git("git revert 4be1f02", revert), []string{"`up/retry.go`: edited [s4]", "`up/doc.md`: edited [s6]"}, []string{"then taken back"}},
		"changed since":           {a().edit("up/retry.go").git("git revert 4be1f02", revert), nil, []string{"then taken back"}},
		"a second time":           {a().git("git revert 4be1f02", revert).edit("up/retry.go").edit("up/retry.go").git("git revert 4be1f02", "On branch main\nnothing to commit, working tree clean"), []string{"`up/retry.go`: edited twice [s12]"}, []string{"then taken back"}},
		"edited again":            {a().git("git revert 4be1f02", revert).edit("up/retry.go"), []string{"`up/retry.go`: edited [s10]"}, []string{"then taken back"}},
	} {
		t.Run(name, func(t *testing.T) { tells(t, long("Make the uploader faster.", c.do.msgs...), c.want, c.not) })
	}
}

func TestFilesThatNoCommitHoldsAreStated(t *testing.T) {
	a := new(gitAgent).edit("up/retry.go").git("git commit -am 'up: retries' && git push", "[main 4be1f02] up: retries").edit("up/timeout.go").edit("up/client.go")
	first := long("Make the uploader faster.", a.msgs...)
	tells(t, first, []string{"changed and not in the last commit [s6]: `up/client.go`, `up/timeout.go` [s10]"}, nil)
	first.Count = func(s string) int { return (len(s) + 3) / 4 }
	summary := written(t, taskState, 1500, first)

	next := func(do *gitAgent) Input {
		in := long("Go on.", do.msgs...)
		in.Previous = summary
		return in
	}
	tells(t, next(new(gitAgent).edit("up/doc.md")), []string{"changed and not in the last commit [s6]: `up/doc.md`, `up/client.go`, `up/timeout.go`"}, nil)
	tells(t, next(new(gitAgent).git("git checkout -- up/client.go", "")), []string{"changed and not in the last commit [s6]: `up/timeout.go`"}, []string{"`up/client.go`, `up/timeout.go`"})
	tells(t, next(new(gitAgent).git("git commit -am 'up: rest'", "[main 77aa31c] up: rest")), nil, []string{"changed and not in the last commit"})
	tells(t, long("Make it.", new(gitAgent).edit("up/a.go").msgs...), nil, []string{"changed and not in the last commit"})
}

func TestUncommittedFilesAreCounted(t *testing.T) {
	a := new(gitAgent).git("git commit --allow-empty -m start", "[main 4be1f02] start")
	for i := range 11 {
		a.edit(fmt.Sprintf("up/part%d.go", i))
	}
	first := long("Make the uploader faster.", a.msgs...)
	tells(t, first, []string{"`up/part7.go` and 7 more ["}, nil)
	first.Count = func(s string) int { return (len(s) + 3) / 4 }
	again := long("Go on.", new(gitAgent).edit("up/part20.go").msgs...)
	again.Previous = written(t, taskState, 1500, first)
	tells(t, again, []string{"`up/part8.go` and 8 more ["}, nil)
}

// A commit holds the files that were added to it, if git reports the same number of
// files.
func TestFilesThatWereNotAddedStayUncommitted(t *testing.T) {
	one, two := "[main 4be1f02] up: doc\n 1 file changed, 1 insertion(+)", "[main 4be1f02] up: doc\n 2 files changed, 2 insertions(+)"
	begin := func() *gitAgent { return new(gitAgent).edit("/w/up/retry.go").edit("/w/up/doc.md") }
	for name, c := range map[string]struct {
		do        *gitAgent
		want, not []string
	}{
		"one of two":       {begin().git("git add up/doc.md && git commit -m doc", one), []string{"changed and not in the last commit [s8]: `/w/up/retry.go` [s4]"}, nil},
		"before":           {begin().git("cd up && git add ./doc.md", "").git("git commit -m doc", one), []string{"changed and not in the last commit [s10]: `/w/up/retry.go` [s4]"}, nil},
		"its folder":       {begin().edit("/w/cmd/main.go").git("git add up/ && git commit -m up", two), []string{"changed and not in the last commit [s10]: `/w/cmd/main.go` [s8]"}, nil},
		"everything":       {begin().git("git add -A && git commit -m up", two), nil, []string{"changed and not in the last commit"}},
		"the whole folder": {begin().git("git add . && git commit -m up", one), nil, []string{"changed and not in the last commit"}},
		"another count":    {begin().git("git add up/doc.md && git commit -am up", two), nil, []string{"changed and not in the last commit"}},
		"a longer name":    {begin().edit("/w/up/doc.md.orig").git("git add up/doc.md && git commit -m doc", one), []string{"`/w/up/doc.md.orig`, `/w/up/retry.go`"}, nil},
		"in the next one":  {begin().git("git add up/doc.md && git commit -m doc", one).git("git add up/retry.go && git commit -m up", strings.ReplaceAll(one, "4be1f02", "9c01d2e")), nil, []string{"changed and not in the last commit"}},
		"git's own folder": {begin().edit("/w/.git/hooks/pre-push").git("git add up && git commit -m up", two), nil, []string{"changed and not in the last commit"}},
		"then taken back":  {begin().git("git add up/doc.md && git commit -m doc", one).git("git checkout -- /w/up/retry.go", ""), []string{"`/w/up/retry.go`: edited, then taken back [s10]"}, []string{"changed and not in the last commit"}},
	} {
		t.Run(name, func(t *testing.T) { tells(t, long("Make the uploader faster.", c.do.msgs...), c.want, c.not) })
	}
}
