package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// effectCommands lists beginnings of commands that change something and would make the
// change again in a second run.
var effectCommands = []string{"git push", "git commit", "git merge ", "git tag", "git rebase", "git cherry-pick", "git checkout -b", "git switch -c",
	"git branch -d", "git worktree add", "git revert ", "gh pr create", "gh pr merge", "gh pr comment", "gh pr close", "gh issue create", "gh issue comment", "gh issue close",
	"gh release create", "npm publish", "cargo publish", "docker push", "kubectl apply", "kubectl delete", "kubectl rollout restart", "kubectl rollout undo", "kubectl scale", "kubectl patch", "kubectl replace",
	"kubectl set ", "kubectl drain", "kubectl cordon", "kubectl rollout pause", "kubectl rollout resume", "aws s3 rm", "aws s3 mv", "docker volume rm", "docker volume prune", "crontab ", "helm install", "helm upgrade", "helm rollback", "helm uninstall", "terraform apply", "pulumi up", "ansible-playbook ",
	"alembic upgrade", "systemctl restart", "systemctl start", "systemctl stop", "systemctl reload", "systemctl enable", "systemctl disable", "mail ", "mailx ", "sendmail ", "mutt -s", "./deploy", "./publish", "./release", "make deploy", "npm run deploy", "npm install", "npm i ", "pnpm add", "pnpm install", "yarn add",
	"pip install", "go get ", "apt-get install", "apt install", "brew install"}

