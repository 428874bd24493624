package configs

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy/tidy"
)

// free are the settings that accept any value of their type.
var free = []string{
	"model", "observe", "policy.background", "mask.exclude_tools", "mask.media", "mask.plain", "tidy.exclude_tools", "summarizer.seed",
	"redaction.enabled", "redaction.strict", "redaction.pii", "redaction.summarizer",
	"storage.region", "storage.path_style", "storage.access_log", "storage.kms_key_id",
	"trace.console", "trace.per_session", "trace.otlp_service", "trace.content", "prices.model",
}

// special are wrong values of settings whose rule is not a tag.
var special = map[string][]any{
	"preset":                  {"gradual", "Graduated"},
	"policy.strategy":         {"task-state", "TASK_STATE"},
	"mask.template":           {"{chrs} characters", "two\nlines", " ", "{ chars }", "{kept}"},
	"mask.dispatch_tools":     {[]string{""}, []string{"task", "a["}, []string{" task"}},
	"redaction.patterns":      {[]string{"ok", "(x"}},
	"redaction.pseudonyms":    {true},
	"summarizer.model":        {"gpt-4o-mini"}, // with the backend extractive: New sets this backend, and a struct cannot leave it out afterwards
	"summarizer.instructions": {"Write in German."},
	"summarizer.sections":     {[]string{"Ticket"}, []string{"Ticket", "##"}},
	"summarizer.prompt_file":  {"there-is-none.txt", "."},
	"storage.prefix":          {"a//b", "../x"},
	"storage.endpoint":        {"minio:9000", "https://me:secret@h"},
	"storage.bucket":          {"Not A Bucket"},
	"storage.spool":           {"/var/spool"},

	"storage.encrypt.recipients":      {[]string{"age1nonsense"}, []string{"AGE-SECRET-KEY-1"}},
	"storage.encrypt.recipients_file": {"there-is-none.txt"},
}

// wrongValues returns values that break each rule of a field once.
func wrongValues(f field, t reflect.Type) []any {
	all := slices.Clone(special[f.path])
	rules, of, dive := strings.Cut(spelledOut(f.rules), "dive,")
	if dive {
		for _, v := range broken(of, kindString) {
			all = append(all, []string{v.(string)}, []string{firstOf(of), v.(string)})
		}
	}
	return append(all, broken(rules, f.kind)...)
}

// spelledOut replaces names of rules by the rules.
func spelledOut(rules string) string {
	all := strings.Split(rules, ",")
	for i, rule := range all {
		switch rule {
		case "stage":
			all[i] = "oneof=" + strings.Join(compact.StageNames(), " ")
		case "reducer":
			all[i] = "oneof=" + strings.Join(tidy.Names(), " ")
		}
	}
	return strings.Join(all, ",")
}

func firstOf(rules string) string {
	_, names, _ := strings.Cut(rules, "oneof=")
	return strings.Fields(names)[0]
}

func broken(rules string, k kind) []any {
	var all []any
	for rule := range strings.SplitSeq(rules, ",") {
		name, param, _ := strings.Cut(rule, "=")
		switch name {
		case "oneof":
			first := strings.Fields(param)[0]
			all = append(all, strings.ToUpper(first[:1])+first[1:], first+"x", "quux")
		case "required", "required_if":
			if k == kindList {
				all = append(all, []string{})
			} else {
				all = append(all, "")
			}
		case "http_url":
			all = append(all, "localhost", "localhost:4318", "grpc://h:1", "http://")
		case "gt", "lt":
			all = append(all, numbers(param, 0, k)...)
		case "gte":
			all = append(all, numbers(param, -1, k)...)
		case "lte":
			all = append(all, numbers(param, 1, k)...)
		}
	}
	return all
}

// numbers returns n+step and values beyond.
func numbers(param string, step int, k kind) []any {
	n, err := strconv.Atoi(param)
	if err != nil {
		panic(err)
	}
	switch k {
	case kindFloat:
		return []any{float64(n + step), math.NaN(), math.Inf(1)}
	case kindDuration:
		return []any{time.Duration(n+step) * time.Second}
	}
	return []any{n + step}
}

