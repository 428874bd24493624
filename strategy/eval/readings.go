package eval

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/ident"
)

// ReadingLiteral is the name of the reading that the project's figures use.
const ReadingLiteral = "literal"

// readings lists alternative definitions: when a string is an identifier, and when a text
// names it.
var readings = []struct {
	name string
	open func() *reading
}{
	{ReadingLiteral, literal},
	{"kinds-apart", func() *reading { // a path also names its file
		return &reading{scan: matching(urls, paths, files, hex, tickets, numbers, camelCase, pascalCase, snakeCase)}
	}},
	{"any-extension", func() *reading { // x.name counts as a file name
		return &reading{scan: matching(strings.Join([]string{urls, paths, anyFiles, hex, tickets, numbers, camelCase, pascalCase, snakeCase}, "|"))}
	}},
	{"kinds-apart-any-extension", func() *reading {
		return &reading{scan: matching(urls, paths, anyFiles, hex, tickets, numbers, camelCase, pascalCase, snakeCase)}
	}},
	{"any-case", func() *reading {
		r := literal()
		r.fold = true
		return r
	}},
	{"inside-words", func() *reading { // a long path also names its end
		r := literal()
		r.inside = true
		return r
	}},
	{"summarizer", func() *reading { // the summarizer's definition
		return &reading{scan: func(text string, found func(string)) {
			ident.Scan(text, func(k ident.Kind, start, end int) {
				if k != ident.Version && k != ident.Code && k != ident.Email {
					found(text[start:end])
				}
			})
		}}
	}},
}

// anyFiles matches file names with any extension.
const anyFiles = `\b[\w-]+(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,5}\b`

// Readings returns the names of the definitions of an identifier, the literal
// one first.
func Readings() []string {
	out := make([]string, len(readings))
	for i, r := range readings {
		out[i] = r.name
	}
	return out
}

func readingOf(name string) (*reading, error) {
	if name == "" {
		name = ReadingLiteral
	}
	for _, r := range readings {
		if r.name == name {
			return r.open(), nil
		}
	}
	return nil, fmt.Errorf("eval: no reading %q: there are %s", name, strings.Join(Readings(), ", "))
}

// CutAs is [Cut] with a reading. The error lists the known readings.
func CutAs(name string, s Session, window int, count func(message.Message) int) (split Split, ok bool, err error) {
	r, err := readingOf(name)
	if err != nil {
		return Split{}, false, err
	}
	split, ok = r.cut(s, window, count)
	return split, ok, nil
}
