// Package reference writes a configuration as a commented file for users to copy.
package reference

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/agentcompact/compact/compact"
)

const width = 90 // characters in a line of a comment

// Render returns the YAML file of a configuration: every setting in the order of
// the struct, with its value and its meaning. The error names a setting without a
// comment.
func Render(c compact.Config) ([]byte, error) {
	w := &writer{}
	w.comment("", heads[c.Preset])
	w.b.WriteByte('\n')
	w.section(reflect.ValueOf(c), "", "")
	w.b.WriteString("\n" + foot)
	return []byte(w.b.String()), w.err
}

type writer struct {
	b   strings.Builder
	err error
}

func (w *writer) section(s reflect.Value, prefix, indent string) {
	for i := range s.NumField() {
		name := s.Type().Field(i).Tag.Get("mapstructure")
		if name == "" || name == "-" {
			continue
		}
		v, path := s.Field(i), prefix+name
		text, ok := comments[path]
		if !ok && w.err == nil {
			w.err = fmt.Errorf("reference: no comment for %s", path)
		}
		if v.Kind() == reflect.Struct {
			w.b.WriteByte('\n')
			w.comment(indent, text)
			fmt.Fprintf(&w.b, "%s%s:\n", indent, name)
			w.section(v, path+".", indent+"  ")
			continue
		}
		w.comment(indent, text)
		fmt.Fprintf(&w.b, "%s%s: %s\n", indent, name, value(v))
	}
}

// comment writes a text as lines that begin with #, broken between words.
func (w *writer) comment(indent, text string) {
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := indent + "#"
		for word := range strings.FieldsSeq(paragraph) {
			if len(line)+1+len(word) > width {
				w.b.WriteString(line + "\n")
				line = indent + "#"
			}
			line += " " + word
		}
		w.b.WriteString(line + "\n")
	}
}

func value(v reflect.Value) string {
	switch v := v.Interface().(type) {
	case time.Duration:
		return short(v)
	case float64:
		return strconv.FormatFloat(v, 'f', max(2, decimals(v)), 64)
	}
	switch v.Kind() {
	case reflect.Slice:
		elems := make([]string, v.Len())
		for i := range elems {
			elems[i] = scalar(v.Index(i).String())
		}
		return "[" + strings.Join(elems, ", ") + "]"
	case reflect.String:
		return scalar(v.String())
	}
	return fmt.Sprint(v.Interface())
}

// short writes a minute as 1m, not as 1m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func decimals(f float64) int {
	_, after, _ := strings.Cut(strconv.FormatFloat(f, 'f', -1, 64), ".")
	return len(after)
}

// scalar quotes a text if YAML would read it as something else.
func scalar(s string) string {
	plain := s != "" && s[0] >= 'a' && s[0] <= 'z' || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "/")
	if plain && !strings.ContainsAny(s, ":#,[]{}\"'\\ \t\n") {
		switch s {
		case "true", "false", "null", "yes", "no", "on", "off":
		default:
			return s
		}
	}
	return strconv.Quote(s)
}
