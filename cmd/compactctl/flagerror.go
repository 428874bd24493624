package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	words "github.com/agentcompact/compact/internal/setting"
)

// wrongFlag adds a hint to an error of a flag: the unit of a time, or an existing
// flag in place of an unknown one.
func wrongFlag(cmd *cobra.Command, err error) error {
	if strings.Contains(err.Error(), "missing unit in duration") {
		return fmt.Errorf("%w (a time has a unit: 3s, 500ms, 2m)", err)
	}
	var none *pflag.NotExistError
	if !errors.As(err, &none) {
		return err
	}
	for _, meant := range otherNames[none.GetSpecifiedName()] {
		if cmd.Flags().Lookup(meant) != nil {
			return fmt.Errorf("%w (did you mean --%s?)", err, meant)
		}
	}
	if len(none.GetSpecifiedName()) < 2 { // a single letter is similar to every other
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if meant := nearestFlag(none.GetSpecifiedName(), known); meant != "" {
		return fmt.Errorf("%w (did you mean --%s?)", err, meant)
	}
	return err
}

// otherNames are the names that other programs and commands use for the same flags. The first flag
// that the command has is suggested.
var otherNames = map[string][]string{
	"max-tokens": windowFlags, "window": windowFlags, "context": windowFlags, "context-window": windowFlags, "max-context-tokens": windowFlags,
	"o": {"out"}, "output": {"out"}, "c": {"config"}, "f": {"config"}, "config-file": {"config"}, "m": {"model"}, "v": {"verbose"},
	"port": {"listen"}, "p": {"listen"}, "host": {"listen"}, "addr": {"listen"}, "address": {"listen"}, "bind": {"listen"},
	"dir": {"archive"}, "path": {"archive"}, "storage": {"archive"}, "store": {"archive"}, "base-url": {"upstream"}, "target": {"upstream"},
}

// windowFlags are the flags for the window of a model.
var windowFlags = []string{"max-context-tokens", "window"}

// nearestFlag returns the only flag that begins with a name, or otherwise the
// flag with a similar spelling; "" = none.
func nearestFlag(name string, known []string) string {
	begins := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !strings.HasPrefix(k, name) })
	if len(begins) == 1 {
		return begins[0]
	}
	return words.Nearest(name, known)
}
