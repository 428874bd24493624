package configs

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3"
)

func TestBucketOfAFileBecomesItsArchive(t *testing.T) {
	c := load(t, `model: gpt-4
storage:
  adapter: s3
  bucket: compliance
  prefix: /team/agents/
  region: eu-central-1
  endpoint: https://minio.internal:9000
  path_style: true
  kms_key_id: alias/archive
  object_lock: {mode: governance, days: 365}
  timeout: 20s
  spool: /var/spool/compact
  spool_keep: 2h
`)
	want := c.Storage
	want.Bucket, want.Prefix, want.Region, want.Endpoint, want.PathStyle = "compliance", "/team/agents/", "eu-central-1", "https://minio.internal:9000", true
	want.KMSKeyID, want.ObjectLock.Mode, want.ObjectLock.Days, want.Timeout = "alias/archive", "governance", 365, 20*time.Second
	if diff := cmp.Diff(want, c.Storage); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if c.OpenArchive == nil || c.Storage.Spool != "/var/spool/compact" || spoolOptions(c.Storage, true).Keep != 2*time.Hour {
		t.Errorf("opens %t, spool %q, %s", c.OpenArchive != nil, c.Storage.Spool, spoolOptions(c.Storage, true).Keep)
	}
	env := load(t, "model: gpt-4\n", Environ([]string{
		"COMPACT_STORAGE_ADAPTER=s3", "COMPACT_STORAGE_BUCKET=b-1", "COMPACT_STORAGE_OBJECT_LOCK_MODE=compliance", "COMPACT_STORAGE_OBJECT_LOCK_DAYS=7",
	}))
	if spoolOptions(env.Storage, true).Keep != 24*time.Hour {
		t.Errorf("the default retention is %s", spoolOptions(env.Storage, true).Keep)
	}
	if got := env.Storage; got.Bucket != "b-1" || got.ObjectLock.Mode != "compliance" || got.ObjectLock.Days != 7 {
		t.Errorf("from the environment: %+v", got)
	}
}

func TestMistakeInABucket(t *testing.T) {
	const s3 = "storage: {adapter: s3, bucket: b-1, "
	for _, c := range []struct{ text, want string }{
		{"storage: {adapter: s3}", "storage.bucket must not be empty"},
		{"storage: {path: \"s3://bucket/prefix\"}", `f.yaml:1: storage.path is a folder, or file:// and an absolute path; a bucket is named by storage.adapter: s3, storage.bucket and storage.prefix, and no other URL is supported (got "s3://bucket/prefix")`},
		{"storage: {path: \"gs://bucket/prefix\"}", "f.yaml:1: storage.path is a folder, or file:// and an absolute path; "},
		{"storage: {path: ~/archive}", "f.yaml:1: storage.path begins with ~, which only a shell expands: "},
		{s3 + "spool: \"https://host/spool\"}", "f.yaml:1: storage.spool is a folder, or file:// and an absolute path; "},
		{"storage: {adapter: s4}", `f.yaml:1: storage.adapter must be one of fs, memory, s3 (did you mean s3?) (got "s4")`},
		{s3 + "prefix: a//b}", "f.yaml:1: storage.prefix must be names with single slashes between"},
		{s3 + "endpoint: \"https://me:hunter2@h\"}", "f.yaml:1: storage.endpoint must be a URL such as https://minio.internal:9000, without user and query"},
		{s3 + "object_lock: {days: 3}}", "f.yaml:1: storage.object_lock.days has no effect without storage.object_lock.mode"},
		{s3 + "object_lock: {mode: governance}}", "storage.object_lock.days must be 1-36500 with storage.object_lock.mode (got 0)"},
		{s3 + "object_lock: {mode: forever, days: 1}}", `f.yaml:1: storage.object_lock.mode must be one of governance, compliance (got "forever")`},
		{s3 + "timeout: 0s}", "f.yaml:1: storage.timeout must be > 0"},
		{"storage: {spool: /var/spool}", "f.yaml:1: storage.spool has no effect with storage.adapter fs"},
	} {
		got := mistakes(c.text)
		if len(got) != 1 || !strings.HasPrefix(got[0], c.want) || strings.Contains(got[0], "hunter2") {
			t.Errorf("%s:\n%q, want %q", c.text, got, c.want)
		}
	}
}

