package strategy

import (
	"slices"
	"testing"
)

func TestRerunKnowsTheSameCheckInAnotherForm(t *testing.T) {
	for _, c := range []struct {
		first, later string
		settles      bool
	}{
		{"bun run test 2>&1", "bun run test 2>&1 | tail -5", true},
		{"cd web && npm test > out.txt", "cd web/ && CI=1 npm test -- --silent", true},
		{"go test ./storage -run TestTorn -v", "go test ./...", true},
		{"go test ./storage -run TestTorn", "go test ./storage", true},
		{"pytest tests/test_a.py -k name -x", "pytest", false}, // -x is not known
		{"pytest tests/test_a.py -k name", "python -m pytest", false},
		{"pytest tests/test_a.py -q", "pytest", true},
		{"go test ./storage", "go test ./policy", false},
		{"go test", "go test ./storage", false}, // a part proves nothing of the rest
		{"go test ./...", "go test", false},     // the package of the folder alone
		{"go test ./...", "go test 2>/dev/null", false},
		{"go test", "go test .", true},
		{"go test -run TestTorn", "go test ./...", true},
		{"go test -race ./...", "go test ./...", false},
		{"go test ./...", "go vet ./...", false},
		{"cd a && npm test", "cd b && npm test", false},
		{"npm run test:unit", "npm run test", false},
		{"pnpm run build", "pnpm run lint", false},
		{"nx test web", "nx build web", false},
		{"npm run lint && npm test", "npm test", false},
		{"mvn -q test", "mvn -q package", false},
		{"go test ./a\ngo test ./b", "go test ./a", false},
	} {
		_, covered := rerun(c.first)
		own, _ := rerun(c.later)
		if got := slices.Contains(covered, own); got != c.settles {
			t.Errorf("%q settles %q: %v", c.later, c.first, got)
		}
	}
}
