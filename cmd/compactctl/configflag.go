package main

import (
	"fmt"

	"github.com/spf13/pflag"
)

// oneFileFlag is a flag for one file. A second file would replace the first unnoticed.
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
		return fmt.Errorf("there is another one, %s: one file is read, and it can extend others (extends:)", *f.at)
	}
	*f.at = s
	return nil
}
