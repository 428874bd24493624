package checks

import "testing"

func TestRerunRecognizesOtherFormsOfACheck(t *testing.T) {
	for _, c := range []struct {
		first, later string
		settles      bool
	}{
		{"bun run test 2>&1", "bun run test 2>&1 | tail -5", true},
		{"cd web && npm test > out.txt", "cd web/ && CI=1 npm test -- --silent", true},
		{"go test ./storage -run TestTorn -v", "go test ./...", true},
		{"go test ./storage -run TestTorn", "go test ./storage", true},
		{"pytest tests/test_a.py -k name -x", "pytest", false}, // -x is unknown
		{"pytest tests/test_a.py -k name", "python -m pytest", false},
		{"pytest tests/test_a.py -q", "pytest", true},
		{"go test ./storage", "go test ./policy", false},
		{"go test", "go test ./storage", false}, // a part proves nothing about the rest
		{"go test ./...", "go test", false},     // only the package of the folder
		{"go test ./...", "go test 2>/dev/null", false},
		{"go test", "go test .", true},
		{"go test -run TestTorn", "go test ./...", true},
		{"go test -race ./...", "go test ./...", false},
		{"go test ./...", "go vet ./...", false},
		{"cd a && npm test", "cd b && npm test", false},
		{"cd a && npm test && cd ../b && npm test", "cd a && npm test", false}, // b did not run again
		{"cd a && npm test && cd ../b && npm test", "cd a && npm test && cd ../b && npm test 2>&1", true},
		{"cd a && cd b && npm test", "cd a/b && npm test", true},
		{"cd a && npm run lint && cd - && npm test", "npm test && cd ./a && npm run lint", true},
		{"cd /w/a && npm test", "cd /w && npm run lint && cd a/ && npm test", true},
		{"cd ~/w && npm test", "cd a && cd ~/w/ && npm test", true},
		{"(cd a && npm test) && (cd b && npm test)", "cd a && npm test", false},
		{"(cd a && npm test) && npm run lint", "npm run lint && cd a && npm test", true},
		{"((cd a && npm test) && npm run lint)", "npm run lint && (cd a && npm test)", true},
		{"cd a && go test $(go list ./...) && npm test", "cd a && npm test && go test $(go list ./...)", true},
		{"timeout 60 go test ./a", "go test ./a", true},
		{"CI=1 timeout -k 5 2m npm test", "sudo env CI=1 timeout 90s npm test", true},
		{"timeout --signal=KILL 1.5h npm test", "time npm test -- --silent", true},
		{"timeout 60 npm test", "timeout 60 npm run lint", false},
		{"npm run test:unit", "npm run test", false},
		{"pnpm run build", "pnpm run lint", false},
		{"nx test web", "nx build web", false},
		{"npm run lint && npm test", "npm test", false},
		{"mvn -q test", "mvn -q package", false},
		{"go test ./a\ngo test ./b", "go test ./a", false},
		{"pytest -q", "python - <<'E'\nprint(1)\nE\npytest -q", true},
		{"cat > a.txt <<'E'\ngo vet ./a\nE\nnpm test", "npm test", true},
	} {
		failed := Reruns{}
		failed.Wait(c.first)
		if got := len(failed.Settle(c.later)) > 0; got != c.settles {
			t.Errorf("%q settles %q: %v, want the opposite", c.later, c.first, got)
		}
	}
}

// The consecutive checks of one command can be settled together or one by one.
func TestChecksOfOneCommandAreSettledOneByOne(t *testing.T) {
	for _, c := range []struct {
		first string
		later []string
		want  int // number of runs that settle the check; 0 = never
	}{
		{"mise run test && mise run lint", []string{"mise run test 2>&1 | tail -30", "mise run lint"}, 2},
		{"mise run test && mise run lint 2>&1", []string{"mise run test && mise run lint"}, 1},
		{"npm run lint && npm test", []string{"npm test", "npm test"}, 0},
		{"npm run lint; npm test", []string{"npm run lint", "npm test"}, 0}, // the failed check is unknown
		{"npm run lint; npm test", []string{"npm run lint 2>&1; npm test | tail -3"}, 1},
		{"npm --prefix ui run build", []string{"npm --prefix api run build", "npm --prefix ui run build 2>&1"}, 2},
		{"go test ./a -run TestOne && go vet ./a", []string{"go vet ./a", "go test ./..."}, 2},
	} {
		failed, got := Reruns{}, 0
		failed.Wait(c.first)
		for i, later := range c.later {
			if len(failed.Settle(later)) > 0 && got == 0 {
				got = i + 1
			}
		}
		if got != c.want {
			t.Errorf("%q is settled by run %d of %q, want %d", c.first, got, c.later, c.want)
		}
	}
}

// A check that repairs settles the same check without the repair.
func TestRepairingCheckSettlesPlainCheck(t *testing.T) {
	for first, later := range map[string]string{"bun run lint:fix 2>&1": "bun run lint", "npm run lint -- --fix": "npm run lint", "npx biome check --write .": "npx biome check .", "ruff check --fix src": "ruff check src"} {
		failed := Reruns{}
		failed.Wait(first)
		if len(failed.Settle(later)) == 0 {
			t.Errorf("%q does not settle %q", later, first)
		}
	}
}