// fileWith returns the text of a file with the value.
func fileWith(t *testing.T, bucket bool, path string, value any) string {
	t.Helper()
	settings := []setting{{path: path, value: value}}
	if d, ok := value.(time.Duration); ok {
		settings[0].value = d.String()
	}
	if bucket {
		settings = slices.Insert(settings, 0, setting{path: "storage.adapter", value: "s3"}, setting{path: "storage.bucket", value: "b-1"})
	}
	if path == "summarizer.model" || path == "summarizer.base_url" { // in a file, each of them alone selects the backend
		settings = append(settings, setting{path: "summarizer.backend", value: "extractive"})
	}
	text, err := yaml.Marshal(nested(settings))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inGo returns the error of compact.New for the same value.
func inGo(t *testing.T, bucket bool, f field, value any) []string {
	t.Helper()
	c := load(t, "")
	if bucket {
		c = load(t, "storage: {adapter: s3, bucket: b-1}\n")
	}
	v := f.valueIn(reflect.ValueOf(&c).Elem())
	switch list, ok := value.([]string); {
	case ok:
		v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
		for i, e := range list {
			v.Index(i).SetString(e)
		}
	default:
		v.Set(reflect.ValueOf(value).Convert(v.Type()))
	}
	m, err := compact.New(t.Context(), c)
	if m != nil {
		t.Errorf("%s: compact.New accepts %v", f.path, value)
		_ = m.Close(t.Context())
	}
	return sayings(err)
}

func sayings(err error) []string {
	if e, ok := err.(*compact.ConfigError); ok {
		return []string{e.Error()}
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []string
		for _, e := range joined.Unwrap() {
			all = append(all, sayings(e)...)
		}
		return all
	}
	if next := errors.Unwrap(err); next != nil {
		return sayings(next)
	}
	return nil
}

// Go code is refused for the same mistakes as a file, in the same words.
func TestGoAndYAMLRefuseTheSameSettings(t *testing.T) {
	root := reflect.TypeFor[compact.Config]()
	tried := 0
	for _, f := range schema().fields {
		values := wrongValues(f, root.FieldByIndex(f.index).Type)
		if len(values) == 0 != slices.Contains(free, f.path) {
			t.Errorf("%s: %d wrong values, which contradicts the list free", f.path, len(values))
		}
		for _, value := range values {
			tried++
			bucket := strings.HasPrefix(f.path, "storage.") && f.path != "storage.spool" && f.path != "storage.path" && f.path != "storage.adapter"
			text := fileWith(t, bucket, f.path, value)
			var file []string
			for _, m := range mistakes(text) {
				_, m, _ = strings.Cut(m, ": ")
				file = append(file, m)
			}
			got := inGo(t, bucket, f, value)
			if diff := cmp.Diff(got, file); diff != "" || len(got) == 0 || !strings.HasPrefix(got[0], f.path) {
				t.Errorf("%s = %v: -Go +YAML\n%s\nGo: %q", f.path, value, diff, got)
			}
		}
	}
	t.Logf("%d wrong values of %d settings", tried, len(schema().fields))
}

func TestValidatorAndCompactReadTheSameRules(t *testing.T) {
	for _, f := range schema().fields {
		for _, value := range broken(f.rules, f.kind) {
			if strings.Contains(f.rules, "dive") || strings.Contains(f.rules, "required_if") {
				continue
			}
			c := load(t, "")
			v := f.valueIn(reflect.ValueOf(&c).Elem())
			v.Set(reflect.ValueOf(value).Convert(v.Type()))
			if rules().Struct(c) == nil {
				t.Errorf("the validator accepts %s = %v", f.path, value)
			}
		}
	}
	if err := rules().Struct(load(t, "")); err != nil {
		t.Error(err)
	}
}

func TestMistakesBeyondTagsAreReported(t *testing.T) {
	for _, c := range []struct {
		config compact.Config
		want   string
	}{
		{compact.Config{Storage: compact.StorageConfig{OnError: "Continue"}}, `storage.on_error must be one of fail, continue (did you mean continue?) (got "Continue")`},
		{compact.Config{Summarizer: compact.SummarizerConfig{Backend: "opnai"}}, `summarizer.backend must be one of extractive, openai, agent (did you mean openai?) (got "opnai")`},
		{compact.Config{MaxContextTokens: -1}, "max_context_tokens must be >= 0 (got -1)"},
		{compact.Config{Preset: "gradual"}, `preset must be one of graduated, economy, summarize, masking, history-reducer, gateway (got "gradual")`},
		{compact.Config{Redaction: compact.RedactionConfig{Pseudonyms: true, PseudonymKey: []byte("short")}},
			"redaction.pseudonyms needs a key of 16 bytes or more (it has 5): the environment variable COMPACT_PSEUDONYM_KEY, or in Go RedactionConfig.PseudonymKey"},
	} {
		_, err := compact.New(t.Context(), c.config)
		if diff := cmp.Diff([]string{c.want}, sayings(err)); diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}

func TestTypoInARoleIsRefused(t *testing.T) {
	got := mistakes("policy: {roles_never_prune: [systm, developer]}\n")
	want := `f.yaml:1: policy.roles_never_prune[0] must be one of system, developer, user, assistant, tool (did you mean system?) (got "systm")`
	if fmt.Sprint(got) != fmt.Sprint([]string{want}) {
		t.Errorf("%q", got)
	}
}
