package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// each calls f for every command that --help shows.
func each(cmd *cobra.Command, f func(c *cobra.Command)) {
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			f(c)
			each(c, f)
		}
	}
}

// The examples of every command name commands and flags that exist.
func TestEveryCommandHasExamplesThatParse(t *testing.T) {
	root := newRoot(&app{})
	each(root, func(c *cobra.Command) {
		if c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			_, args, ok := strings.Cut(line, "compactctl ")
			if !ok {
				continue
			}
			args, _, _ = strings.Cut(strings.TrimSpace(args), " > ")
			args, _, _ = strings.Cut(args, " -- ") // the rest belongs to another command
			of, rest, err := root.Find(strings.Fields(args))
			if err != nil {
				t.Errorf("%s: %q: %v", c.CommandPath(), line, err)
				continue
			}
			if of.CommandPath() == "compactctl archive export" {
				if _, err := exportFormat("", rest[len(rest)-1]); err != nil {
					t.Errorf("%q: %v", line, err)
				}
			}
			for _, arg := range rest {
				name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
				if strings.HasPrefix(arg, "--") && name != "" && lookup(of, name) == nil {
					t.Errorf("%s: %q: %s has no flag --%s", c.CommandPath(), strings.TrimSpace(line), of.CommandPath(), name)
				}
			}
		}
	})
}

func lookup(c *cobra.Command, name string) *pflag.Flag {
	if f := c.Flags().Lookup(name); f != nil {
		return f
	}
	return c.InheritedFlags().Lookup(name)
}
