package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
)

func newValidateConfig(a *app) *cobra.Command {
	var try tryFlags
	cmd := &cobra.Command{
		Use:        "validate-config [FILE]",
		SuggestFor: []string{"config", "check"},
		Short:      "Check a configuration, with environment and flags applied",
		Long: `Validate-config loads a configuration as every other command does. It reports all
mistakes at once, each with its place. If there are none, it shows where each value comes
from: a file with its line, a variable, a flag, an override or the preset. It needs no API
key of a summarizer.

With --try it also opens the components that the configuration names: the folder or bucket
with its key and lock, the spool, collectors and summarizers. It writes a small test object
and removes it again, and asks a summarizer for one word.`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if a.config != "" {
					return &usageError{fmt.Errorf("the file is named twice, %s and --config %s", args[0], a.config)}
				}
				a.config = args[0]
			}
			return a.validateConfig(cmd, try)
		},
	}
	a.addConfig(cmd)
	cmd.Flags().BoolVar(&try.on, "try", false, "also test the archive, collectors and summarizers of the configuration")
	cmd.Flags().DurationVar(&try.timeout, "timeout", 10*time.Second, "with --try: time limit of each test")
	return cmd
}

func (a *app) validateConfig(cmd *cobra.Command, try tryFlags) error {
	opts, err := a.given(cmd)
	if err != nil {
		return err
	}
	cfg, origins, err := configs.LoadWithOrigins(a.config, append(opts, configs.KeysOptional())...)
	v := verdictOf(cfg, origins, err)
	if err == nil && try.on {
		err = a.try(cmd.Context(), cfg, try, &v)
	}
	if a.json {
		return errors.Join(a.printJSON(v), err)
	}
	if v.Settings == nil || a.quiet {
		return err
	}
	return errors.Join(a.printVerdict(cfg, v.OK, a.config != "" && !slices.ContainsFunc(origins, ofFile)), a.printOrigins(origins), a.printProbes(v.Tried), err)
}

// verdict is the JSON output of validate-config.
type verdict struct {
	OK       bool      `json:"ok"`
	Preset   string    `json:"preset,omitempty"`
	Errors   []mistake `json:"errors,omitempty"`
	Settings []origin  `json:"settings,omitempty"`
	Tried    []probe   `json:"tried,omitempty"`
}

// origin is a setting and the source of its value.
type origin struct {
	Path   string `json:"path"`
	Value  any    `json:"value"`
	From   string `json:"from"` // default, preset, base, file, override, environment, flag
	Source string `json:"source,omitempty"`
	Line   int    `json:"line,omitempty"`
	Model  string `json:"model,omitempty"` // model of an override
	Agent  string `json:"agent,omitempty"`
	Locked string `json:"locked,omitempty"` // the file and line that lock it
}

type mistake struct {
	Source  string `json:"source,omitempty"`
	Line    int    `json:"line,omitempty"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

func verdictOf(cfg compact.Config, origins []configs.Origin, err error) verdict {
	v := verdict{OK: err == nil, Preset: cfg.Preset}
	for _, o := range origins {
		v.Settings = append(v.Settings, origin{o.Path, o.Value, string(o.From), o.Source, o.Line, o.Model, o.Agent, o.Locked})
	}
	for _, m := range configs.Mistakes(err) {
		v.Errors = append(v.Errors, mistake{m.Source, m.Line, m.Path, m.Error()})
	}
	return v
}

// ofFile reports whether a file gave or locked the value.
func ofFile(o configs.Origin) bool {
	return o.From == configs.FromFile || o.From == configs.FromBase || o.From == configs.FromOverride || o.Locked != ""
}

// printVerdict prints the main settings of a valid configuration. works reports that no
// test failed, and empty that the file sets nothing.
func (a *app) printVerdict(cfg compact.Config, works, empty bool) error {
	name := a.config
	if name == "" {
		name = "the configuration"
	}
	title := printable(name) + " is good"
	if empty {
		title = printable(name) + " is good, but it sets nothing"
	}
	if !works {
		title = printable(name) + " is valid, but some of its components do not work"
	}
	p := cfg.Policy
	archive := cfg.Storage.Path
	if cfg.Storage.Adapter != "fs" {
		archive = cfg.Storage.Adapter
	}
	redaction := "on"
	if !cfg.Redaction.Enabled {
		redaction = a.style.yellow("off: secrets will be stored")
	}
	_, err := fmt.Fprintf(a.out, `%s
preset      %s: %s
trigger     %.4g of the window, down to %.4g
summaries   %s by %s
archive     %s
redaction   %s
`, a.style.bold(title), cfg.Preset, strings.Join(p.Stages, ", "), p.TriggerPct, p.TargetPct, p.Strategy,
		by(cfg.Summarizer.Backend, cfg.Summarizer.Model), printable(archive), redaction)
	return err
}

// printOrigins prints the table of the sources of all values.
func (a *app) printOrigins(origins []configs.Origin) error {
	values, paths := make([]string, len(origins)), 0
	for i, o := range origins {
		values[i] = short(o.Value)
		paths = max(paths, len(o.Path))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", a.style.bold("where each value comes from"))
	for i, o := range origins {
		line := left(o.Path, paths) + "  " + left(values[i], valueColumns) + "  " + printable(o.String())
		if o.From == configs.FromOverride {
			line += ", override for " + callsOf(o)
		}
		if o.From == configs.FromDefault && o.Locked == "" {
			line = a.style.dim(line)
		}
		b.WriteString(line + "\n")
	}
	_, err := a.out.Write([]byte(b.String()))
	return err
}

// valueColumns is the maximum width of a value.
const valueColumns = 34

// short formats a value in at most valueColumns characters.
func short(v any) string {
	s := fmt.Sprint(v)
	switch v := v.(type) {
	case string:
		s = cmp.Or(v, `""`)
	case []string:
		s = "[" + strings.Join(v, ", ") + "]"
	}
	s = oneLine(s)
	if r := []rune(s); len(r) > valueColumns {
		s = string(r[:valueColumns-1]) + "…"
	}
	return s
}

// callsOf describes the calls that an override applies to.
func callsOf(o configs.Origin) string {
	var of []string
	if o.Model != "" {
		of = append(of, "model "+printable(o.Model))
	}
	if o.Agent != "" {
		of = append(of, "agent "+printable(o.Agent))
	}
	return strings.Join(of, ", ")
}