// An archive that can't be opened is an error of every way to open it.
func TestAnArchiveThatCannotBeOpenedIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]compact.StorageConfig{
		"a file": {Adapter: "fs", Path: file}, "no bucket": {Adapter: "s3"}, "an unknown adapter": {Adapter: "tape"}, "an unknown adapter with settings": {Adapter: "tape", Settings: 1},
	} {
		for way, open := range map[string]func(compact.StorageConfig) (storage.Archive, error){
			"read and write": OpenArchive, "read": OpenArchiveReadOnly, "agents": func(c compact.StorageConfig) (storage.Archive, error) { return openForAgents(t.Context(), c) },
		} {
			if a, err := open(c); err == nil || a != nil {
				t.Errorf("%s, %s: %v, %v", name, way, a, err)
			}
		}
	}
}

// A recipient that is none is an error before anything is written.
func TestAWrongRecipientOpensNoArchive(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	c := compact.StorageConfig{Adapter: "fs", Path: dir}
	c.Encrypt.Recipients = []string{recipient(t), "age1nonsense"}
	for way, open := range map[string]func(compact.StorageConfig) (storage.Archive, error){
		"readers": OpenArchive, "agents": func(c compact.StorageConfig) (storage.Archive, error) { return openForAgents(t.Context(), c) },
	} {
		var e *compact.ConfigError
		if a, err := open(c); a != nil || !errors.As(err, &e) || e.Path != "storage.encrypt.recipients[1]" {
			t.Errorf("%s: %v, %v", way, a, err)
		}
	}
}

// A mistake in several settings is reported where the highest layer gave one of them, and
// within a file at the last of them, whatever their order.
func TestTheLastOfSeveralSettingsIsBlamed(t *testing.T) {
	at := func(layer, line int) setting { return setting{layer: layer, line: line, source: "f"} }
	l := &loader{from: map[string]setting{"a": at(1, 5), "b": at(1, 3), "c": at(2, 1), "overrides[0]": at(1, 9)}}
	for _, c := range []struct {
		paths []string
		want  setting
	}{
		{[]string{"a", "b"}, at(1, 5)}, {[]string{"b", "a"}, at(1, 5)}, {[]string{"a", "c", "b"}, at(2, 1)}, {[]string{"x"}, setting{}}, {[]string{"x", "b"}, at(1, 3)},
		{[]string{"overrides[0].a"}, at(1, 9)}, {[]string{"overrides[0].a", "c"}, at(2, 1)}, {[]string{"overrides[0].a", "b"}, at(1, 9)},
	} {
		if got := l.blame(c.paths); got.layer != c.want.layer || got.line != c.want.line {
			t.Errorf("%q: line %d of layer %d, want %d of %d", c.paths, got.line, got.layer, c.want.line, c.want.layer)
		}
	}
}

// A file URL means the same as its path, in files, variables and flags.
func TestFileURLsNameFolders(t *testing.T) {
	c := load(t, "storage: {path: \"file:///var/lib/compact\"}\n")
	variable := load(t, "", Environ([]string{"COMPACT_STORAGE_PATH=file:///var/lib/compact"}))
	flag := load(t, "", Override("--archive", "storage.path", "file:///var/lib/compact"))
	spool := load(t, "storage: {adapter: s3, bucket: b-1, spool: \"file:///var/spool\"}\n")
	for _, got := range []string{c.Storage.Path, variable.Storage.Path, flag.Storage.Path} {
		if got != "/var/lib/compact" {
			t.Errorf("%q", got)
		}
	}
	if spool.Storage.Spool != "/var/spool" {
		t.Errorf("the spool is %q", spool.Storage.Spool)
	}
}

