package reference

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/agentcompact/compact/compact"
)

// Mark is the line in docs/CONFIGURATION.md after which the page begins.
const Mark = "<!-- made by go generate ./configs -->\n"

// Page returns all settings as a Markdown page with one table per section: the
// value in the first preset, the values in other presets if they differ, and the
// meaning.
func Page() (string, error) {
	p := &page{}
	for _, name := range compact.Presets() {
		c, err := compact.Preset(name)
		if err != nil {
			return "", err
		}
		p.presets = append(p.presets, reflect.ValueOf(c))
	}
	p.section("", nil)
	return p.b.String(), nil
}

type page struct {
	b       strings.Builder
	presets []reflect.Value // of compact.Config
}

// section writes the settings of a struct, followed by the structs in it.
func (p *page) section(prefix string, index []int) {
	t := at(p.presets[0], index).Type()
	p.b.WriteString("| setting | default | |\n|---|---|---|\n")
	var inner []int
	for i := range t.NumField() {
		switch name := t.Field(i).Tag.Get("mapstructure"); {
		case name == "" || name == "-":
		case t.Field(i).Type.Kind() == reflect.Struct:
			inner = append(inner, i)
		default:
			p.setting(prefix+name, append(index[:len(index):len(index)], i))
		}
	}
	for _, i := range inner {
		path := prefix + t.Field(i).Tag.Get("mapstructure")
		fmt.Fprintf(&p.b, "\n## %s\n\n%s\n\n", path, cell(comments[path]))
		p.section(path+".", append(index[:len(index):len(index)], i))
	}
}

func (p *page) setting(path string, index []int) {
	usual := value(at(p.presets[0], index))
	fmt.Fprintf(&p.b, "| `%s` | `%s`", path, usual)
	for i, preset := range p.presets[1:] {
		if v := value(at(preset, index)); v != usual && path != "preset" {
			fmt.Fprintf(&p.b, "<br>`%s` in %s", v, compact.Presets()[i+1])
		}
	}
	fmt.Fprintf(&p.b, " | %s |\n", cell(comments[path]))
}

// at returns the field with an index. An empty index returns the struct itself.
func at(s reflect.Value, index []int) reflect.Value {
	if len(index) == 0 {
		return s
	}
	return s.FieldByIndex(index)
}

// cell escapes a comment for a table.
func cell(comment string) string {
	return strings.NewReplacer("\n", " ", "|", `\|`, "<", "&lt;", "*", `\*`).Replace(comment)
}
