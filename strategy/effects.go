package strategy

import "strings"

// effectCommands are commands that change something which a second run would
// change again.
var effectCommands = []string{"git push", "git commit", "git merge", "git tag", "git rebase", "git cherry-pick", "git checkout -b", "git switch -c",
	"git branch -d", "gh pr create", "gh pr merge", "gh pr comment", "gh issue create", "gh issue comment", "gh release", "npm publish", "cargo publish",
	"docker push", "kubectl apply", "kubectl delete", "helm install", "helm upgrade", "terraform apply", "curl -x post", "curl -x put", "curl -x delete",
	"curl -x patch", "-x post", "-x delete", "alembic upgrade", "migrate up", "systemctl restart", "deploy", "npm install", "pnpm add", "pnpm install",
	"pip install", "go get ", "apt-get install", "apt install", "brew install", "mkdir "}

// effectVerbs are how the names of tools that change something begin or what
// they hold.
var effectVerbs = []string{"create", "update", "cancel", "book", "send", "submit", "delete", "transfer", "pay", "refund", "return", "exchange",
	"modify", "post", "publish", "deploy", "toggle", "reset", "enable", "disable", "grant", "schedule", "reserve", "add", "remove", "set", "refuel",
	"merge", "commit", "push"}

// Effect reports whether a call that succeeded changed something outside of
// the conversation: what must not be done twice. Changes of files are not
// counted here; [Call.Files] has them.
func (c *Call) Effect() bool {
	if c.Outcome != OK {
		return false
	}
	if cmd := c.Command(); cmd != "" {
		return hasAny(strings.ToLower(cmd), effectCommands)
	}
	if len(c.Files) > 0 {
		return false
	}
	low := strings.ToLower(c.Tool)
	if strings.Contains(low, "todo") || strings.HasPrefix(low, "task") || strings.Contains(low, "plan") {
		return false
	}
	for _, word := range strings.FieldsFunc(low, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		for _, v := range effectVerbs {
			if word == v {
				return true
			}
		}
	}
	return false
}

// doneLine is how a summary notes a call that must not be repeated.
func (c *Call) doneLine() string { return c.head() + argsBrief(c) }

// argsBrief is what else was asked for, in a few words.
func argsBrief(c *Call) string {
	if c.Command() != "" {
		return ""
	}
	target := c.Target()
	var b strings.Builder
	for _, a := range c.Args {
		if a.Value == target || len(a.Value) > 60 || b.Len() > 160 {
			continue
		}
		b.WriteString(" " + a.Name + "=" + squash(a.Value))
	}
	return b.String()
}

// checks are commands that test or build.
var checks = []string{"go test", "go build", "go vet", "pytest", "npm test", "npm run test", "npm run build", "pnpm test", "pnpm build", "yarn test",
	"cargo test", "cargo build", "cargo check", "make test", "make build", "make check", "tsc", "eslint", "jest", "vitest", "mvn ", "gradle", "dotnet test",
	"dotnet build", "bun test", "tox", "rspec", "phpunit", "ruff", "mypy", "golangci-lint", "npx playwright", "ctest", "unittest", "mise run test", "pnpm run", "nx run"}

// Check reports whether the call ran tests, a build or a linter.
func (c *Call) Check() bool {
	cmd := c.Command()
	return cmd != "" && hasAny(strings.ToLower(cmd), checks)
}
