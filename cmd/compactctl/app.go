package main

import (
	"errors"
	"fmt"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/seal"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	_ "github.com/agentcompact/compact/configs/all"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/strategy"
)

// app holds the state that all subcommands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	style    style // style of out
	errStyle style
	progress *progress
	losses   losses
	redactor *redact.Redactor // redactor of the configuration of the opened archive
	keys     *seal.Ring

	// Flags that several subcommands share.
	json, quiet bool
	config      string
	flags       configFlags
	input       inputFlags

	ended      <-chan struct{} // closed when a signal ends the command; nil = never
	held       int             // size of the large input files, in bytes
	inputs     []string        // files that the command reads; see spares
	saidUnused bool            // the warnings of sayUnused were given
	unknown    error           // error for --help with an unknown command; nil = no such call
}

func newApp(in io.Reader, out, errOut io.Writer) *app {
	a := &app{in: in, out: out, err: errOut, style: styleFor(out), errStyle: styleFor(errOut)}
	a.progress = &progress{w: errOut, on: true, lines: !isTerminal(errOut)}
	return a
}

// configFlags holds the settings that have a flag of their own.
type configFlags struct {
	model, preset, strategy, archive string
	maxContext                       int
	set                              []string
}

// addConfig adds the flags of the configuration to a command.
func (a *app) addConfig(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&oneFileFlag{at: &a.config}, "config", "configuration `FILE` (YAML or JSON)")
	f.StringVar(&a.flags.model, "model", "", "`NAME` of the model that the messages are sent to")
	tokens(f, &a.flags.maxContext, "max-context-tokens", 0, "the model's window in tokens, `N` such as 200000 or 200k; 0: looked up by the model's name")
	f.StringVar(&a.flags.preset, "preset", "", "`NAME`: "+strings.Join(configs.Names(), ", "))
	f.StringVar(&a.flags.strategy, "strategy", "", "`NAME` of the summary strategy: "+strings.Join(strategy.Names(), ", "))
	f.StringArrayVar(&a.flags.set, "set", nil, "any other setting, `PATH=VALUE`, such as policy.keep_recent_turns=4 or policy.stages=mask,shrink; may be repeated")
	a.addArchive(cmd)
	complete(cmd, "preset", configs.Names())
	complete(cmd, "strategy", strategy.Names())
}

// complete offers the values of a flag to shells.
func complete(cmd *cobra.Command, flag string, values []string) {
	offer := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, offer); err != nil {
		panic(err) // the flag does not exist: a bug in this program
	}
}

func (a *app) addArchive(cmd *cobra.Command) {
	if cmd.Flags().Lookup("config") == nil {
		cmd.Flags().Var(&oneFileFlag{at: &a.config}, "config", "configuration `FILE` (YAML or JSON)")
	}
	cmd.Flags().StringVar(&a.flags.archive, "archive", "", "`DIR` of the archive, file:///DIR or s3://BUCKET/PREFIX (default .compact/archive)")
}

// load returns the configuration of flags, environment and file.
func (a *app) load(cmd *cobra.Command, opts ...configs.Option) (compact.Config, error) {
	given, err := a.given(cmd)
	if err != nil {
		return compact.Config{}, err
	}
	if a.config != "" {
		a.reads(a.config)
	}
	return configs.Load(a.config, append(opts, given...)...)
}

// given returns the options that the flags set.
func (a *app) given(cmd *cobra.Command) ([]configs.Option, error) {
	a.checkModel(a.flags.model)
	a.sayUnused(cmd)
	var opts []configs.Option
	for _, f := range []struct {
		flag, path string
		value      any
	}{
		{"model", "model", a.flags.model},
		{"max-context-tokens", "max_context_tokens", a.flags.maxContext},
		{"preset", "preset", a.flags.preset},
		{"strategy", "policy.strategy", a.flags.strategy},
	} {
		if cmd.Flags().Changed(f.flag) {
			opts = append(opts, configs.Override("--"+f.flag, f.path, f.value))
		}
	}
	if cmd.Flags().Changed("archive") {
		at, err := place(a.flags.archive)
		if err != nil {
			return nil, err
		}
		opts = append(opts, at...)
	}
	for _, s := range a.flags.set {
		path, value, err := setting(s)
		if err != nil {
			return nil, err
		}
		opts = append(opts, configs.Override("--set "+path, path, value))
	}
	return opts, nil
}

// sayUnused warns once about variables that are probably meant as settings. The command
// validate-config lists all variables without an effect.
func (a *app) sayUnused(cmd *cobra.Command) {
	if a.saidUnused {
		return
	}
	a.saidUnused = true
	for _, v := range configs.Unused(os.Environ()) {
		switch {
		case v.Meant == "" && cmd.Name() == "validate-config":
			a.complain("compactctl", fmt.Sprintf("warning: %s is not a setting, and has no effect", v.Name))
		case v.Meant == "", v.Meant == "--config" && a.config != "", v.Meant == "COMPACT_STORAGE_PATH" && a.flags.archive != "": // a script's own variable
		default:
			a.complain("compactctl", fmt.Sprintf("warning: %s is not a setting, and has no effect (did you mean %s?)", v.Name, v.Meant))
		}
	}
}

// place returns the options for the folder or the bucket that --archive names. They replace
// the archive of the configuration, of whatever kind it is. Data goes to a bucket directly,
// without a spool.
func place(where string) ([]configs.Option, error) {
	const flag = "--archive"
	if bucket, prefix, ok := s3.ParseURL(where); ok {
		return []configs.Option{
			configs.Override(flag, "storage.adapter", "s3"), configs.Override(flag, "storage.bucket", bucket),
			configs.Override(flag, "storage.prefix", prefix), configs.Override(flag, "storage.spool", ""),
		}, nil
	}
	if strings.HasPrefix(strings.ToLower(where), "s3:") {
		return nil, &usageError{fmt.Errorf("%s %q does not name a bucket: use s3://BUCKET/PREFIX", flag, where)}
	}
	if _, err := fs.Folder(where); errors.Is(err, fs.ErrURL) {
		return nil, &usageError{fmt.Errorf("%s %q is not supported: use a folder, file:// and an absolute path, or s3://BUCKET/PREFIX", flag, where)}
	}
	return []configs.Option{
		configs.Override(flag, "storage.adapter", "fs"), configs.Override(flag, "storage.path", where), configs.Override(flag, "storage.spool", ""),
	}, nil
}

// setting splits PATH=VALUE.
func setting(s string) (path, value string, err error) {
	path, value, ok := strings.Cut(s, "=")
	if !ok || path == "" {
		return "", "", &usageError{fmt.Errorf("--set %q is not PATH=VALUE", s)}
	}
	return path, value, nil
}

// say writes a line, unless the command is quiet.
func (a *app) say(format string, args ...any) error {
	if a.quiet {
		return nil
	}
	_, err := fmt.Fprintf(a.out, format+"\n", args...)
	return err
}

// columns returns the maximum width of the output.
func (a *app) columns() int {
	if f, ok := a.out.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w >= minColumns {
			return w
		}
	}
	if w, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && w >= minColumns {
		return w
	}
	return defaultColumns
}

const (
	minColumns     = 60
	defaultColumns = 80
)

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
