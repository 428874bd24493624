// Compactctl compacts transcripts of agents, shows the effects and reasons of
// compactions, and reads the archive that they leave.
//
//	compactctl compact session.jsonl --model gpt-4 --max-context-tokens 32000
//	compactctl dry-run session.jsonl --model gpt-4
//	compactctl archive ls
//
// Exit status: 0 done; 1 failed; 2 usage or configuration; 3 bad input; 4 the
// budget cannot be met; 5 the archive failed; 6 the archive is not proven to
// be complete (archive verify --require-proof).
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
)

func main() {
	collectLater()
	ctx, stop := signal.NotifyContext(context.Background(), ends()...)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// ends returns the signals that end the command. A terminal that closes sends SIGHUP, after
// which a server must store its data, too; nohup ignores that signal.
func ends() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// run runs the whole command, and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) (code int) {
	defer rescue(errOut, &code)
	a := newApp(in, out, errOut)
	a.ended = ctx.Done()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = a.unknown
	}
	if err == nil {
		return exitOK
	}
	if a.json || slices.Contains(args, "--json") { // a wrong flag before --json ends the parsing, so that a.json is not set
		a.explainJSON(err)
	} else {
		a.explain(cmd, err)
	}
	return status(err)
}

// rescue, deferred, turns a panic into a failure, with its stack in the log.
func rescue(errOut io.Writer, code *int) {
	r := recover()
	if r == nil {
		return
	}
	slog.New(slog.NewTextHandler(errOut, nil)).Error("the command panicked", "panic", r, "stack", string(debug.Stack()))
	fmt.Fprintln(errOut, "compactctl: internal error: the command panicked; its output may be incomplete")
	*code = exitFailed
}
