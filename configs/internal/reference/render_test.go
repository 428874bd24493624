package reference

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/agentcompact/compact/compact"
)

func TestEverySettingIsExplainedAndNothingElse(t *testing.T) {
	for _, name := range compact.Presets() {
		c, err := compact.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Render(c)
		if err != nil {
			t.Fatal(err)
		}
		var tree map[string]any
		if err := yaml.Unmarshal(text, &tree); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n := nodes(tree); n != len(comments) {
			t.Errorf("%s: %d settings and sections, %d comments", name, n, len(comments))
		}
		for line := range strings.Lines(string(text)) {
			if n := len([]rune(line)); n > width+1 {
				t.Errorf("%s: %d characters: %s", name, n, line)
			}
		}
		if heads[name] == "" {
			t.Errorf("%s has no head", name)
		}
	}
}

// A file must name the other possible values.
func TestFilesNameEveryChoice(t *testing.T) {
	choices := 0
	var look func(s reflect.Type, prefix string)
	look = func(s reflect.Type, prefix string) {
		for i := range s.NumField() {
			f := s.Field(i)
			path := prefix + f.Tag.Get("mapstructure")
			if f.Type.Kind() == reflect.Struct && f.Tag.Get("mapstructure") != "" {
				look(f.Type, path+".")
			}
			_, names, ok := strings.Cut(f.Tag.Get("validate"), "oneof=")
			if !ok {
				continue
			}
			names, _, _ = strings.Cut(names, ",")
			for name := range strings.FieldsSeq(names) {
				choices++
				if !strings.Contains(comments[path], name) {
					t.Errorf("the comment on %s does not name %s", path, name)
				}
			}
		}
	}
	look(reflect.TypeFor[compact.Config](), "")
	if choices == 0 {
		t.Error("no setting with a list of choices was found")
	}
}

func nodes(tree map[string]any) int {
	n := 0
	for _, v := range tree {
		n++
		if section, ok := v.(map[string]any); ok {
			n += nodes(section)
		}
	}
	return n
}

func TestValueSurvivesARoundTrip(t *testing.T) {
	for _, s := range []string{"", "plain", ".compact/archive", "/tmp", "yes", "null", "a: b", "a #b", "10", "1.5", "~", "*a", "\"q\"", "tab\t", "line\nbreak", "ä", "-"} {
		var got string
		if err := yaml.Unmarshal([]byte(value(reflect.ValueOf(s))), &got); err != nil || got != s {
			t.Errorf("%q is written as %s and read as %q, %v", s, value(reflect.ValueOf(s)), got, err)
		}
	}
	for v, want := range map[any]string{
		0.6: "0.60", 0.125: "0.125", 1.0: "1.00", 7: "7", true: "true", 90 * time.Second: "1m30s", time.Minute: "1m", time.Hour: "1h", 500 * time.Millisecond: "500ms",
	} {
		if got := value(reflect.ValueOf(v)); got != want {
			t.Errorf("%v is written as %s, want %s", v, got, want)
		}
	}
	if got := value(reflect.ValueOf([]string{"a", "b c"})); got != `[a, "b c"]` {
		t.Errorf("list: %s", got)
	}
}

func TestSettingWithoutCommentIsNamed(t *testing.T) {
	w := &writer{}
	w.section(reflect.ValueOf(struct {
		New int `mapstructure:"brand_new"`
	}{}), "policy.", "")
	if w.err == nil || !strings.Contains(w.err.Error(), "policy.brand_new") {
		t.Errorf("%v", w.err)
	}
}