// A key can't be written in a file, a flag, a variable of this project, or in Go.
func TestNoCredentialCanBeConfigured(t *testing.T) {
	for _, name := range []string{"access_key", "access_key_id", "aws_access_key_id", "secret_key", "secret_access_key", "secret", "session_token", "token", "password", "credentials", "api_key"} {
		got := mistakes("storage: {adapter: s3, bucket: b-1, " + name + ": v4lue}")
		if len(got) != 1 || !strings.Contains(got[0], "secrets are never in a configuration") || strings.Contains(got[0], "v4lue") {
			t.Errorf("%s in a file: %q", name, got)
		}
		got = mistakes("storage: {adapter: s3, bucket: b-1}", Override("--set", "storage."+name, "v4lue"))
		if len(got) != 1 || strings.Contains(got[0], "v4lue") {
			t.Errorf("%s as a flag: %q", name, got)
		}
		variable := "COMPACT_STORAGE_" + strings.ToUpper(name)
		got = mistakes("storage: {adapter: s3, bucket: b-1}", Environ([]string{variable + "=v4lue"}))
		if len(got) != 1 || strings.Contains(got[0], "v4lue") {
			t.Errorf("%s as a variable: %q", name, got)
		}
	}
	for _, config := range []reflect.Type{reflect.TypeFor[compact.StorageConfig](), reflect.TypeFor[s3.Config]()} {
		for i := range config.NumField() {
			name := strings.ToLower(config.Field(i).Name)
			if name != "kmskeyid" && (strings.Contains(name, "key") || strings.Contains(name, "secret") || strings.Contains(name, "token") || strings.Contains(name, "credential")) {
				t.Errorf("%s has a field %s", config, config.Field(i).Name)
			}
		}
	}
}

// A server that refuses access is reported at once, an unreachable one only
// without a spool.
func TestManagerTriesTheBucketWhenItIsMade(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "any")
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer refusing.Close()
	away := httptest.NewServer(nil)
	away.Close()
	for _, c := range []struct {
		endpoint, spool string
		ok              bool
	}{{refusing.URL, "", false}, {refusing.URL, t.TempDir(), false}, {away.URL, "", false}, {away.URL, t.TempDir(), true}} {
		cfg := load(t, "model: gpt-4\nstorage: {adapter: s3, bucket: b-1, path_style: true, timeout: 300ms, endpoint: \""+c.endpoint+"\", spool: \""+c.spool+"\"}\n")
		m, err := compact.New(t.Context(), cfg)
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil {
			if err := m.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestProgramWithoutThePackageGetsAHint(t *testing.T) {
	c, err := compact.Preset("")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.Storage.Adapter, c.Storage.Bucket = "gpt-4", "s3", "b-1"
	if _, err := compact.New(t.Context(), c); err == nil || !strings.Contains(err.Error(), "configs.Load") {
		t.Errorf("got %v", err)
	}
}

func TestReadingDoesNotWriteTheArchive(t *testing.T) {
	dir := t.TempDir()
	a, err := OpenArchiveReadOnly(compact.StorageConfig{Adapter: "fs", Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Events(t.Context(), []redact.Text{redact.Lit("{}")}); err == nil {
		t.Error("an event was written")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("there is %v, %v", files, err)
	}
}

// A person waits at most 15 seconds for a read, and not longer than configured.
func TestReadsOfPeopleEndInTime(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{0: readTimeout, 3 * time.Second: 3 * time.Second, readTimeout: readTimeout, time.Hour: readTimeout} {
		if got := forPeople(compact.StorageConfig{Adapter: "s3", Timeout: given}); got.Timeout != want || got.Adapter != "s3" {
			t.Errorf("%s: %+v, want %s", given, got, want)
		}
	}
}
