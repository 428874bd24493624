package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/samples"
)

// modules returns the modules whose packages a package links, besides this one.
func modules(t *testing.T, pkgs ...string) map[string]bool {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"}, pkgs...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string]bool{}
	for m := range strings.FieldsSeq(string(out)) {
		all[m] = true
	}
	return all
}

// A program that loads a configuration links only the packages that it imports: the SDK of
// S3, OpenTelemetry, age and the client of OpenAI come with the packages below configs.
func TestProgramsLinkWhatTheyUse(t *testing.T) {
	const root = "./configs"
	for _, c := range []struct {
		pkg, brings string
		most        int // modules
	}{
		{"", "", 22},
		{"s3", "github.com/aws/aws-sdk-go-v2", 40},
		{"otlp", "go.opentelemetry.io/otel", 44},
		{"openai", "github.com/sashabaranov/go-openai", 23},
		{"age", "filippo.io/age", 24},
	} {
		all := modules(t, root, root+"/"+c.pkg)
		if n := len(all); n > c.most {
			t.Errorf("configs with %q links %d modules, at most %d are expected", c.pkg, n, c.most)
		}
		for _, heavy := range []string{"github.com/aws/aws-sdk-go-v2", "go.opentelemetry.io/otel", "google.golang.org/grpc", "github.com/sashabaranov/go-openai", "filippo.io/age", "modernc.org/sqlite", "github.com/modelcontextprotocol/go-sdk"} {
			with := heavy == c.brings || c.pkg == "otlp" && heavy == "google.golang.org/grpc"
			if all[heavy] != with {
				t.Errorf("configs with %q links %s: %t, want %t", c.pkg, heavy, all[heavy], with)
			}
		}
		t.Logf("configs %s: %d modules", c.pkg, len(all))
	}
}

// A program that loads a configuration is not larger than its expected size in MB.
func TestProgramsAreAsSmallAsTheirImports(t *testing.T) {
	if !samples.All() {
		t.Skip("it links two programs: COMPACT_SAMPLES=all")
	}
	for pkg, most := range map[string]int{"configs": 21, "configs/all": 46} {
		dir := t.TempDir()
		text := "package main\n\nimport (\n\t\"github.com/agentcompact/compact/configs\"\n\t_ \"github.com/agentcompact/compact/" + pkg + "\"\n)\n\nfunc main() { _, _ = configs.Load(\"compact.yaml\") }\n"
		file, out := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "build", "-o", out, file)
		cmd.Dir = "../.."
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		info, err := os.Stat(out)
		if err != nil {
			t.Fatal(err)
		}
		if mb := int(info.Size() >> 20); mb > most {
			t.Errorf("a program with %s has %d MB, at most %d are expected", pkg, mb, most)
		} else {
			t.Logf("a program with %s has %d MB", pkg, mb)
		}
	}
}
