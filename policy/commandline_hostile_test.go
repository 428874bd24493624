package policy

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// readCommand reads every command line, even one that no shell accepts.
func TestReadCommandAcceptsBrokenCommandLines(t *testing.T) {
	for _, text := range []string{"make; | logs y", "make\n|", "make && || logs", "make; ( | cat x", "make; timeout", "make; A=1", "make; git", "make; git -C", "make; gh", "make; |& logs", "make; | docker logs"} {
		args, err := json.Marshal(map[string]string{"command": text})
		if err != nil {
			t.Fatal(err)
		}
		if c := readCommand(args); !c.does {
			t.Errorf("does is false for %q", text)
		}
	}
}

// readCommand reads pieces of command lines in any order without a panic.
func TestReadCommandAcceptsPiecesInAnyOrder(t *testing.T) {
	pieces := []string{"make", "|", "||", "&&", ";", "\n", "(", ")", "{", "cat", "logs", "git", "-C", "-c", "gh", "timeout", "env", "A=1", "sed", "-i", "<<EOF", "EOF", "'", `"`, "`", "\\", "\\\n", "#", "# x\n", ">", "<", "2>&1", "$(", "echo", "printf", "bash -c", "⏎", "\xff", "a.log"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		text := ""
		for range 1 + rng.IntN(8) {
			text += pieces[rng.IntN(len(pieces))] + []string{" ", ""}[rng.IntN(2)]
		}
		args, err := json.Marshal(map[string]string{"command": text})
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Fatalf("%q: %v, want none", text, r)
				}
			}()
			readCommand(args)
			target(args)
		}()
	}
}
