package configs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
)

// storeSettings holds the settings of a store, one of each type.
type storeSettings struct {
	URL     string         `mapstructure:"url" validate:"required" doc:"The server."`
	Rows    int            `mapstructure:"rows" validate:"gt=0" doc:"How many rows there are."`
	Share   float64        `mapstructure:"share" doc:"A share."`
	Dry     bool           `mapstructure:"dry" doc:"Whether it is dry."`
	Timeout time.Duration  `mapstructure:"timeout" doc:"For one call."`
	Zones   []string       `mapstructure:"zones" doc:"Where, the nearest first, and a text that is so long that it does not stand in one line of a file."`
	Token   compact.Secret `mapstructure:"token" doc:"The server's."`
}

var shelfDefaults = storeSettings{URL: "http://shelf", Rows: 3, Share: 0.5, Timeout: time.Minute, Zones: []string{"a", "b"}}

// register registers components for one test.
func register(t *testing.T, opened *storeSettings) {
	t.Helper()
	before := registered()
	t.Cleanup(func() {
		registry.Lock()
		defer registry.Unlock()
		registry.sections, registry.schema = before, nil
	})
	if _, known := schema().byPath["storage.shelf.url"]; known { // a schema that was read before
		t.Fatal("the store is registered already")
	}
	Register("shelf", Component[storeSettings]{
		Defaults: shelfDefaults,
		Check: func(s storeSettings) error {
			if len(s.Token) == 0 {
				return errors.New("it needs a token")
			}
			if strings.HasPrefix(s.URL, "ftp:") {
				return &compact.ConfigError{Path: "url", Value: s.URL, Reason: "must not be an FTP server"}
			}
			return nil
		},
		Open: func(_ context.Context, s storeSettings) (storage.Archive, error) {
			*opened = s
			return memory.New(), nil
		},
	})
	type siren struct {
		Trigger float64 `mapstructure:"trigger_pct" doc:"A name that a setting of policy has, too."`
		Loud    bool    `mapstructure:"loud" doc:"Whether it is on."`
	}
	Register("siren", Component[siren]{Export: func(s siren) (trace.Exporter, error) {
		if !s.Loud {
			return nil, nil
		}
		return silentExporter{}, nil
	}})
}

type silentExporter struct{}

func (silentExporter) Export(context.Context, []trace.Event) error { return nil }
func (silentExporter) Shutdown(context.Context) error              { return nil }

const token = "COMPACT_STORAGE_SHELF_TOKEN=a-token-of-the-shelf"

func TestARegisteredStoreIsLoadedAndOpened(t *testing.T) {
	var got storeSettings
	register(t, &got)
	c, err := Parse("f.yaml", []byte(`
model: gpt-4
storage: {adapter: shelf, shelf: {url: "http://other", share: 1, timeout: 5s, zones: []}}
trace: {siren: {loud: true}}
`), Environ([]string{token, "COMPACT_STORAGE_SHELF_ROWS=7", "COMPACT_TRIGGER_PCT=0.9", "COMPACT_ARCHIVE_KEY=" + strings.Repeat("ab", 32)}), Override("--dry", "storage.shelf.dry", true))
	if err != nil {
		t.Fatal(err)
	}
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	want := storeSettings{URL: "http://other", Rows: 7, Share: 1, Dry: true, Timeout: 5 * time.Second, Token: compact.Secret("a-token-of-the-shelf")}
	if fmt.Sprintf("%#v %s", got, string(got.Token)) != fmt.Sprintf("%#v %s", want, string(want.Token)) {
		t.Errorf("opened with %+v, want %+v", got, want)
	}
	if len(c.Exporters) != 1 || c.Policy.TriggerPct != 0.9 {
		t.Errorf("%d exporters, want one; a trigger of %v", len(c.Exporters), c.Policy.TriggerPct)
	}
	for what, open := range map[string]func(compact.StorageConfig) (storage.Archive, error){"OpenArchive": OpenArchive, "OpenArchiveReadOnly": OpenArchiveReadOnly} {
		got = storeSettings{}
		if _, err := open(c.Storage); err != nil || got.Rows != 7 {
			t.Errorf("%s: %v, with %+v", what, err, got)
		}
	}
	tried := Try(t.Context(), c, time.Second)
	if len(tried) != 1 || !tried[0].OK() || !tried[0].Stored() || tried[0].Where != "shelf" {
		t.Errorf("tried: %+v", tried)
	}
	if strings.Contains(fmt.Sprintf("%v %+v", c.Storage, c.Storage), "a-token") {
		t.Error("the configuration shows the secret")
	}
}

