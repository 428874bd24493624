package shell

import "testing"

func TestOneLineJoinsPlainCommands(t *testing.T) {
	for cmd, want := range map[string]string{
		"mv a.go b.go\nnpm test":              "mv a.go b.go; npm test",
		"cd web\n\n# now\nnpm test -- \\\n x": "cd web; npm test --   x",
		"A=1 go test ./...;\ngo vet ./...":    "A=1 go test ./...; go vet ./...",
	} {
		if got := OneLine(cmd); got != want {
			t.Errorf("%q is read as %q, want %q", cmd, got, want)
		}
	}
	for _, cmd := range []string{
		"cat <<EOF > a.go\npackage a\nEOF",
		"for f in *.go; do\n echo $f\ndone",
		"git commit -m 'store: open\n\nIt was shut.'",
		"(cd a\nmake)",
		"import os\nprint(os.name)",
		"x = 1\ny = 2",
		"go test ./... |\n tail -3",
		"make serve &\nsleep 2",
	} {
		if got := OneLine(cmd); got != cmd {
			t.Errorf("%q is read as %q", cmd, got)
		}
	}
}
