package main

import (
	"io"
	"os"
)

// style writes colors, if it is on.
type style struct{ on bool }

// styleFor returns a style with colors on a terminal, unless NO_COLOR is set or
// TERM is dumb.
func styleFor(w io.Writer) style {
	return style{isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string   { return s.paint("1", t) }
func (s style) dim(t string) string    { return s.paint("2", t) }
func (s style) red(t string) string    { return s.paint("31", t) }
func (s style) green(t string) string  { return s.paint("32", t) }
func (s style) yellow(t string) string { return s.paint("33", t) }
func (s style) cyan(t string) string   { return s.paint("36", t) }
