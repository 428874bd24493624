package checks

import "testing"

// Place ignores flags that filter tests. A flag that filters packages in one program may filter
// tests in another.
func TestPlaceOfIgnoresTestFilters(t *testing.T) {
	for cmd, same := range map[string]bool{
		"dotnet test --filter TestA": true,
		"phpunit --filter testA":     true,
		"pnpm --filter shop test":    false,
		"bun --filter shop test":     false,
		"yarn workspace shop test":   false,
	} {
		if place := Place(cmd); place == "\x00" != same {
			t.Errorf("place of %q: %q, want the opposite of unknown or known", cmd, place)
		}
	}
}

// The names in the output of a check belong to the folder in which the check runs, however the
// command enters that folder.
func TestPlaceIsTheFolderThatTheCheckRunsIn(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"cd web && npm test", "npm test", false},
		{"cd web/app && npm test", "cd web && cd app && npm test", true},
		{"cd /w/api && npm test", "cd /w/web && cd /w/api && npm test", true},
		{"cd /w/api && npm test", "pushd web; cd ../api && npm test", false},
		{"cd web && npm test", "cd web && npm test && cd ../api", true},
	} {
		if a, b := Place(c.a), Place(c.b); a == b != c.same {
			t.Errorf("the place of %q is %q, that of %q is %q; want the opposite of their equality", c.a, a, c.b, b)
		}
	}
}
