// Command record makes the sessions in examples/data: a scripted agent works on
// a copy of this repository, and every tool output is the real output of the
// tool. Only the texts of the agent and the user are scripted.
//
//	go run ./examples/record -out examples/data
//
// Outputs are unchanged, except that the folder of the copy is written as
// /repo, and durations as 0.00s, so that two recordings of one commit can be
// compared.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	out := flag.String("out", "examples/data", "folder for the sessions")
	flag.Parse()
	log.SetFlags(0)
	for name, script := range scripts {
		if err := record(filepath.Join(*out, name), script); err != nil {
			log.Fatalf("record: %s: %v", name, err)
		}
	}
}

// record runs one script in a fresh copy of the repository.
func record(file string, script func(*agent)) error {
	root, err := os.MkdirTemp("", "record")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if err := copyRepository(root); err != nil {
		return err
	}
	a := &agent{root: root}
	script(a)
	if a.err != nil {
		return a.err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	fmt.Printf("%s: %d messages, %d bytes\n", file, a.messages, a.log.Len())
	return os.WriteFile(file, a.log.Bytes(), 0o644)
}

// copyRepository copies the files that git tracks, without the recorded
// sessions.
func copyRepository(root string) error {
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for _, name := range bytes.Split(bytes.TrimSuffix(list, []byte{0}), []byte{0}) {
		path := string(name)
		if filepath.Dir(path) == filepath.Join("examples", "data") {
			continue
		}
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, path), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
