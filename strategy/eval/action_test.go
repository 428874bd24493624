package eval

import "testing"

func TestFencedCommandIsLastShellBlock(t *testing.T) {
	for text, want := range map[string]string{
		"I look.\n\n```bash\nls -R\n```":                                               "ls -R",
		"It has:\n```python\nx = 1\n```\nThe host is plain text.\n```python\ny\n```":   "", // text between two blocks
		"It has:\n```python\nx = 1\n```\nThe host is plain.\n\n```bash\ncat host\n```": "cat host",
		"```sh\nmake\n```\n\n```\nmake test\n```\nDone.":                               "make test",
		"```bash\nmake\n```\nIt printed\n```text\nok\n```":                             "make",
		"```bash\ncat > a <<'E'\nx\nE\n```":                                            "cat > a <<'E'\nx\nE",
		"```bash\nnever closed":                                                        "",
		"no block":                                                                     "",
	} {
		if got := fencedCommand(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestUnfencedKeepsTextBetweenBlocks(t *testing.T) {
	text := "Before it.\n```go\nx := 1\n```\nBetween them.\n```\nlog\n```\nBehind it.\n```\nnever closed\n"
	if got := unfenced(text); got != "Before it.\nBetween them.\nBehind it.\n```\nnever closed\n" {
		t.Errorf("%q, want %q", got, "Before it.\nBetween them.\nBehind it.\n```\nnever closed\n")
	}
}
