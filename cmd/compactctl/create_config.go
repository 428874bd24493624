package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/configs"
)

func newCreateConfig(a *app) *cobra.Command {
	var preset, out string
	var force bool
	cmd := &cobra.Command{
		Use:        "create-config [FILE]",
		SuggestFor: []string{"config", "init"},
		Short:      "Write the commented configuration of a preset",
		Long: `Create-config writes every setting of a preset, with its default and its meaning, to
standard output or to FILE. A setting that you delete from the file keeps its default.`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := configs.Preset(preset)
			if err != nil {
				return &usageError{fmt.Errorf("unknown --preset %q: %s", preset, strings.Join(configs.Names(), ", "))}
			}
			if len(args) == 1 {
				if out != "" {
					return &usageError{fmt.Errorf("the output file is named twice, %s and --out %s", args[0], out)}
				}
				if out = args[0]; slices.Contains(configs.Names(), out) {
					return &usageError{fmt.Errorf("%s is a preset, and would be the name of the file; to choose the preset, use --preset %s", out, out)}
				}
			}
			if out == "" || out == "-" {
				_, err := a.out.Write(text)
				return err
			}
			if info, err := os.Stat(out); err == nil && info.IsDir() {
				return &usageError{fmt.Errorf("%s is a folder: name a file", out)}
			}
			if _, err := os.Lstat(out); !force && !errors.Is(err, fs.ErrNotExist) {
				return &usageError{fmt.Errorf("%s exists; --force overwrites it", out)}
			}
			if err := writeFile(out, text); err != nil || a.quiet {
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s holds the preset %s; use it with --config %s\n", printable(out), preset, printable(out))
			return err
		},
	}
	cmd.Flags().StringVar(&preset, "preset", configs.Names()[0], "`NAME`: "+strings.Join(configs.Names(), ", "))
	cmd.Flags().StringVar(&out, "out", "", "write to `FILE`, as the argument FILE does")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite the file")
	return cmd
}
