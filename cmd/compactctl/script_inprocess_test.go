package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentcompact/compact/internal/samples"
)

// The scripts run the command 700 times. A process of its own takes 0.1 s of CPU to start, so
// "run compactctl" and "status N compactctl" call the command within the tests. The scripts
// keep "exec compactctl" where the command reads from standard input, sends telemetry, or
// writes to the standard output of its process.
// With COMPACT_SAMPLES=all each command has a process of its own.

// inOrder runs the scripts one after the other, because the folder and the environment of a
// command within the tests are those of the whole process.
type inOrder struct{ *testing.T }

func (inOrder) Parallel()     {}
func (inOrder) Verbose() bool { return testing.Verbose() }

func (t inOrder) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inOrder{t}) })
}

// variables is the key of the names of the variables that a script can have.
type variables struct{}

var setByScript = regexp.MustCompile(`(?m)^(?:\[\w+\] )?env (\w+)=`)

// knowVariables stores the names of the variables of a script: those that it begins with, and
// those that some script in a folder sets.
func knowVariables(e *testscript.Env, dir string) error {
	var names []string
	for _, v := range e.Vars {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, m := range setByScript.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	e.Values[variables{}] = names
	return err
}

// run command... runs a command that must exit with status 0.
func cmdRun(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: run command...")
	}
	if code := exitStatus(ts, args); neg == (code == exitOK) {
		ts.Fatalf("%s: exit status %d", strings.Join(args, " "), code)
	}
}

// exitStatus runs a command and returns its exit status.
func exitStatus(ts *testscript.TestScript, args []string) int {
	names, known := ts.Value(variables{}).([]string)
	if args[0] == "compactctl" && known && !samples.All() {
		return within(ts, names, args[1:])
	}
	if args[0] == "exec" {
		args = args[1:]
	}
	err := ts.Exec(args[0], args[1:]...)
	if err == nil {
		return exitOK
	}
	_, status, _ := strings.Cut(err.Error(), "exit status ")
	code, notExited := strconv.Atoi(status)
	if notExited != nil {
		ts.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return code
}

// within runs compactctl in this process, with the folder and the variables of a script.
func within(ts *testscript.TestScript, names, args []string) int {
	before := os.Environ()
	folder, err := os.Getwd()
	ts.Check(err)
	defer func() {
		ts.Check(os.Chdir(folder))
		setEnvironment(ts, before)
	}()
	now := []string{"PWD=" + ts.MkAbs(".")}
	for _, name := range names {
		if value := ts.Getenv(name); value != "" {
			now = append(now, name+"="+value)
		}
	}
	ts.Check(os.Chdir(ts.MkAbs(".")))
	setEnvironment(ts, now)
	return run(context.Background(), args, strings.NewReader(""), ts.Stdout(), ts.Stderr())
}

func setEnvironment(ts *testscript.TestScript, all []string) {
	os.Clearenv()
	for _, v := range all {
		if name, value, ok := strings.Cut(v, "="); ok && name != "" {
			ts.Check(os.Setenv(name, value))
		}
	}
}
