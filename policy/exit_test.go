package policy

import "testing"

func TestExitCodeReadsOnlyTheStatusLineOfTheHarness(t *testing.T) {
	for _, c := range []struct {
		result string
		code   int
		ok     bool
	}{
		{"<returncode>1</returncode>\n<output>\nx", 1, true},
		{"Exit code 127\nbash: x: command not found", 127, true},
		{"Exit code: 0\nWall time: 1 seconds\nOutput:\n", 0, true},
		{"Chunk ID: 6f1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nx", 2, true},
		{"out\n<shellId: 4 completed with exit code 3>", 3, true},
		{"out\r\n[The command completed with exit code 1.]\r\n", 1, true},
		{"out\nCommand exited with code 1", 1, true},
		{"main.go:3: undefined: x\nexit status 1", 0, false},       // of go run
		{"error: script \"lint\" exited with code 1", 0, false},    // of a script
		{"a\nExit code: 1\nb", 0, false},                           // in the middle
		{"web build: Exited with code 1\nall done", 0, false},      // of one step
		{"Process exited with code 1 after 3 retries\n", 0, false}, // a sentence
		{"", 0, false},
	} {
		if code, ok := exitCode(c.result); code != c.code || ok != c.ok {
			t.Errorf("exitCode(%q) = %d, %v; want %d and %v", c.result, code, ok, c.code, c.ok)
		}
	}
}

func TestTargetReturnsTheObjectOfACall(t *testing.T) {
	for args, want := range map[string]string{
		`{"timeout":3,"command":"cd x && make","description":"Builds"}`: "cd x && make",
		`{"cmd":["bash","-lc","ls"],"workdir":"/w"}`:                    "bash -lc ls",
		`{"limit":10,"file_path":"/a/b.go"}`:                            "/a/b.go",
		`{"path":"src","pattern":"TODO"}`:                               "TODO",
		`{"b":"second","a":"first","description":"no"}`:                 "first",
		`{"input":"*** Begin Patch\n*** Update File: a.go\n"}`:          "*** Update File: a.go",
		`{"command":"\n  two\nlines"}`:                                  "two",
		`{"n":3}`:                                                       "",
		`"text"`:                                                        "",
		`not json`:                                                      "",
		`{"a":null}`:                                                    "",
	} {
		if got := target([]byte(args)); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}
