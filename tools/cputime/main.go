// Command cputime runs tests and prints the CPU time of each package's test binary,
// with all processes that it starts and waits for. The time to compile and link is not
// part of it. All tests run: cached results are not used.
//
//	go run ./tools/cputime ./...
//	go run ./tools/cputime -short ./compact ./redact
//
// Its arguments are those of go test, whose output it prints if a test fails.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// folder names the variable that tells the program to run one test binary: go test
// starts it in place of each, and it writes a usage to the folder that the variable holds.
const folder = "COMPACT_CPUTIME_FOLDER"

type usage struct {
	Dir                string // of the package
	User, System, Wall time.Duration
}

func main() {
	log.SetFlags(0)
	if into, ok := os.LookupEnv(folder); ok {
		code, err := one(into, os.Args[1], os.Args[2:])
		if err != nil {
			log.Fatal("cputime: ", err)
		}
		os.Exit(code)
	}
	all, err := measure(os.Args[1:])
	print(all)
	if err != nil {
		log.Fatal("cputime: ", err)
	}
}

// measure returns the usage of each package's tests.
func measure(args []string) ([]usage, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	into, err := os.MkdirTemp("", "cputime")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(into)
	test := exec.Command("go", append([]string{"test", "-vet=off", "-count=1", "-exec=" + self}, args...)...)
	test.Env = append(os.Environ(), folder+"="+into)
	out, failed := test.CombinedOutput()
	if failed != nil {
		os.Stderr.Write(out)
	}
	var all []usage
	names, err := filepath.Glob(filepath.Join(into, "*.json"))
	for _, name := range names {
		var u usage
		data, err := os.ReadFile(name)
		if err := errors.Join(err, json.Unmarshal(data, &u)); err != nil {
			return all, err
		}
		all = append(all, u)
	}
	return all, errors.Join(failed, err)
}

// one runs a test binary, writes what it took to a new file of into and returns its code.
func one(into, binary string, args []string) (int, error) {
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	if err := os.Unsetenv(folder); err != nil {
		return 0, err
	}
	test := exec.Command(binary, args...)
	test.Stdin, test.Stdout, test.Stderr = os.Stdin, os.Stdout, os.Stderr
	start := time.Now()
	if err := test.Run(); test.ProcessState == nil {
		return 0, err
	}
	state := test.ProcessState
	data, err := json.Marshal(usage{dir, state.UserTime(), state.SystemTime(), time.Since(start)})
	if err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(into, "*.json")
	if err != nil {
		return 0, err
	}
	_, err = f.Write(data)
	return state.ExitCode(), errors.Join(err, f.Close())
}

// print prints the packages that take 0.1 s or more, those first that take most, and the sum.
func print(all []usage) {
	base, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	slices.SortFunc(all, func(a, b usage) int {
		return cmp.Or(cmp.Compare(b.User, a.User), strings.Compare(a.Dir, b.Dir))
	})
	line := func(u usage, name string) {
		fmt.Printf("%8.2f %8.2f %8.2f  %s\n", u.User.Seconds(), u.System.Seconds(), u.Wall.Seconds(), name)
	}
	fmt.Printf("%8s %8s %8s  seconds, by package\n", "user", "system", "wall")
	var sum, small usage
	add := func(to *usage, u usage) {
		to.User, to.System, to.Wall = to.User+u.User, to.System+u.System, to.Wall+u.Wall
	}
	for _, u := range all {
		add(&sum, u)
		if u.User < 100*time.Millisecond {
			add(&small, u)
			continue
		}
		name, err := filepath.Rel(base, u.Dir)
		if err != nil {
			name = u.Dir
		}
		line(u, filepath.ToSlash(name))
	}
	line(small, "packages below 0.1 s of user time, together")
	line(sum, fmt.Sprintf("all %d", len(all)))
}
