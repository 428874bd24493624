package strategy

import "testing"

// toldRun returns the line about a command with a result.
func toldRun(cmd, result string) string { return calledTool("bash", result, "command", cmd).tell() }

func TestCheckWithALostStatusHasNoOutcome(t *testing.T) {
	for _, c := range []struct{ cmd, result, want string }{
		{"make test || true", "linking\nExit code: 0", "ran `make test || true`, which printed: linking; no outcome stated"},
		{"go build ./... || true", "Exit code: 0", "ran `go build ./... || true`, with no outcome stated"},
		{"go test ./... | tail -5", "a line\n[exit code: 0]", "ran `go test ./... | tail -5`, which printed: a line; no outcome stated"},
		{"go vet ./...; echo done", "shop/cart.go:3:1: x declared and not used\ndone\nExit code: 0", "ran `go vet ./...; echo done`, which printed: shop/cart.go:3:1: x declared and not used; no outcome stated"},
		{"go vet ./...; go test ./shop", "shop/cart.go:3:1: x declared and not used\nok  \tshop\t0.1s\nExit code: 0", "ran `go vet ./...; go test ./shop`, which printed: shop/cart.go:3:1: x declared and not used; no outcome stated"},
		{"go test ./... 2>&1 | grep '^ok'", "ok  \tshop\t0.2s\nExit code: 0", "ran `go test ./... 2>&1 | grep '^ok'`, which printed: ok shop 0.2s; no outcome stated"},
		{"go test ./... | head -1", "ok  \tshop\t0.2s\nExit code: 0", "ran `go test ./... | head -1`, which printed: ok shop 0.2s; no outcome stated"},
		{"go build ./... && echo BUILT || echo BROKEN", "BROKEN\nExit code: 0", "ran `go build ./... && echo BUILT || echo BROKEN`, which printed: BROKEN"},
		{"if go build; then echo yes; else echo no; fi", "no\nExit code: 0", "ran `if go build; then echo yes; else echo no; fi`, which printed: no"},
		{"go test ./... | grep -v '?'", "ok  \tshop\t0.2s\nExit code: 0", "`go test ./... | grep -v '?'` passed (exit 0): ok shop 0.2s"},
		{"go test ./... && grep -n TODO main.go", "ok  \tshop\t0.2s\n3:// TODO\nExit code: 0", "`go test ./... && grep -n TODO main.go` passed (exit 0): ok shop 0.2s"},
		{"go test ./shop && head -2 README.md", "ok  \tshop\t0.2s\n# Shop\nExit code: 0", "`go test ./shop && head -2 README.md` passed (exit 0): ok shop 0.2s"},
		{"go vet ./...; echo $?", "0\nExit code: 0", "ran `go vet ./...; echo $?`, which printed: 0"},
		{"go test ./... | tail -5; echo ${PIPESTATUS[0]}", "0\nExit code: 0", "ran `go test ./... | tail -5; echo ${PIPESTATUS[0]}`, which printed: 0"},
		{"go test ./... | head -9", "ok  \tshop\t0.2s\nExit code: 0", "`go test ./... | head -9` passed (exit 0): ok shop 0.2s"},
		{"go test ./... | grep -E 'ok|FAIL'", "ok  \tshop\t0.2s\nExit code: 0", "`go test ./... | grep -E 'ok|FAIL'` passed (exit 0): ok shop 0.2s"},
	} {
		if got := toldRun(c.cmd, c.result); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.cmd, got, c.want)
		}
	}
}

func TestEffectWhoseFailureIsHiddenIsNotDone(t *testing.T) {
	for _, c := range []struct{ cmd, result, want string }{
		{"kubectl apply -f a.yaml || true", "Exit code: 0", "neither"},
		{"gh release create v1 2>/dev/null; echo ok", "ok\nExit code: 0", "neither"},
		{"git push -q || echo skipped", "skipped\nExit code: 0", "neither"},
		{"kubectl apply -f a.yaml || true", "deployment.apps/shop configured\nExit code: 0", "done"},
		{"gh pr merge 14 --squash || gh pr merge 14 --merge", "Exit code: 0", "done"},
		{"git push -q || exit 1", "Exit code: 0", "done"},
		{"git push -q || exit 0", "Exit code: 0", "neither"},
		{"git push -q || exit 1", "", "neither"},
		{"git push -q || echo skipped", "Exit code: 0", "done"},
		{"kubectl apply -f deploy-check.yaml", "deployment.apps/shop configured\nExit code: 0", "done"},
		{"git commit -m 'Mend the deploy-check target'", "[main 1a2b3c4] Mend the deploy-check target\nExit code: 0", "done"},
		{"make deploy-test", "deploying\nExit code: 0", "done"},
		{"git add -A || true; git push -q", "Exit code: 0", "done"},
		{"make deploy-check", "checking\nExit code: 0", "no effect"},
		{"make deploy-staging", "deploying\nExit code: 0", "done"},
	} {
		if got := toldAs(calledTool("bash", c.result, "command", c.cmd)); got != c.want {
			t.Errorf("%s: %s, want %s", c.cmd, got, c.want)
		}
	}
	if got, want := toldRun("git push || true", "Exit code: 0"), "ran `git push || true`; whether it took effect is unknown"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
