package strategy

import "testing"

// A state that a command shows after its effect is not the result of the effect.
func TestEffectIsQuotedWithItsOwnWords(t *testing.T) {
	const pushed, commit, status = "To github.com:a/shop.git\n   1a2b3c4..5d6e7f8  main -> main\n", "[main 5d6e7f8] cart: sum\n 1 file changed\n", "On branch main\nnothing to commit, working tree clean\nExit code: 0"
	for _, c := range []struct{ cmd, result, want string }{
		{"git push && git status -sb", "## main...origin/main\n M notes.txt\nExit code: 0", "ran `git push && git status -sb` (exit 0)"},
		{"git push && git status", pushed + status, "ran `git push && git status` (exit 0), which printed: 1a2b3c4..5d6e7f8 main -> main"},
		{"git push && git log --oneline -1", pushed + "5d6e7f8 cart: sum\nExit code: 0", "ran `git push && git log --oneline -1` (exit 0), which printed: 1a2b3c4..5d6e7f8 main -> main"},
		{"git commit -qm x && git log --oneline -1", "5d6e7f8 cart: sum\nExit code: 0", "ran `git commit -qm x && git log --oneline -1` (exit 0), which printed: 5d6e7f8 cart: sum"},
		{"git commit -m x && git push && git status", commit + pushed + status, "ran `git commit -m x && git push && git status` (exit 0), which printed: [main 5d6e7f8] cart: sum; 1a2b3c4..5d6e7f8 main -> main"},
		{"git add . && git commit -m x", commit + "✅ All checks of the hook passed!\nDebugger attached.\nExit code: 0", "ran `git add . && git commit -m x` (exit 0), which printed: [main 5d6e7f8] cart: sum"},
		{"npm install", "changed 1 package, and audited 334 packages in 1s\n\nfound 0 vulnerabilities\nWaiting for the debugger to disconnect...", "ran `npm install`, which printed: changed 1 package, and audited 334 packages in 1s"},
		{"gh pr create --fill && git status", "https://github.com/a/shop/pull/14\n" + status, "ran `gh pr create --fill && git status` (exit 0), which printed: https://github.com/a/shop/pull/14"},
	} {
		if got := toldRun(c.cmd, c.result); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.cmd, got, c.want)
		}
	}
}

func TestReadThatShowsNothingIsNoLook(t *testing.T) {
	for _, c := range []struct {
		cmd, result string
		looked      int
		vain        bool
	}{
		{"cat a.yaml 2>/dev/null | head", "Exit code: 0", 0, true},
		{"cat a.yaml 2>/dev/null || true", "", 0, true},
		{"cat a.yaml b.yaml 2>/dev/null || echo none", "none\nExit code: 0", 0, true},
		{"cat a.yaml 2>/dev/null | head", "a: 1\nExit code: 0", 1, false},
		{"cat a.yaml", "Exit code: 0", 1, false}, // the file is empty
		{"cat a.yaml 2>/dev/null", "Exit code: 0", 1, false},
		{"cat a.yaml; cat b.yaml", "cat: a.yaml: No such file or directory\nb: 2\nExit code: 0", 1, false},
	} {
		got := calledTool("bash", c.result, "command", c.cmd)
		if n := len(got.Files()); n != c.looked || got.searchedInVain() != c.vain || got.deed() != deedLook {
			t.Errorf("%s: %d files, in vain: %v, deed %d", c.cmd, n, got.searchedInVain(), got.deed())
		}
	}
	if got, want := calledTool("bash", "Exit code: 0", "command", "rm -rf build 2>/dev/null; mkdir build").outcomeText(), "exit 0"; got != want {
		t.Errorf("a command that changes a folder: %s, want %s", got, want)
	}
}
