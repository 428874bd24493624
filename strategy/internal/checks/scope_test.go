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
