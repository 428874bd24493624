package configs

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	_ "github.com/agentcompact/compact/configs/all"
	"github.com/agentcompact/compact/configs/internal/driver"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy/openai"
)

// unlink takes the drivers away until the test ends.
func unlink(t *testing.T) {
	s3, age, otlp, model := driver.S3, driver.Age, driver.OTLP, driver.OpenAI
	t.Cleanup(func() { driver.S3, driver.Age, driver.OTLP, driver.OpenAI = s3, age, otlp, model })
	driver.S3, driver.Age, driver.OTLP, driver.OpenAI = nil, nil, nil, nil
}

// A setting that needs a package which the program does not link is a mistake that names
// the import.
func TestSettingsNameThePackageThatIsNotLinked(t *testing.T) {
	to := recipient(t)
	unlink(t)
	for text, want := range map[string]string{
		"storage: {adapter: s3, bucket: b-1}\n":                    "f.yaml:1: storage.adapter needs a package that this program does not link: import _ \"github.com/agentcompact/compact/configs/s3\", or _ ",
		"storage: {encrypt: {recipients: [" + to + "]}}\n":         "f.yaml:1: storage.encrypt needs a package that this program does not link: import _ \"github.com/agentcompact/compact/configs/age\", or _ ",
		"trace: {otlp_endpoint: \"http://h:1\"}\n":                 "f.yaml:1: trace.otlp_endpoint needs a package that this program does not link: import _ \"github.com/agentcompact/compact/configs/otlp\", or _ ",
		"trace: {otlp_metrics_endpoint: \"http://h:1\"}\n":         "f.yaml:1: trace.otlp_metrics_endpoint needs a package that this program does not link: import _ ",
		"summarizer: {model: m, base_url: \"http://h:1/v1\"}\n":    "summarizer.backend needs a package that this program does not link: import _ ",
		"summarizer: {backend: openai, model: gpt-4o-mini}\n":      "f.yaml:1: summarizer.backend needs a package that this program does not link: import _ \"github.com/agentcompact/compact/configs/openai\", or _ ",
		"storage: {adapter: s3, bucket: b-1, spool: /var/spool}\n": "f.yaml:1: storage.adapter needs a package that this program does not link",
	} {
		if got := mistakes(text); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%s:\n%q, want %q", text, got, want)
		}
	}
}

// A file with several such settings names all imports at once, that of an override too.
func TestAllMissingPackagesAreNamedAtOnce(t *testing.T) {
	to := recipient(t)
	unlink(t)
	got := mistakes("storage: {adapter: s3, bucket: b-1, encrypt: {recipients: [" + to + "]}}\n" +
		"trace: {otlp_endpoint: \"http://h:1\"}\noverrides: [{model: \"claude-*\", summarizer: {model: m, base_url: \"http://h:1/v1\"}}]\n")
	for _, pkg := range []string{"s3", "age", "otlp", "openai"} {
		if !strings.Contains(strings.Join(got, "\n"), `import _ "github.com/agentcompact/compact/configs/`+pkg+`"`) {
			t.Errorf("configs/%s is not named in %q", pkg, got)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d mistakes: %q", len(got), got)
	}
}

// What needs a package that is not linked fails, and says so; nothing is stored plainly.
func TestWithoutThePackageNothingIsOpened(t *testing.T) {
	keys, err := crypt.NewKeys([]string{recipient(t)}, "")
	if err != nil {
		t.Fatal(err)
	}
	sealed := memory.New()
	key, err := storage.ParseKey("s/file")
	if err == nil {
		err = crypt.New(sealed, keys).Create(t.Context(), key, storage.Redacted(redact.Text{}))
	}
	if err != nil {
		t.Fatal(err)
	}
	unlink(t)
	encrypt := compact.StorageConfig{Adapter: "fs", Path: t.TempDir()}
	encrypt.Encrypt.Recipients = []string{"age1"}
	for _, c := range []compact.StorageConfig{{Adapter: "s3", Bucket: "b-1"}, encrypt} {
		if a, err := openForAgents(t.Context(), c); err == nil || a != nil || !strings.Contains(err.Error(), "does not link") {
			t.Errorf("%s is opened for agents: %v", c.Adapter, err)
		}
	}
	for way, open := range map[string]func() error{
		"agents":  func() error { _, err := encrypted(t.Context(), compact.StorageConfig{}, sealed); return err },
		"readers": func() error { _, err := decrypted(t.Context(), compact.StorageConfig{}, sealed); return err },
	} {
		if err := open(); err == nil || !strings.Contains(err.Error(), "the archive is encrypted") {
			t.Errorf("%s open an encrypted archive: %v", way, err)
		}
	}
	if _, _, ok := SpoolOf(sealed); ok {
		t.Error("an archive in memory has a spool")
	}
}

// The names that configs repeats are those of the packages.
func TestNamesAreThoseOfThePackages(t *testing.T) {
	if openAI != openai.Name || identityVariable != crypt.IdentityVariable || identityFileVariable != crypt.IdentityFileVariable {
		t.Error("a name differs")
	}
}
