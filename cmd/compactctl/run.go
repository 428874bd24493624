package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/serve"
)

func newRun(a *app) *cobra.Command {
	s := &serving{app: a, drain: 5 * time.Second}
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARG...]",
		Short: "Run an agent with compaction, without changes to its code",
		Long: `Run starts a proxy (see serve) on a free port of this machine. It then runs COMMAND on the
same terminal, with the environment variables from which agents and SDKs read the URL of
their provider, and exits with the status of COMMAND. At the end it reports on standard
error what the calls cost, and what they would have cost without compaction. Run does not
change the agent's own configuration.

  ` + strings.Join(baseURLs("http://127.0.0.1:PORT"), "\n  ") + `

If such a variable is already set, its value is the upstream. Codex, OpenCode and pi read
none of these variables; run configures them by an argument (codex -c, pi -e) or by
another variable (OPENCODE_CONFIG_CONTENT). Configure any other command by hand, with the
address of 'compactctl serve'.`,
		Example: `  compactctl run --observe -- claude
  compactctl run --max-context-tokens 75000 -- claude -p "fix the tests" --allowedTools Bash
  compactctl run --upstream openai=http://127.0.0.1:8000 -- python agent.py`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{errors.New("no command: name it after --")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return s.runCommand(cmd, args) },
	}
	a.addConfig(cmd)
	s.flags(cmd)
	cmd.Flags().SetInterspersed(false)
	return cmd
}

// commandStatus is the exit status of the command that run started, as an error.
type commandStatus struct{ code int }

func (e *commandStatus) Error() string {
	return fmt.Sprintf("the command ended with status %d", e.code)
}

// The exit statuses of shells for a command that does not exist, or can't be
// run.
const (
	exitNotFound = 127
	exitCanNot   = 126
	exitSignal   = 128 // plus the number of the signal

	exitInterrupted = exitSignal + 2
)

func (s *serving) runCommand(cmd *cobra.Command, args []string) (err error) {
	s.fromEnvironment(os.LookupEnv)
	if err := s.options(); err != nil {
		return err
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		s.complain("compactctl", notFound(args, err))
		return &commandStatus{notRun(err)}
	}
	said := &deferredLog{to: s.err} // the terminal belongs to the command
	ctx := context.WithoutCancel(cmd.Context())
	h, m, err := s.handler(cmd, said)
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, s.close(ctx, m))
	}
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- h.Serve(serving, l, s.drain) }()
	to, err := tell("http://"+l.Addr().String(), s.upstreams, args, os.Environ())
	code := 0
	if err == nil {
		code, err = s.child(path, to.args, to.env)
	}
	to.done()
	stop()
	<-served //nolint:errcheck // calls that were cut off are no failure: no client waits for them
	err = errors.Join(err, s.close(ctx, m))
	said.tell()
	s.receipt(h.Stats())
	if err == nil && code != 0 {
		return &commandStatus{code}
	}
	return err
}

// notRun returns the exit status for a command that could not be run.
func notRun(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return exitNotFound
	}
	return exitCanNot
}

// notFound explains why the command can't be run.
func notFound(args []string, err error) string {
	why := fmt.Sprintf("%q can't be run: %v", args[0], err)
	var of *exec.Error
	if errors.As(err, &of) {
		why = fmt.Sprintf("%q can't be run: %v", args[0], of.Err)
	}
	switch {
	case notRun(err) == exitCanNot || filepath.Base(args[0]) != args[0]: // a command with a path is looked for in one place only
	case len(args) == 1 && strings.ContainsAny(args[0], " \t"):
		why += "; the quotes make the command and its arguments one word: remove them"
	default:
		why += "; check that it is installed. An alias or function of your shell can't be run: give the path of a program"
	}
	return why
}

// child runs a command on this terminal and passes signals on to it.
func (s *serving) child(path string, args, env []string) (code int, err error) {
	c := &exec.Cmd{Path: path, Args: args, Env: env, Stdin: s.in, Stdout: s.out, Stderr: s.err}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	defer signal.Stop(signals)
	if err := c.Start(); err != nil {
		s.complain("compactctl", err.Error())
		return notRun(err), nil
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-signals:
				if sig != os.Interrupt || !isTerminal(s.in) { // the terminal has already sent it the signal
					_ = c.Process.Signal(sig)
				}
			case <-done:
				return
			}
		}
	}()
	err = c.Wait()
	close(done)
	return ended(c.ProcessState, err)
}

// ended returns the exit status of a command in the convention of shells.
func ended(p *os.ProcessState, err error) (code int, _ error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if w, ok := p.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return exitSignal + int(w.Signal()), nil
	}
	return p.ExitCode(), nil
}

// receipt prints the cost of a run.
func (s *serving) receipt(st serve.Stats) {
	switch {
	case s.quiet:
		return
	case s.json:
		_ = encodeJSON(s.err, st)
		return
	}
	line := func(text string) { fmt.Fprintln(s.err, s.errStyle.bold("compact")+": "+text) }
	would := ""
	if s.c.Observe {
		would = "no request was changed; with compaction: "
	}
	if st.Requests == 0 {
		line("no request arrived: the command made none, or it reads none of the variables that 'compactctl run --help' lists")
	}
	line(would + strings.Join([]string{things(st.Calls, "model call"), things(st.Compactions, "compaction"), things(st.Recalls, "recall")}, ", "))
	if st.Calls > st.Unbilled {
		line("prompts " + sentTokens(st) + money(st))
	}
	if st.Failures > 0 {
		line(things(st.Failures, "request") + " sent unchanged because of an error in compact")
	}
	if st.Unanswered > 0 {
		line(things(st.Unanswered, "request") + " without a complete answer")
	}
	if st.Unbilled > 0 {
		line("the provider billed nothing for " + things(st.Unbilled, "call") + ": it refused them, answered with an error, or could not be reached. The figures of tokens and money do not include them")
	}
	switch {
	case s.c.Observe, st.Compactions == 0:
	case s.inMemory:
		line("the removed text is lost: the archive was in memory (storage.adapter)")
	default:
		line("the removed text is in the archive: compactctl archive ls" + s.where)
	}
}

// sentTokens describes the tokens of a run.
func sentTokens(st serve.Stats) string {
	if st.Sent == st.History {
		return count(st.Sent) + " tokens, none removed"
	}
	return fmt.Sprintf("%s tokens instead of %s (%s)", count(st.Sent), count(st.History), relative(st.History, st.Sent))
}

// money describes the cost of a run, as far as prices are known.
func money(st serve.Stats) string {
	if st.Unpriced == st.Calls {
		return ""
	}
	text := ", about " + cents(st.With)
	if st.Sent != st.History || st.With != st.Without {
		text += " instead of " + cents(st.Without)
	}
	if st.Unpriced > 0 {
		text += ", without " + things(st.Unpriced, "call") + " of models whose price is not known"
	}
	return text
}

// cents formats dollars in cents, and less than a cent with four digits.
func cents(usd float64) string {
	if usd > 0 && usd < 0.01 {
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}