func TestARegisteredComponentThatIsNotUsedHasNoEffect(t *testing.T) {
	var got storeSettings
	register(t, &got)
	c, err := Parse("f.yaml", []byte("model: gpt-4\nstorage: {shelf: {rows: 9}}\n"), Environ(nil))
	if err != nil || c.Storage.Settings != nil || len(c.Exporters) > 0 || c.OpenArchive != nil {
		t.Errorf("%+v, %d exporters, %v", c.Storage.Settings, len(c.Exporters), err)
	}
}

func TestMistakesInRegisteredSections(t *testing.T) {
	var got storeSettings
	register(t, &got)
	for _, c := range []struct {
		file, want string
		environ    []string
	}{
		{"storage:\n  shelf: {row: 5}", `f.yaml:3: unknown key "storage.shelf.row" (did you mean storage.shelf.rows?)`, nil},
		{"storage:\n  shelv: {rows: 5}", `f.yaml:3: unknown key "storage.shelv" (did you mean storage.shelf?)`, nil},
		{"storage:\n  adapter: shelv", "f.yaml:3: storage.adapter must be one of fs, memory, s3, shelf (did you mean shelf?) (got \"shelv\")", nil},
		{"storage:\n  shelf: {rows: five}", "f.yaml:3: storage.shelf.rows must be a whole number (got \"five\")", nil},
		{"storage:\n  shelf: {rows: 1, rows: 2}", "f.yaml:3: storage.shelf.rows is given twice", nil},
		{"storage:\n  adapter: shelf\n  shelf: {rows: -5}", "f.yaml:4: storage.shelf.rows must be > 0 (got -5)", []string{token}},
		{"storage:\n  adapter: shelf\n  shelf: {url: 'ftp://x'}", "f.yaml:4: storage.shelf.url must not be an FTP server (got \"ftp://x\")", []string{token}},
		{"storage:\n  adapter: shelf", "f.yaml:3: storage.adapter can't be used: it needs a token", nil},
		{"storage:\n  shelf: {token: hunter2}", `f.yaml:3: unknown key "storage.shelf.token"; secrets are never in a configuration: set COMPACT_STORAGE_SHELF_TOKEN in the environment`, nil},
		{"", "COMPACT_STORAGE_SHELF_ROW is not a setting (did you mean COMPACT_STORAGE_SHELF_ROWS?)", []string{"COMPACT_STORAGE_SHELF_ROW=1"}},
		{"", "COMPACT_STORAGE_SHELF_ROWS: storage.shelf.rows must be a whole number (got \"x\")", []string{"COMPACT_STORAGE_SHELF_ROWS=x"}},
		{"overrides:\n  - {agent: a, storage: {shelf: {rows: 4}}}", "overrides[0].storage.shelf.rows ", nil},
		{"locked: [storage]\nstorage: {shelf: {rows: 4}}", "COMPACT_STORAGE_SHELF_ROWS: storage.shelf.rows is locked at 4 by f.yaml:2", []string{"COMPACT_STORAGE_SHELF_ROWS=5"}},
	} {
		_, err := Parse("f.yaml", []byte("model: gpt-4\n"+c.file+"\n"), Environ(c.environ))
		if err == nil || !strings.Contains(strings.Replace(err.Error(), "_ROW: is", "_ROW is", 1), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s %q:\n  got  %v\n  want %s", c.file, c.environ, err, c.want)
		}
	}
}