// harmlessForms lists options with which commands of effectCommands only show something.
// listedByL lists the commands for which -l has that meaning: it selects objects for kubectl.
var (
	harmlessForms = []string{" --points-at", " --list", " --contains"}
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

// changesOutside reports whether a simple command in lower case changes something that a
// second run would change again.
func changesOutside(simple string) bool {
	simple = shell.WithoutGlobals(simple)
	if onlyShows(simple) {
		return false
	}
	lists := prose.HasAny(simple, harmlessForms) || prose.BeginsAny(simple, listedByL) && strings.Contains(simple, " -l")
	return prose.BeginsAny(simple, effectCommands) && !lists || requestsChange(simple) || subcommandChanges(simple) || copiesOut(simple)
}

// didNothing reports whether a result says that a command found nothing to do.
func didNothing(command, result string) bool {
	for _, n := range nothingDone {
		if strings.HasPrefix(command, n.command) && prose.HasAny(result, n.says) {
			return true
		}
	}
	return false
}

// writingRequests lists options of curl for requests that change something.
var writingRequests = []string{"-x post", "-x put", "-x delete", "-x patch", "--request post", "--data", " -d "}

// Options of "gh api" that set the method of a request, and options that make the method
// POST if none is set: https://cli.github.com/manual/gh_api.
var (
	writingMethods = []string{"-x post", "-x put", "-x delete", "-x patch", "--method post", "--method put", "--method delete", "--method patch", "--method=post", "--method=put", "--method=delete", "--method=patch",
		"-xpost", "-xput", "-xdelete", "-xpatch"}
	readingMethods = []string{"-x get", "--method get", "--method=get", "-xget"}
	writingFields  = []string{" -f ", " --field ", " --field=", " --raw-field ", " --raw-field=", " --input ", " --input="}
)

// requestsChange reports whether a simple command in lower case is a request that
// changes something.
func requestsChange(simple string) bool {
	if strings.HasPrefix(simple, "curl ") {
		return prose.HasAny(simple, writingRequests)
	}
	if !strings.HasPrefix(simple, "gh api ") || prose.HasAny(simple, readingMethods) {
		return false
	}
	if strings.HasPrefix(simple, "gh api graphql") {
		return mutations.MatchString(simple)
	}
	return prose.HasAny(simple, writingMethods) || prose.HasAny(simple, writingFields)
}

// effectVerbs lists words in the names of tools that change something.
var effectVerbs = []string{"create", "update", "cancel", "book", "send", "submit", "delete", "transfer", "pay", "refund", "return", "exchange",
	"modify", "post", "publish", "deploy", "toggle", "reset", "enable", "disable", "grant", "schedule", "reserve", "add", "remove", "set", "refuel",
	"merge", "commit", "push"}

// askingVerbs lists words in the names of tools that only query something: can_send_mms.
var askingVerbs = []string{"can", "is", "has", "get", "list", "check", "search", "find", "fetch", "view", "show", "describe", "count", "read", "lookup", "verify", "validate", "preview"}

// Effect reports whether the call succeeded and changed something outside of
// the conversation, so that it must not be repeated. Changes of files do not
// count; see Call.files.
func (c *Call) Effect() bool {
	if c.Outcome == Failed || c.doubt || !c.Answered || running(c.Result) || !c.attempts() {
		return false
	}
	if c.pressesCommit() {
		return c.pageAnswer() != ""
	}
	_, proven := verbOf(c.Tool)
	return !proven || c.Command() != "" || c.mutates() || c.reportsChange()
}

// attempts reports whether a call is of a kind that changes something outside, whether or
// not it succeeded.
func (c *Call) attempts() bool {
	if c.mutates() {
		return true
	}
	if cmd := c.Command(); cmd != "" {
		result := c.Result[:min(len(c.Result), 4*edge)]
		if saysWould(body(c.Result)) {
			return false
		}
		return slices.ContainsFunc(effectParts(cmd), func(part string) bool { return !didNothing(part, result) }) || changesRows(cmd, result)
	}
	if len(c.files) > 0 || c.rehearses() {
		return false
	}
	if d := c.deed(); d != deedCall && d != deedLook && d != deedRun {
		return false
	}
	verb, _ := verbOf(c.Tool)
	return verb != "" || c.pressesCommit()
}

// rehearsing lists arguments, without marks, with which a tool only works out what it would do.
var rehearsing = []string{"dryrun", "simulate", "preview", "validateonly", "checkonly", "whatif", "noop", "testmode"}

// rehearses reports whether an argument says that the tool only works out what it would do.
func (c *Call) rehearses() bool {
	return slices.ContainsFunc(c.Args, func(a Arg) bool {
		return a.Value == "true" && slices.Contains(rehearsing, plainKey.Replace(strings.ToLower(a.Name)))
	})
}

// maxArgument is the maximum length of an argument in a line, in bytes. A longer text that
// somebody gets, in one of wordsArgs, is cut: several comments must not look the same.
const maxArgument = 60

var wordsArgs = []string{"body", "text", "message", "comment", "content", "subject", "title", "note", "description", "new", "new_text", "value"}

// argsBrief returns the short arguments of a call besides its target.
func argsBrief(c *Call) string {
	if c.Command() != "" {
		return ""
	}
	target := c.Target()
	var b strings.Builder
	for i, a := range c.Args {
		if i > 0 && a.Name == c.Args[i-1].Name {
			continue // a list, told with its first element
		}
		if list := c.listAt(i); list != "" && b.Len() <= 160 {
			b.WriteString(" " + a.Name + "=" + list)
			continue
		}
		value := prose.Squash(a.Value)
		if len(value) > maxArgument && slices.Contains(wordsArgs, a.Name) && c.attempts() {
			value = prose.Quoted(value, maxArgument)
		}
		if a.Value == target || len(a.Value) > maxArgument && value == prose.Squash(a.Value) || b.Len() > 160 {
			continue
		}
		b.WriteString(" " + a.Name + "=" + value)
	}
	return b.String()
}

// listAt returns the elements of a list of short arguments that begins at i, "" if there is
// only one.
func (c *Call) listAt(i int) string {
	var list []string
	for _, a := range c.Args[i:] {
		if a.Name != c.Args[i].Name || len(a.Value) > maxArgument {
			break
		}
		list = append(list, prose.Squash(a.Value))
	}
	if len(list) < 2 {
		return ""
	}
	return prose.CutText(strings.Join(list, ","), maxArgument)
}

// Check reports whether the call ran tests, a build or a linter.
func (c *Call) Check() bool {
	cmd := c.Command()
	return cmd != "" && shell.Any(shell.WithoutHeredocs(cmd), checks.Begins)
}
