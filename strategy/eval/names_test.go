package eval

import "testing"

// TestLineNamesAScriptByItsLastLine: a script has the outcome of its last line, and a
// last line "EOF" names no script.
func TestLineNamesAScriptByItsLastLine(t *testing.T) {
	const script = "cat > try_totals.py << 'EOF'\nimport shop\nEOF\npython try_totals.py"
	for _, c := range []struct {
		line, command string
		want          bool
	}{
		{"- `…; python try_totals.py` failed", script, true},
		{"- `cat > try_totals.py << 'EOF'` failed", script, true},
		{"- `go test ./...` failed", script, false},
		{"- `go test ./...` failed", "cat > notes.md <<EOF\nall\nEOF", false},
		{"- `python other.py` failed", script, false},
		{"- EOF failed", "cat > notes.md <<EOF\nall\nEOF", false},
	} {
		if got := (line{low: even(c.line)}).names(nameOf(c.command)); got != c.want {
			t.Errorf("%q names %q: %v, want %v", c.line, c.command, got, c.want)
		}
	}
}
