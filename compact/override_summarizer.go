package compact

import (
	"reflect"
	"slices"
	"strings"
)

// serverSettings apply only to backend openai; promptSettings to backends openai
// and agent.
var (
	serverSettings = []string{"model", "base_url"}
	promptSettings = []string{"instructions", "sections", "prompt_file"}
)

// backend returns the value of summarizer.backend, "" if the override sets none.
func (o Override) backend() string {
	if v := reflect.ValueOf(o.Set["summarizer.backend"]); v.Kind() == reflect.String { // a value of any string type
		return v.String()
	}
	return ""
}

// summarizeWith sets the summarizer of an override. An override with a backend
// other than openai clears Config.Summarize, and every setting that the new backend
// does not use, except those that the override sets itself.
func (c *Config) summarizeWith(o Override) {
	if backend := o.backend(); backend != "" && backend != backendOpenAI {
		c.Summarize = nil
		useless := serverSettings
		if backend != backendAgent {
			useless = slices.Concat(serverSettings, promptSettings)
		}
		for _, name := range useless {
			if _, named := o.Set["summarizer."+name]; !named {
				fieldAt(c, "summarizer."+name).SetZero()
			}
		}
	}
	if o.Summarize != nil {
		c.Summarize = o.Summarize
	}
}

// fieldAt returns the field at a path; the zero Value if there is none.
func fieldAt(c *Config, path string) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for name := range strings.SplitSeq(path, ".") {
		v = fieldNamed(v, name)
		if !v.IsValid() {
			return v
		}
	}
	return v
}

func fieldNamed(section reflect.Value, name string) reflect.Value {
	if section.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	for i := range section.NumField() {
		if tag := section.Type().Field(i).Tag.Get("mapstructure"); tag == name && tag != "-" {
			return section.Field(i)
		}
	}
	return reflect.Value{}
}
