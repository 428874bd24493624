package configs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// withSections inserts the commented sections of components into the file of a
// preset, at the ends of storage and trace.
func withSections(file []byte, sections []*section) []byte {
	if len(sections) == 0 {
		return file
	}
	lines := strings.SplitAfter(string(file), "\n")
	for _, s := range sections {
		parent, _, _ := strings.Cut(s.path, ".")
		lines = slices.Insert(lines, endOf(lines, parent), s.commented())
	}
	return []byte(strings.Join(lines, ""))
}

// endOf returns the index after the last line of a top-level section.
func endOf(lines []string, name string) int {
	end := slices.Index(lines, name+":\n") + 1
	for i := end; i < len(lines); i++ {
		text := strings.TrimRight(lines[i], "\n")
		if text != "" && text[0] != ' ' {
			break
		}
		if text != "" {
			end = i + 1
		}
	}
	return end
}

// commented returns the section as text for a file, with the defaults.
func (s *section) commented() string {
	var b bytes.Buffer
	b.WriteByte('\n')
	if s.open != nil {
		fmt.Fprintf(&b, "  # Used if storage.adapter is %s.\n", s.name)
	}
	fmt.Fprintf(&b, "  %s:\n", s.name)
	for _, f := range s.fields {
		comment(&b, s.docs[f.path])
		fmt.Fprintf(&b, "    %s: %s\n", f.leaf(), written(normal(s.defaults.FieldByIndex(f.index).Interface())))
	}
	for _, secret := range s.secrets {
		comment(&b, secret.variable()+" in the environment: "+s.docs[secret.path])
	}
	return b.String()
}

// commentWidth is the line width of the presets' files.
const commentWidth = 90

// comment writes the comment of a setting as lines.
func comment(b *bytes.Buffer, text string) {
	const start = "    #"
	line := start
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > commentWidth {
			b.WriteString(line + "\n")
			line = start
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// written returns a value as text for a file. JSON is valid YAML, except for
// durations.
func written(v any) string {
	if d, ok := v.(time.Duration); ok {
		return unit.Replace(d.String() + " ")
	}
	data, err := json.Marshal(v)
	if list, ok := v.([]string); err != nil || ok && len(list) == 0 { // nil would be null
		return "[]"
	}
	return string(data)
}
