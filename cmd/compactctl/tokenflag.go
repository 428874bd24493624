package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// tokenCount parses a number of tokens in the usual notations: 32000, 32_000,
// 32k, 1m.
func tokenCount(s string) (int, error) {
	digits, unit := strings.ReplaceAll(s, "_", ""), 1
	switch {
	case strings.HasSuffix(strings.ToLower(digits), "k"):
		digits, unit = digits[:len(digits)-1], 1_000
	case strings.HasSuffix(strings.ToLower(digits), "m"):
		digits, unit = digits[:len(digits)-1], 1_000_000
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || n*float64(unit) != float64(int(n*float64(unit))) || strings.ContainsAny(digits, "eExXpPnN") {
		return 0, errors.New("not a number of tokens: 32000, 32k or 1m")
	}
	return int(n * float64(unit)), nil
}

// tokenFlag is a flag for one or several numbers of tokens.
type tokenFlag struct {
	one     *int
	several *[]int
	given   bool
}

var _ pflag.Value = (*tokenFlag)(nil)

func (f *tokenFlag) String() string {
	switch {
	case f.one != nil && *f.one != 0:
		return strconv.Itoa(*f.one)
	case f.several != nil && len(*f.several) > 0:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(*f.several), " ", ","), "[]")
	}
	return "" // no default is shown
}

func (f *tokenFlag) Type() string { return "tokens" }

func (f *tokenFlag) Set(s string) error {
	if f.one != nil {
		n, err := tokenCount(s)
		*f.one = n
		return err
	}
	if !f.given { // replaces the default
		*f.several, f.given = nil, true
	}
	for one := range strings.SplitSeq(s, ",") {
		n, err := tokenCount(one)
		if err != nil {
			return err
		}
		*f.several = append(*f.several, n)
	}
	return nil
}

// tokens adds a flag for a number of tokens with the default value.
func tokens(f *pflag.FlagSet, p *int, name string, value int, usage string) {
	*p = value
	f.Var(&tokenFlag{one: p}, name, usage)
}

// tokenList adds a flag for numbers of tokens with the default value.
func tokenList(f *pflag.FlagSet, p *[]int, name string, value []int, usage string) {
	*p = value
	f.Var(&tokenFlag{several: p}, name, usage)
}
