package effects

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// Commands lists beginnings of commands that change something and would make the
// change again in a second run.
var Commands = []string{"git push", "git commit", "git merge ", "git tag", "git rebase", "git cherry-pick", "git checkout -b", "git switch -c",
	"git branch -d", "git worktree add", "git revert ", "gh pr create", "gh pr merge", "gh pr comment", "gh pr close", "gh issue create", "gh issue comment", "gh issue close",
	"gh release create", "npm publish", "cargo publish", "docker push", "kubectl apply", "kubectl delete", "kubectl rollout restart", "kubectl rollout undo", "kubectl scale", "kubectl patch", "kubectl replace",
	"kubectl set ", "kubectl drain", "kubectl cordon", "kubectl rollout pause", "kubectl rollout resume", "aws s3 rm", "aws s3 mv", "docker volume rm", "docker volume prune", "crontab ", "helm install", "helm upgrade", "helm rollback", "helm uninstall", "terraform apply", "pulumi up", "ansible-playbook ",
	"alembic upgrade", "systemctl restart", "systemctl start", "systemctl stop", "systemctl reload", "systemctl enable", "systemctl disable", "mail ", "mailx ", "sendmail ", "mutt -s", "./deploy", "./publish", "./release", "make deploy", "npm run deploy", "npm install", "npm i ", "pnpm add", "pnpm install", "yarn add",
	"pip install", "go get ", "apt-get install", "apt install", "brew install"}

// harmlessForms lists options with which commands of Commands only show something.
// listedByL lists the commands for which -l has that meaning: it selects objects for kubectl.
var (
	harmlessForms = []string{" --points-at", " --list", " --contains", " --no-contains", " --merged", " --no-merged", " --sort", " --verify"}
	listedByL     = []string{"git tag", "git branch", "crontab"}
)

// nothingDone lists the output of git commands that found nothing to do. The output
// proves nothing about other commands of the same line.
var nothingDone = []struct {
	command string
	says    []string
}{
	{"git commit", []string{"nothing to commit", "nothing added to commit", "no changes added to commit"}},
	{"git push", []string{"Everything up-to-date"}},
	{"git merge", []string{"Already up to date."}},
	{"git rebase", []string{" is up to date."}},
}

// Changes reports whether a simple command in lower case changes something that a
// second run would change again.
func Changes(simple string) bool {
	simple = shell.WithoutGlobals(simple)
	if onlyShows(simple) {
		return false
	}
	lists := prose.HasAny(simple, harmlessForms) || simple == "git tag" || prose.BeginsAny(simple, listedByL) && strings.Contains(simple, " -l")
	return prose.BeginsAny(simple, Commands) && !lists && !onlyTries(simple) || Requests(simple) || subcommandChanges(simple) || copiesOut(simple)
}

// DidNothing reports whether a result says that a command found nothing to do.
func DidNothing(command, result string) bool {
	for _, n := range nothingDone {
		if strings.HasPrefix(command, n.command) && prose.HasAny(result, n.says) {
			return true
		}
	}
	return false
}
