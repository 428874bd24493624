package configs

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs/internal/reference"
)

var update = flag.Bool("update", false, "write the files of the presets")

// sameConfig compares every setting. Other fields of a Config can't be in a file.
var sameConfig = cmp.Options{
	cmpopts.IgnoreUnexported(compact.Config{}),
	cmpopts.IgnoreFields(compact.Config{}, "Archive", "Summarize", "Redactor", "Exporters", "Counter", "Now"),
}

func TestFileOfEachPresetStatesEveryDefault(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			want, err := compact.Preset(name)
			if err != nil {
				t.Fatal(err)
			}
			text, err := reference.Render(want)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(name+".yaml", text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			file, err := os.ReadFile(name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(text), string(file)); diff != "" {
				t.Fatalf("%s.yaml differs from compact.Preset; go test ./configs -run Preset -update\n%s", name, diff)
			}
			got, err := Parse(name+".yaml", file, Environ(nil))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, sameConfig); diff != "" {
				t.Errorf("%s.yaml loads as another configuration (-preset +file):\n%s", name, diff)
			}
			var r report
			if f := readFile(name, file, &r); len(f.given) != len(schema().fields) || len(r.all) > 0 {
				t.Errorf("the file states %d of %d settings; mistakes: %v", len(f.given), len(schema().fields), r.err(nil))
			}
		})
	}
}

func TestEmbeddedPresetEqualsTheFile(t *testing.T) {
	for _, name := range append(Names(), "") {
		got, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "" {
			name = "graduated"
		}
		file, err := os.ReadFile(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if !*update && !bytes.Equal(got, file) {
			t.Errorf("%s: embedded and on disk differ", name)
		}
	}
}

func TestUnknownPresetIsNamed(t *testing.T) {
	if _, err := Preset("gradual"); err == nil || !strings.Contains(err.Error(), "gradual") {
		t.Errorf("Preset(gradual): %v", err)
	}
}
