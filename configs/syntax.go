package configs

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A syntaxError reports text that is not YAML or JSON, with its line.
type syntaxError struct {
	line int // from 1; 0 = not known
	text string
	err  error
}

func (e *syntaxError) Error() string { return e.text }

func (e *syntaxError) Unwrap() error { return e.err }

// lineIn returns the line of a syntax error, or 0.
func lineIn(err error) int {
	var at *syntaxError
	if errors.As(err, &at) {
		return at.line
	}
	return 0
}

var yamlPrefix = regexp.MustCompile(`^yaml: (line \d+: )?`)

// notYAML returns the error for a text that the parser refused. The line in the
// parser's error is not used: it is often the line before, or the beginning of the
// section, and it is missing for the first line.
func notYAML(data []byte, err error) error {
	text := yamlPrefix.ReplaceAllString(err.Error(), "")
	return &syntaxError{badLine(data), text + spelling(text, data), err}
}

// mostParsed is the number of lines up to which [badLine] searches. Its time grows
// with their square.
const mostParsed = 2000

// badLine returns the line of the mistake in a text that is not YAML: the line after
// the longest valid beginning of the text. It returns 0 for a text that is too long.
func badLine(data []byte) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines) > mostParsed {
		return 0
	}
	end := len(data)
	for n := len(lines) - 1; n > 0; n-- {
		end -= len(lines[n])
		var doc yaml.Node
		err := yaml.NewDecoder(bytes.NewReader(data[:end])).Decode(&doc)
		if err == nil || errors.Is(err, io.EOF) {
			return n + 1
		}
	}
	return 1
}

// spelling returns the remedy for the mistakes of YAML that its parser explains least:
// tabs, indentation, colons in values, and paths of Windows in double quotes.
func spelling(text string, data []byte) string {
	switch {
	case strings.Contains(text, "cannot start any token") && bytes.ContainsRune(data, '\t'):
		return ": indent with spaces, not with tabs"
	case strings.Contains(text, "did not find expected key"):
		return ": check the indentation"
	case strings.Contains(text, "mapping values are not allowed"):
		return ": quote a value that has a colon and a space, and begin each name in a line of its own"
	case strings.Contains(text, "hexdecimal number"), strings.Contains(text, "unknown escape character"):
		return ": in double quotes a backslash begins an escape; use single quotes"
	}
	return ""
}
