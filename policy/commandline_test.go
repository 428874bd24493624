package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentcompact/compact/policy"
)

// The content of a file that a command shows does not state the command's outcome, nor
// does text that the command always prints.
func TestPlaceholderQuotesOnlyTheOutcomeOfTheCommand(t *testing.T) {
	const passed, failed = "12 passed in 3s", "--- FAIL: TestA (0.1s)"
	for command, says := range map[string]string{
		"sudo cat a.log":                                    "",
		"/bin/cat a.log":                                    "",
		"timeout 5 tail -f a.log":                           "",
		"(cat a.log)":                                       "",
		"for f in *.log; do cat $f; done":                   "",
		"if true; then cat a.log; fi":                       "",
		"docker logs shop":                                  "",
		"git log --grep add":                                "",
		"git -C /shop show commit":                          "",
		"git --no-pager log -S push":                        "",
		"make && cat a.log":                                 "",
		"make; tail -n 5 a.log | grep pass":                 "",
		"pytest > a.log 2>&1; tail -n 5 a.log":              passed,
		"pytest 2>&1 | tee a.log; cat a.log":                passed,
		"pytest > a.log 2>&1; cat a.log | tail":             passed,
		"pytest > a.log; tail -n 5 b.log | grep a.log":      "",
		"make; echo '" + passed + "'":                       "",
		"sed -i s/a/b/ a.go && pytest":                      passed,
		"git checkout main && pytest":                       passed,
		"git status && pytest":                              passed,
		"env A=1 timeout 9 pytest":                          passed,
		"pytest > a.log; cat b.log; cat a.log":              "",
		"pytest; ls src":                                    passed,
		"pytest; gh run view 12":                            passed,
		"pytest > a.log; tail a.log -n 5":                   passed,
		"pytest > a.log; tail a.log 2>/dev/null":            passed,
		"pytest; cat":                                       passed,
		"sed -n 1,9p a.log":                                 "",
		"make -i pytest":                                    passed,
		"cat a.log > b.log; pytest":                         passed,
		"gh pr view 3":                                      "",
		"gh pr create --fill":                               passed,
		"git -c user.name=x commit -m y":                    passed,
		"git -c user.name=x show":                           "",
		"cat > run.sh <<E\ncat a.log\nE\n./run.sh":          passed,
		"cat > run.sh <<E\nE\n./run.sh":                     passed,
		"cat <<\npytest":                                    passed,
		"pytest a#b; cat a.log":                             "",
		"# a comment\nls a":                                 "",
		"# cat a.log":                                       "",
		"#":                                                 "",
		"pytest; git log -1":                                passed,
		"# a comment\npytest":                               passed,
		"echo '# no comment'; pytest":                       passed,
		`pytest -k "one; cat a.log && make"`:                passed,
		`pytest -k 'one; cat a.log && make'`:                passed,
		`make; echo "` + passed + `; pytest"`:               "",
		"cat > run.sh <<'E'\necho '12 passed'\nE\n./run.sh": passed,
	} {
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		out, _ := maskAll(t, policy.Mask{Form: policy.FormCall}, false, ran(string(args), passed)...)
		_, got, _ := strings.Cut(out.Messages()[2].ResultText(), `" · says "`)
		if got = strings.TrimSuffix(got, `"]`); got != says {
			t.Errorf("%q: the placeholder quotes %q, want %q", command, got, says)
		}
	}
	// A failure may come from either command, and is quoted.
	out, _ := maskAll(t, policy.Mask{Form: policy.FormCall}, false, ran(`{"command":"go test ./...; cat a.go"}`, failed)...)
	if text := out.Messages()[2].ResultText(); !strings.Contains(text, failed) {
		t.Errorf("the placeholder quotes no failure: %q", text)
	}
}
