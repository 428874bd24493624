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

// wrongFlag suggests an existing flag for an unknown one.
func wrongFlag(cmd *cobra.Command, err error) error {
	if strings.Contains(err.Error(), "missing unit in duration") {
		return fmt.Errorf("%w (a time has a unit: 3s, 500ms, 2m)", err)
	}
	var none *pflag.NotExistError
	if !errors.As(err, &none) || len(none.GetSpecifiedName()) < 2 { // a single letter is similar to every other
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

// nearestFlag returns the only flag that begins with a name, or otherwise the
// flag with a similar spelling; "" = none.
func nearestFlag(name string, known []string) string {
	begins := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return !strings.HasPrefix(k, name) })
	if len(begins) == 1 {
		return begins[0]
	}
	return words.Nearest(name, known)
}
