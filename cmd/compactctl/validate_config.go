package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
)

func newValidateConfig(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate-config [FILE]",
		Short: "Check a configuration, with environment and flags over it",
		Long: `Validate-config loads a configuration as every other command does, and reports all
its mistakes at once, each with its place. No key of a summariser is needed.`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if a.config != "" {
					return &usageError{fmt.Errorf("the file is named twice, %s and --config %s", args[0], a.config)}
				}
				a.config = args[0]
			}
			cfg, err := a.load(cmd, configs.KeysOptional())
			if a.json {
				if err := a.printJSON(verdictOf(cfg, err)); err != nil {
					return err
				}
			}
			if err != nil || a.json || a.quiet {
				return err
			}
			return a.printVerdict(cfg)
		},
	}
	a.addConfig(cmd)
	return cmd
}

// verdict is what validate-config says to programs.
type verdict struct {
	OK     bool      `json:"ok"`
	Preset string    `json:"preset,omitempty"`
	Errors []mistake `json:"errors,omitempty"`
}

type mistake struct {
	Source  string `json:"source,omitempty"`
	Line    int    `json:"line,omitempty"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

func verdictOf(cfg compact.Config, err error) verdict {
	v := verdict{OK: err == nil, Preset: cfg.Preset}
	for _, m := range configs.Mistakes(err) {
		v.Errors = append(v.Errors, mistake{m.Source, m.Line, m.Path, m.Error()})
	}
	return v
}

// printVerdict shows what matters most of a good configuration.
func (a *app) printVerdict(cfg compact.Config) error {
	name := a.config
	if name == "" {
		name = "the configuration"
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
`, a.style.bold(printable(name)+" is good"), cfg.Preset, strings.Join(p.Stages, ", "), p.TriggerPct, p.TargetPct, p.Strategy,
		by(cfg.Summarizer.Backend, cfg.Summarizer.Model), printable(archive), redaction)
	return err
}
