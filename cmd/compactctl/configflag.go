package main

import (
	"fmt"

	"github.com/spf13/pflag"
)

// oneFileFlag is a flag for one file. Set refuses a second file, because it would
// silently replace the first.
type oneFileFlag struct{ at *string }

var _ pflag.Value = (*oneFileFlag)(nil)

func (f *oneFileFlag) String() string {
	if f.at == nil {
		return ""
	}
	return *f.at
}

func (f *oneFileFlag) Type() string { return "string" }

func (f *oneFileFlag) Set(s string) error {
	if *f.at != "" && *f.at != s {
		return fmt.Errorf("the flag names %s already: only one file is read, and it can extend others (extends:)", *f.at)
	}
	*f.at = s
	return nil
}
