package strategy

import (
	"encoding/json"
	"strings"
	"testing"
)

// A result shows one file only if no other command of the line prints a text.
func TestResultOfSeveralCommandsIsNoFile(t *testing.T) {
	for cmd, want := range map[string]string{
		"cat conf.yml": "conf.yml",
		"cd /shop && cat conf.yml | head -20 | sort":     "/shop/conf.yml",
		"echo '--- conf'; sed -n '1,40p' conf.yml":       "conf.yml",
		"mkdir -p out && head -3 conf.yml":               "conf.yml",
		"cat conf.yml && curl -s https://x.org/stock.ts": "",
		"cat conf.yml && gh api repos/a/b | base64 -d":   "",
		"ls src; cat conf.yml":                           "",
		"cat conf.yml | xargs cat":                       "",
		"git show HEAD:stock.ts\ncat conf.yml":           "",
	} {
		if got := ranCommand(cmd, "export function count() {\n").shownFile(); got != want {
			t.Errorf("%q: %q, want %q", cmd, got, want)
		}
	}
	code := "jobs:\n  publish:\n    needs: build\nexport async function countStock() {\n  return 1\n}\n"
	tells(t, long("Count the stock.", ranCalls(
		[3]string{"bash", `{"command":"sed -n '1,9p' conf.yml && gh api repos/a/shop/contents/stock.ts --jq .content | base64 -d"}`, code},
	)...), nil, []string{"`conf.yml` declares", "`conf.yml` has", "`conf.yml` names"})
}

// A pipe that ends in a search and printed nothing found nothing.
func TestPipeThatEndsInASearchFoundNothing(t *testing.T) {
	listed := "git ls-tree -r --name-only origin/" + strings.Repeat("a-long-name/", 8) + " | rg '^shop/stock/'"
	for cmd, want := range map[string]string{
		"cat package.json | grep -A5 lodash": "found nothing for `cat package.json | grep -A5 lodash`",
		listed:                               "found nothing for `… rg '^shop/stock/'`",
	} {
		tells(t, long("Look for the stock.", ranCalls([3]string{"bash", commandArgs(cmd), "Exit code: 1\nOutput:\n"})...),
			[]string{want}, []string{"failed", "ended with exit 1"})
	}
	tells(t, long("Look for the stock.", ranCalls([3]string{"bash", commandArgs("cat package.json | grep -A5 lodash"), "Exit code: 1\ncat: package.json: No such file or directory"})...),
		[]string{"No such file"}, []string{"found nothing"})
}

// A loop whose commands only show something counts as a look, and its last line is not an
// outcome.
func TestLoopThatOnlyShowsIsALook(t *testing.T) {
	for cmd, look := range map[string]bool{
		"for f in a.ts b.ts; do git show main:$f | sed -n '1,80p'; done":            true,
		"for f in a.ts b.ts; do echo \"--- $f\"; cat $f; done":                      true,
		"if [ -f conf.yml ]; then cat conf.yml; else ls; fi":                        true,
		"gh api repos/a/b/contents/x.ts --jq .content | base64 -d | sed -n '1,20p'": true,
		"for f in a.ts b.ts; do npm publish $f; done":                               false,
		"for f in $(make list); do cat $f; done":                                    false,
	} {
		if got := ranCommand(cmd, "return call(prompt)\n").deed() == deedLook; got != look {
			t.Errorf("%q: counts as a look: %v, want the opposite", cmd, got)
		}
	}
}

// commandArgs returns the arguments of a call that runs a command.
func commandArgs(cmd string) string {
	data, _ := json.Marshal(map[string]string{"command": cmd})
	return string(data)
}
