package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// The redacted secrets are counted in every kind of input: text, lines, and one field of
// lines.
func TestRedactCountsItsReplacements(t *testing.T) {
	const secret = "password=tr0ub4dor-and-3"
	line := func(field, text string) string { return `{"` + field + `":"` + text + `"}` }
	for name, c := range map[string]struct {
		field, in, out string
		found          int
	}{
		"text":                {"", secret + "\n" + secret, "password=<REDACTED>\npassword=<REDACTED>", 2},
		"text without any":    {"", "hello", "hello", 0},
		"lines":               {"", line("a", secret) + "\n" + line("b", secret) + "\n", line("a", "password=<REDACTED>") + "\n" + line("b", "password=<REDACTED>") + "\n", 2},
		"a field":             {"a", line("a", secret) + "\n\n" + line("b", secret), line("a", "password=<REDACTED>") + "\n\n" + line("b", secret), 1},
		"a field without any": {"a", line("b", secret), line("b", secret), 0},
	} {
		r, err := redact.New(redact.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x := &cleaner{redactor: r, field: c.field, found: redact.Stats{}}
		if out, err := x.clean("f", []byte(c.in)); err != nil || !bytes.Equal(out, []byte(c.out)) || x.found.Total() != c.found {
			t.Errorf("%s: %q, %v, %d found; want %q and %d", name, out, err, x.found.Total(), c.out, c.found)
		}
	}
}

// The flag --archive takes a folder or a bucket. It refuses anything else, because a
// folder of that name would be created.
func TestPlacesOfArchives(t *testing.T) {
	for where, options := range map[string]int{
		"dir": 3, "/srv/a": 3, "file:///srv/a": 3, "s3://bucket": 4, "s3://bucket/prefix": 4, "S3://bucket/prefix": 4, "s3:bucket": 0, "S3:bucket": 0, "s3:///prefix": 0, "https://host/a": 0,
	} {
		if opts, err := place(where); (err == nil) != (options > 0) || len(opts) != options {
			t.Errorf("%s: %d options, %v", where, len(opts), err)
		} else if usage := new(usageError); err != nil && !errors.As(err, &usage) {
			t.Errorf("%s: the error is %T", where, err)
		}
	}
}

// economic returns true if the configuration or one of its overrides sets policy.when to
// economic.
func TestOneEconomicOverrideSuffices(t *testing.T) {
	of := func(when any) compact.Override { return compact.Override{Set: map[string]any{"policy.when": when}} }
	for name, c := range map[string]struct {
		when      policy.When
		overrides []compact.Override
		want      bool
	}{
		"nowhere":            {policy.AtTrigger, []compact.Override{{}, of("trigger"), of(7)}, false},
		"the configuration":  {policy.Economic, nil, true},
		"an override":        {policy.AtTrigger, []compact.Override{of("trigger"), of("economic")}, true},
		"not in an override": {policy.Economic, []compact.Override{of("trigger")}, true},
	} {
		cfg := compact.Config{Overrides: c.overrides}
		cfg.Policy.When = c.when
		if economic(&cfg) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
}
