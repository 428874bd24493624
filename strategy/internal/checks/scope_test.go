package checks

import "testing"

// A flag that filters packages in one program may filter tests in another.
func TestPlaceOfIgnoresTestFilters(t *testing.T) {
	for cmd, same := range map[string]bool{
		"dotnet test --filter TestA": true,
		"phpunit --filter testA":     true,
		"pnpm --filter shop test":    false,
		"bun --filter shop test":     false,
		"yarn workspace shop test":   false,
	} {
		if place := Place(cmd); place == "\x00" != same {
			t.Errorf("%q: %q", cmd, place)
		}
	}
}

// The names in the output of a check belong to the folder in which it runs, in whatever
// steps the command enters that folder.
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
			t.Errorf("%q: %q, %q: %q", c.a, a, c.b, b)
		}
	}
}
