package strategy

import (
	"fmt"
	"math"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/agentcompact/compact/internal/material"
	"github.com/agentcompact/compact/policy"
)

// ownTimeout is the time limit for the extractor of a caller's own strategy.
const ownTimeout = 10 * time.Second

const (
	maxOwnSections = 12
	maxOwnTitle    = 60     // characters
	maxOwnLines    = 20_000 // lines of one summary
)

var ownName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)

// An OwnError is the reason why a strategy of the caller is invalid.
type OwnError struct {
	Name   string
	Reason string
}

func (e *OwnError) Error() string { return fmt.Sprintf("strategy: %q %s", e.Name, e.Reason) }

// New prepares a strategy of the caller: it appends the common sections and guards the
// extractor. The stage fails if the extractor panics, does not return within 10 s, or
// returns an invalid line: a notice replaces the summary, and a warning reports the
// error. The error of New is an *[OwnError].
//
// The lines of an extractor go into the summary as far as they fit. They are redacted,
// but not verified: they must state only facts of the history.
func New(s Strategy) (Strategy, error) {
	wrong := func(reason string) (Strategy, error) { return Strategy{}, &OwnError{s.Name, reason} }
	switch {
	case !ownName.MatchString(s.Name):
		return wrong("is not a valid name: use one word of a-z, 0-9, _ and - that begins with a letter, at most 40 characters")
	case registered[s.Name].Name != "":
		return wrong("is the name of a built-in strategy")
	case len(s.Sections) == 0 || len(s.Sections) > maxOwnSections:
		return wrong(fmt.Sprintf("has %d sections; 1 to %d are allowed", len(s.Sections), maxOwnSections))
	case s.Extract == nil:
		return wrong("has no Extract, which writes the summary if no model does")
	case strings.TrimSpace(s.Instructions) == "":
		return wrong("has no Instructions for a summarizing model")
	}
	sections := slices.Concat(s.Sections, commonSections)
	for i, sec := range sections {
		switch {
		case headingKey(sec.Title) == "" || strings.ContainsAny(sec.Title, "\r\n#") || len([]rune(sec.Title)) > maxOwnTitle:
			return wrong(fmt.Sprintf("has a section %q with an invalid title: use one line with a letter, without #, of at most %d characters", sec.Title, maxOwnTitle))
		case !(sec.Share >= 0 && sec.Share <= 1):
			return wrong(fmt.Sprintf("has a section %q with a Share that is not 0 to 1", sec.Title))
		}
		for _, other := range sections[:i] {
			if headingKey(other.Title) == headingKey(sec.Title) {
				return wrong(fmt.Sprintf("has the section %q twice, or a section of this name is in every strategy", sec.Title))
			}
		}
	}
	extract, own := s.Extract, len(s.Sections)
	s.Sections, s.Examples = sections, slices.Clone(s.Examples)
	s.Extract = func(h *History) []Line { return guardedLines(s.Name, own, extract, h) }
	return s, nil
}

// guardedLines calls an extractor that may panic or never return. In these cases,
// guardedLines panics with a *policy.PanicError. If a line is invalid, it panics with an
// *OwnError. Both become errors of the stage.
func guardedLines(name string, sections int, extract func(h *History) []Line, h *History) []Line {
	type answer struct {
		lines []Line
		err   *policy.PanicError
	}
	failed := func(value any) *policy.PanicError {
		return &policy.PanicError{Stage: material.StageName, Value: fmt.Sprintf("strategy %s: %v", name, value), Stack: debug.Stack()}
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: failed("its extractor ended its goroutine")}
		defer func() {
			if r := recover(); r != nil {
				a = answer{err: failed(r)}
			}
			done <- a
		}()
		a = answer{lines: extract(h)}
	}()
	limit := time.NewTimer(ownTimeout)
	defer limit.Stop()
	select {
	case a := <-done:
		if a.err != nil {
			panic(a.err)
		}
		lines, wrong := soundLines(a.lines, sections)
		if wrong != "" {
			panic(&OwnError{name, "can't be used: " + wrong})
		}
		return lines
	case <-limit.C:
		panic(failed(fmt.Sprintf("its extractor did not return within %s", ownTimeout)))
	}
}

// soundLines returns the caller's lines in the form that a composer takes, or a
// description of the first invalid line.
func soundLines(lines []Line, sections int) (sound []Line, wrong string) {
	if len(lines) > maxOwnLines {
		return nil, fmt.Sprintf("its extractor returned %d lines, more than %d", len(lines), maxOwnLines)
	}
	for i, l := range lines {
		if l.Section < 0 || l.Section >= sections {
			return nil, fmt.Sprintf("its extractor returned a line %d of section %d; there are %d sections, from 0", i, l.Section, sections)
		}
		if math.IsNaN(l.Value) || math.IsInf(l.Value, 0) {
			return nil, fmt.Sprintf("its extractor returned a line %d with a Value that is not a number", i)
		}
		l.Text, l.Group = strings.Join(strings.Fields(l.Text), " "), strings.Join(strings.Fields(l.Group), " ")
		l.Names = slices.Clone(l.Names)
		if l.Text != "" {
			sound = append(sound, l)
		}
	}
	return sound, ""
}