func TestRegisteredSectionsAreCommentedInTheFiles(t *testing.T) {
	var got storeSettings
	register(t, &got)
	for _, name := range Names() {
		file, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		const want = `
  # Used if storage.adapter is shelf.
  shelf:
    # The server.
    url: "http://shelf"
    # How many rows there are.
    rows: 3
    # A share.
    share: 0.5
    # Whether it is dry.
    dry: false
    # For one call.
    timeout: 1m
    # Where, the nearest first, and a text that is so long that it does not stand in one
    # line of a file.
    zones: ["a","b"]
    # COMPACT_STORAGE_SHELF_TOKEN in the environment: The server's.

# Where events go`
		if !strings.Contains(string(file), want) || !strings.Contains(string(file), "\n    # Whether it is on.\n    loud: false\n\n") {
			t.Errorf("%s:\n%s", name, file)
		}
		c, err := Parse(name, append(file, "\n# the end\n"...), Environ([]string{token}), Override("--model", "model", "gpt-4"), Override("--adapter", "storage.adapter", "shelf"))
		if s, ok := c.Storage.Settings.(storeSettings); err != nil || !ok || s.Rows != 3 || !slices.Equal(s.Zones, shelfDefaults.Zones) {
			t.Errorf("%s: %v, %+v", name, err, c.Storage.Settings)
		}
	}
}

func TestOriginsTellOfRegisteredSettings(t *testing.T) {
	var got storeSettings
	register(t, &got)
	l, c, err := parseWith("f.yaml", []byte("model: gpt-4\nstorage: {adapter: shelf, shelf: {rows: 9}}\n"), []Option{Environ([]string{token})})
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, o := range l.origins(&c) {
		told[o.Path] = fmt.Sprint(o.Value, " ", o)
	}
	if told["storage.shelf.rows"] != "9 f.yaml:2" || told["storage.shelf.timeout"] != "1m default" || told["storage.shelf.token"] != "" {
		t.Errorf("reported %q, %q, %q", told["storage.shelf.rows"], told["storage.shelf.timeout"], told["storage.shelf.token"])
	}
}

func TestRegisterPanicsForInvalidComponents(t *testing.T) {
	var got storeSettings
	register(t, &got)
	open := func(context.Context, storeSettings) (storage.Archive, error) { return memory.New(), nil }
	type named struct {
		A int `mapstructure:"a"`
	}
	type typed struct {
		A map[string]int `mapstructure:"a" doc:"A."`
	}
	for what, f := range map[string]func(){
		"taken":     func() { Register("shelf", Component[storeSettings]{Open: open}) },
		"built in":  func() { Register("s3", Component[storeSettings]{Open: open}) },
		"a section": func() { Register("object_lock", Component[storeSettings]{Open: open}) },
		"a setting": func() { Register("path", Component[storeSettings]{Open: open}) },
		"no name":   func() { Register("My Store", Component[storeSettings]{Open: open}) },
		"neither":   func() { Register("x", Component[storeSettings]{}) },
		"no doc": func() {
			Register("x", Component[named]{Open: func(context.Context, named) (storage.Archive, error) { return nil, nil }})
		},
		"no such type": func() {
			Register("x", Component[typed]{Open: func(context.Context, typed) (storage.Archive, error) { return nil, nil }})
		},
		"not a struct": func() {
			Register("x", Component[int]{Open: func(context.Context, int) (storage.Archive, error) { return nil, nil }})
		},
		"both of a kind": func() {
			Register("x", Component[storeSettings]{Open: open, Export: func(storeSettings) (trace.Exporter, error) { return nil, nil }})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the component was registered", what)
				}
			}()
			f()
		}()
	}
}

