package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// payloads has one payload of each type; TestEveryPayloadTypeIsKnownToTheTests checks
// that it is complete.
var payloads = []Payload{
	Preflight{}, TokenEstimate{}, TriggerDecision{}, Archival{}, Summarize{}, SummaryCreated{}, MaskedObservations{}, TruncatedResults{},
	PrunedMessages{}, Error{}, RedactionDisabled{}, Observed{}, WouldCompact{}, ObservedUsage{}, CallUsage{},
	Refused{}, ProviderError{}, Recalled{}, SummaryBegun{}, SummaryAttempt{},
}

func TestEveryPayloadTypeIsKnownToTheTests(t *testing.T) {
	files, err := filepath.Glob("payload*.go")
	if err != nil {
		t.Fatal(err)
	}
	types := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		types += strings.Count(string(text), ") spec() spec {")
	}
	if types != len(payloads) {
		t.Errorf("%d payload types, the tests know %d", types, len(payloads))
	}
}

// keysOf returns the keys of a struct in the form of the documentation: "step?" for an
// optional key, "kept{pinned, summary}" for an object.
func keysOf(s reflect.Type, optional bool) []string {
	var out []string
	for i := range s.NumField() {
		f := s.Field(i)
		tag, omit := strings.CutSuffix(f.Tag.Get("json"), ",omitempty")
		if f.Anonymous {
			out = append(out, keysOf(f.Type.Elem(), true)...)
			continue
		}
		t, list := f.Type, ""
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() == reflect.Slice && t.Name() != "RawMessage" {
			t, list = t.Elem(), "[]"
		}
		key := tag
		if omit || optional {
			key += "?"
		}
		key += list
		if t.Kind() == reflect.Struct {
			key += "{" + strings.Join(keysOf(t, false), ", ") + "}"
		}
		out = append(out, key)
	}
	return out
}

var (
	row  = regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| `([a-z.]+)` \\| [^|]* \\| ([^|]*) \\|$")
	code = regexp.MustCompile("`([^`]+)`")
)

// documented reads the table of events: the keys of each, and its kind.
func documented(t *testing.T) (keys map[string][]string, kinds map[string]string) {
	t.Helper()
	text, err := os.ReadFile("../docs/OBSERVABILITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Events\n")
	table, _, _ = strings.Cut(table, "\n## ")
	keys, kinds = map[string][]string{}, map[string]string{}
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		kinds[m[1]] = m[2]
		cell, conditional, _ := strings.Cut(m[3], "if triggered")
		for i, part := range []string{cell, conditional} {
			for _, c := range code.FindAllStringSubmatch(part, -1) {
				key := c[1]
				if i == 1 && !strings.Contains(key, "?") { // "kept{…}" is optional
					name, rest, nested := strings.Cut(key, "{")
					key = name + "?"
					if nested {
						key += "{" + rest
					}
				}
				keys[m[1]] = append(keys[m[1]], key)
			}
		}
	}
	return keys, kinds
}

// abbreviated replaces the members that the documentation leaves out, "{…}",
// because another row has them.
func abbreviated(documented, actual string) string {
	if name, _, ok := strings.Cut(documented, "{…}"); ok && strings.HasPrefix(actual, name+"{") {
		return documented
	}
	return actual
}

// The table in docs/OBSERVABILITY.md has exactly the keys that the code writes.
func TestDocumentedEventsMatchTheCode(t *testing.T) {
	keys, kinds := documented(t)
	for _, p := range payloads {
		s := p.spec()
		want := slices.DeleteFunc(keysOf(reflect.TypeOf(p), false), func(k string) bool {
			return k == "session_id" || k == "output_text"
		})
		got := keys[s.name]
		for i, w := range want {
			for _, g := range got {
				if g != w {
					want[i] = abbreviated(g, want[i])
				}
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-code +docs):\n%s", s.name, diff)
		}
		if kinds[s.name] != s.kind {
			t.Errorf("%s: kind %q in the docs, %q in the code", s.name, kinds[s.name], s.kind)
		}
		delete(keys, s.name)
	}
	if len(keys) > 0 || len(kinds) != len(payloads)+1 || kinds[NameSession] != KindSession {
		t.Errorf("the docs know events that the code does not: %v, %d rows", fmt.Sprint(keys), len(kinds))
	}
}

var (
	reasonConst = regexp.MustCompile("(?m)^\tReason\\w+ += \"([^\"]+)\"")
	reasonRow   = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ")
)

// The table of reasons in docs/OBSERVABILITY.md has exactly the reasons of the code.
func TestDocumentedReasonsMatchTheCode(t *testing.T) {
	found := func(file, from string, at *regexp.Regexp) (all []string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, section, _ := strings.Cut(string(text), from)
		section, _, _ = strings.Cut(section, "\n\n")
		for _, m := range at.FindAllStringSubmatch(section, -1) {
			all = append(all, m[1])
		}
		slices.Sort(all)
		return all
	}
	code := found("payload_decide.go", "// Reasons for a decision.\n", reasonConst)
	docs := found("../docs/OBSERVABILITY.md", "| `reason` |", reasonRow)
	if len(code) < 10 {
		t.Fatalf("the code has the reasons %q", code)
	}
	if diff := cmp.Diff(code, docs); diff != "" {
		t.Errorf("(-code +docs):\n%s", diff)
	}
}
