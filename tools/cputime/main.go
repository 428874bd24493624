// Command cputime runs tests and prints the CPU time of each package's test binary, with
// all processes that it starts and waits for. The time to compile and link the tests is
// excluded; the time for code that a test itself compiles is in a separate column. All
// tests run: cached results are not used.
//
//	go run ./tools/cputime ./...
//	go run ./tools/cputime -short ./compact ./redact
//
// It takes the arguments of go test. If a test fails, it prints the output of go test.
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

// The variables tell the program to run one test binary, or one tool of the compiler. go
// test starts this program in place of each binary, and a go command that a test starts
// runs it in place of each tool. The program writes a usage to the folder that the
// variable holds.
const (
	binaries = "COMPACT_CPUTIME_BINARIES"
	tools    = "COMPACT_CPUTIME_TOOLS"
)

type usage struct {
	Dir                       string // of the package
	User, System, Wall, Build time.Duration
}

func main() {
	log.SetFlags(0)
	for variable, run := range map[string]func(into string, args []string) (int, error){binaries: binary, tools: tool} {
		if into, ok := os.LookupEnv(variable); ok {
			code, err := run(into, os.Args[1:])
			if err != nil {
				log.Fatal("cputime: ", err)
			}
			os.Exit(code)
		}
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
	test.Env = append(os.Environ(), binaries+"="+into)
	out, failed := test.CombinedOutput()
	if failed != nil {
		os.Stderr.Write(out)
	}
	all, err := read(into)
	return all, errors.Join(failed, err)
}

// read returns the usages in a folder.
func read(from string) ([]usage, error) {
	var all []usage
	names, err := filepath.Glob(filepath.Join(from, "*.json"))
	for _, name := range names {
		var u usage
		data, err := os.ReadFile(name)
		if err := errors.Join(err, json.Unmarshal(data, &u)); err != nil {
			return all, err
		}
		all = append(all, u)
	}
	return all, err
}

// binary runs a test binary, writes the used time, and returns the exit code.
func binary(into string, args []string) (int, error) {
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	compiled, err := os.MkdirTemp(into, "tools")
	if err != nil {
		return 0, err
	}
	env := map[string]string{tools: compiled, "GOFLAGS": os.Getenv("GOFLAGS") + " -toolexec=" + self}
	u, code, err := run(args, binaries, env)
	if err != nil {
		return 0, err
	}
	built, err := read(compiled)
	for _, b := range built {
		u.Build += b.User
	}
	u.Dir, u.User = dir, u.User-u.Build
	return code, errors.Join(err, write(into, u))
}

// tool runs a tool of the compiler, writes the used time, and returns the exit code.
func tool(into string, args []string) (int, error) {
	u, code, err := run(args, tools, nil)
	if err != nil {
		return 0, err
	}
	return code, write(into, u)
}

// run runs a program, without one environment variable and with additional ones.
func run(args []string, without string, with map[string]string) (usage, int, error) {
	err := os.Unsetenv(without)
	for name, value := range with {
		err = errors.Join(err, os.Setenv(name, value))
	}
	if err != nil {
		return usage{}, 0, err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	start := time.Now()
	err = cmd.Run()
	state := cmd.ProcessState
	if state == nil {
		return usage{}, 0, err
	}
	return usage{User: state.UserTime(), System: state.SystemTime(), Wall: time.Since(start)}, state.ExitCode(), nil
}

func write(into string, u usage) error {
	data, err := json.Marshal(u)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(into, "*.json")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// print prints the packages that take 0.1 s or more, the slowest first, and the sum.
func print(all []usage) {
	base, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	slices.SortFunc(all, func(a, b usage) int {
		return cmp.Or(cmp.Compare(b.User, a.User), strings.Compare(a.Dir, b.Dir))
	})
	line := func(u usage, name string) {
		fmt.Printf("%8.2f %8.2f %8.2f %8.2f  %s\n", u.User.Seconds(), u.System.Seconds(), u.Wall.Seconds(), u.Build.Seconds(), name)
	}
	fmt.Printf("%8s %8s %8s %8s  seconds, by package\n", "user", "system", "wall", "build")
	var sum, small usage
	add := func(to *usage, u usage) {
		to.User, to.System, to.Wall, to.Build = to.User+u.User, to.System+u.System, to.Wall+u.Wall, to.Build+u.Build
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