func TestRulesOfRegisteredSectionsHaveWords(t *testing.T) {
	before := registered()
	t.Cleanup(func() {
		registry.Lock()
		defer registry.Unlock()
		registry.sections, registry.schema = before, nil
	})
	type vault struct {
		URL   string         `mapstructure:"url" validate:"required" doc:"The server."`
		Name  string         `mapstructure:"name" validate:"omitempty,gte=3" doc:"A name."`
		Kind  string         `mapstructure:"kind" validate:"oneof=cold warm" doc:"A kind."`
		Share float64        `mapstructure:"share" validate:"gte=0,lte=1" doc:"A share."`
		Token compact.Secret `mapstructure:"token" validate:"required" doc:"The token."`
	}
	Register("vault", Component[vault]{
		Defaults: vault{URL: "http://vault", Kind: "cold"},
		Check: func(s vault) error {
			if s.URL == "x" {
				return &compact.ConfigError{Path: "url", Value: s.URL, Err: errors.New("needs a scheme")}
			}
			return nil
		},
		Open: func(context.Context, vault) (storage.Archive, error) { return memory.New(), nil },
	})
	token := []string{"COMPACT_STORAGE_VAULT_TOKEN=a-token"}
	for _, c := range []struct {
		section, want string
		environ       []string
	}{
		{`url: ""`, `f.yaml:4: storage.vault.url must not be empty (got "")`, token},
		{`url: x`, `f.yaml:4: storage.vault.url needs a scheme (got "x")`, token},
		{`share: 7`, `f.yaml:4: storage.vault.share must be 0.0-1.0 (got 7; 7 % is 0.07)`, token},
		{`kind: wram`, `f.yaml:4: storage.vault.kind must be one of cold, warm (did you mean warm?) (got "wram")`, token},
		{`name: ab`, `f.yaml:4: storage.vault.name breaks the rule gte=3 (got "ab")`, token},
		{`share: 0.5`, `storage.vault.token is missing: set COMPACT_STORAGE_VAULT_TOKEN in the environment`, nil},
	} {
		_, err := Parse("f.yaml", []byte("model: gpt-4\nstorage:\n  adapter: vault\n  vault: {"+c.section+"}\n"), Environ(c.environ))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n  got  %v\n  want %s", c.section, err, c.want)
		}
	}
}

// tried is an archive that can be tried, and closed.
type tried struct {
	*memory.Archive
	err    error
	closed *int
}

func (a *tried) Try(context.Context) error   { return a.err }
func (a *tried) Close(context.Context) error { *a.closed++; return nil }

// The trial of a registered store is its own method Try, if it has one.
func TestRegisteredStoreIsTried(t *testing.T) {
	before, closed := registered(), 0
	t.Cleanup(func() {
		registry.Lock()
		defer registry.Unlock()
		registry.sections, registry.schema = before, nil
	})
	type bin struct {
		Broken bool `mapstructure:"broken" doc:"Whether it takes nothing."`
	}
	Register("bin", Component[bin]{Open: func(_ context.Context, s bin) (storage.Archive, error) {
		a := &tried{Archive: memory.New(), closed: &closed}
		if s.Broken {
			a.err = errors.New("it takes nothing")
		}
		return a, nil
	}})
	for broken, want := range map[bool]string{false: "<nil>", true: "it takes nothing"} {
		got := Try(t.Context(), load(t, fmt.Sprintf("storage: {adapter: bin, bin: {broken: %v}}\n", broken), Environ(nil)), time.Minute)
		if len(got) != 1 || fmt.Sprint(got[0].Err) != want || got[0].OK() == broken || got[0].Where != "bin" {
			t.Errorf("broken %v: %+v", broken, got)
		}
	}
	if closed != 2 {
		t.Errorf("%d of 2 archives were closed", closed)
	}
}

// late is an archive whose first listing ends the context of its opening.
type late struct {
	tried
	end context.CancelFunc
}

func (a *late) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	a.end()
	return a.Archive.List(context.WithoutCancel(ctx), prefix)
}

// An archive that opened after its caller gave up is closed: nobody else has it.
func TestArchiveThatOpensTooLateIsClosed(t *testing.T) {
	before, closed := registered(), 0
	t.Cleanup(func() {
		registry.Lock()
		defer registry.Unlock()
		registry.sections, registry.schema = before, nil
	})
	ctx, end := context.WithCancel(t.Context())
	defer end()
	Register("well", Component[struct{}]{Open: func(context.Context, struct{}) (storage.Archive, error) {
		return &late{tried{Archive: memory.New(), closed: &closed}, end}, nil
	}})
	c := load(t, "storage: {adapter: well}\n", Environ(nil)).Storage
	if a, err := openForAgents(ctx, c); a != nil || !errors.Is(err, context.Canceled) || closed != 1 {
		t.Errorf("%v, %v, closed %d times", a, err, closed)
	}
}
