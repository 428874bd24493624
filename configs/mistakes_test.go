package configs

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/strategy"
)

func TestEveryMistakeIsReportedAtOnceWithItsLine(t *testing.T) {
	const text = `preset: graduated
polcy:
  trigger_pct: 0.5
policy:
  trigger_pct: 1.7
  keep_recent_turns: "six"
  stages: [truncate, maks]
  strategy: task-state
mask:
  keep_frist: 2
  when: sometimes
summarizer:
  timeout: 60
  parallel: 100
trace:
  ariadne_url: localhost
redaction:
  patterns: ["ok", "(x"]
`
	want := []string{
		`f.yaml:2: unknown key "polcy" (did you mean policy?)`,
		`f.yaml:5: policy.trigger_pct must be 0.0-1.0 (got 1.7)`,
		`f.yaml:6: policy.keep_recent_turns must be a whole number (got "six")`,
		`f.yaml:7: policy.stages[1] must be one of tidy, window, truncate, mask, history, summarize, shrink, local, fallback, groups, drop, squeeze (did you mean mask?) (got "maks")`,
		`f.yaml:8: policy.strategy must be one of brief, code_delta, decision_log, task_state (did you mean task_state?) (got "task-state")`,
		`f.yaml:10: unknown key "mask.keep_frist" (did you mean mask.keep_first?)`,
		`f.yaml:11: mask.when must be one of trigger, always (got "sometimes")`,
		`f.yaml:13: summarizer.timeout must be a duration such as 60s or 2m30s (got 60)`,
		`f.yaml:14: summarizer.parallel must be 1-64 (got 100)`,
		`f.yaml:16: trace.ariadne_url must be a URL that begins with http:// or https:// (got "localhost")`,
		"f.yaml:18: redaction.patterns[1] is not a regular expression: error parsing regexp: missing closing ): `(x`",
	}
	if diff := cmp.Diff(want, mistakes(text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestMistake(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a typo that ends like the name of a secret", "max_context_token: 32000", `f.yaml:1: unknown key "max_context_token" (did you mean max_context_tokens?)`},
		{"bounds: below", "policy: {target_pct: 0}", "f.yaml:1: policy.target_pct must be 0.0-1.0 and above 0.0 (got 0)"},
		{"bounds: not a number", "policy: {target_pct: .nan}", "f.yaml:1: policy.target_pct must be 0.0-1.0 and above 0.0 (got NaN)"},
		{"bounds: excluded", "policy: {margin_pct: 100}", "f.yaml:1: policy.margin_pct must be 0-100 and below 100 (got 100)"},
		{"a value out of bounds", "truncate: {max_tool_result_tokens: 0}", "f.yaml:1: truncate.max_tool_result_tokens must be > 0 (got 0)"},
		{"empty list", "policy: {stages: []}", "f.yaml:1: policy.stages must not be empty (got [])"},
		{"an empty value that another setting needs", "storage: {path: \"\"}", `f.yaml:1: storage.path must not be empty (got "")`},
		{"target above trigger", "policy: {target_pct: 0.9}", "f.yaml:1: policy.target_pct must be below policy.trigger_pct 0.85 (got 0.9)"},
		{"nothing left", "max_context_tokens: 1000", "f.yaml:1: max_context_tokens 1000 less policy.hard_cap_buffer 1500 and max_output_tokens 0 leaves -500 tokens for the conversation"},
		{"together, in two lines", "policy:\n  target_pct: 0.9\n  keep_recent_turns: 3\n", "f.yaml:2: policy.target_pct must be below policy.trigger_pct 0.85 (got 0.9)"},
		{"a wrong value is not compared with other settings", "policy: {trigger_pct: 1.7, target_pct: 0.9}", "f.yaml:1: policy.trigger_pct must be 0.0-1.0 (got 1.7)"},
		{"a value of another type is not compared with other settings", "policy: {hard_cap_buffer: x}\nmax_context_tokens: 1000", `f.yaml:1: policy.hard_cap_buffer must be a whole number (got "x")`},
		{"a margin", "max_context_tokens: 1000\npolicy: {margin_pct: 90, hard_cap_buffer: 100}",
			"f.yaml:2: max_context_tokens 1000 less policy.hard_cap_buffer 100, policy.margin_pct 90 (900 tokens) and max_output_tokens 0 leaves 0 tokens for the conversation"},
		{"a stage without its setting", "policy: {stages: [local]}", "f.yaml:1: policy.keep_recent_messages must be >= 1 with the stage local in policy.stages (got 0)"},
		{"an unknown name in a template", "mask: {template: \"{chrs} gone\"}",
			`f.yaml:1: mask.template has the unknown name {chrs}; known names are {chars} {tokens} {tool} {turn} {ref} {status} (did you mean chars?) (got "{chrs} gone")`},
		{"a prompt without effect", "summarizer: {instructions: Be brief.}", `f.yaml:1: summarizer.instructions has no effect with summarizer.backend extractive; set that to openai, or leave it out (got "Be brief.")`},
		{"a section of every summary", "summarizer: {base_url: \"http://h/v1\", model: m, sections: [Ticket, What happened]}",
			`f.yaml:1: summarizer.sections[1] is in every summary; leave it out (got "What happened")`},
		{"a prompt file that does not exist", "summarizer:\n  base_url: http://h/v1\n  model: m\n  prompt_file: /nowhere/prompt.txt",
			`f.yaml:4: summarizer.prompt_file can't be read: open /nowhere/prompt.txt: no such file or directory (got "/nowhere/prompt.txt")`},
		{"no room for the user's words", "summarizer: {user_tokens: 0}", "f.yaml:1: summarizer.user_tokens must be >= 1 (got 0)"},
		{"when to compact", "policy: {when: full}", `f.yaml:1: policy.when must be one of window, economic, never, trigger (got "full")`},
		{"preset", "preset: graduate", `f.yaml:1: preset must be one of graduated, economy, summarize, masking, history-reducer, gateway (did you mean graduated?) (got "graduate")`},
		{"preset of another type", "preset: 3", "f.yaml:1: preset must be a text (got 3)"},
		{"no value", "model:", "f.yaml:1: model has no value; leave the line out for the default"},
		{"null in JSON", `{"model": null}`, "f.yaml:1: model has no value; leave the line out for the default"},
		{"twice", "model: a\nmodel: b", "f.yaml:2: model is given twice, first in line 1"},
		{"twice in JSON", "{\"model\": \"a\",\n\"model\": \"b\"}", "f.yaml:2: model is given twice, first in line 1"},
		{"twice with a dotted key", "policy.strategy: brief\npolicy: {strategy: brief}", "f.yaml:2: policy.strategy is given twice, first in line 1"},
		{"section as a value", "redaction: false", "f.yaml:1: redaction is a section, not a setting (got false)"},
		{"value as a section", "counting: {a: 1}", "f.yaml:1: counting must be a text"},
		{"list of numbers", "mask: {exclude_tools: [1]}", "f.yaml:1: mask.exclude_tools must be a list of texts such as [a, b]"},
		{"list as a text", "mask: {exclude_tools: a}", `f.yaml:1: mask.exclude_tools must be a list of texts such as [a, b] (got "a")`},
		{"switch in words", "redaction: {enabled: off}", `f.yaml:1: redaction.enabled must be true or false (got "off")`},
		{"number in quotes", "max_context_tokens: \"32000\"", `f.yaml:1: max_context_tokens must be a whole number (got "32000")`},
		{"fraction", "max_context_tokens: 1.5", "f.yaml:1: max_context_tokens must be a whole number (got 1.5)"},
		{"too large", "max_context_tokens: 99999999999999999999", "f.yaml:1: max_context_tokens must be a whole number (got 99999999999999999999)"},
		{"name in no section", "trigger_pct: 0.5", `f.yaml:1: unknown key "trigger_pct" (did you mean policy.trigger_pct?)`},
		{"an unknown name in a section", "policy: {triger: 0.5}", `f.yaml:1: unknown key "policy.triger"`},
		{"other case", "policy: {Trigger_Pct: 0.5}", `f.yaml:1: unknown key "policy.Trigger_Pct" (did you mean policy.trigger_pct?)`},
		{"an unknown name", "quux: 1", `f.yaml:1: unknown key "quux"`},
		{"merge key", "<<: {model: a}", `f.yaml:1: unknown key "<<"`},
		{"a list at the top", "- a\n- b", "f.yaml:1: must hold settings (name: value)"},
		{"a list as a key", "? [a]\n: b", "f.yaml:1: a key must be a name"},
		{"two documents", "model: a\n---\nmodel: b", "f.yaml:2: can't be read: the file has more than one document"},
		{"not YAML", "model: a\n\tb: c", "f.yaml:2: can't be read: found a tab character that violates indentation"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.want}, mistakes(c.text+"\n")); diff != "" {
				t.Errorf("%s\n%s", c.text, diff)
			}
		})
	}
}

// TestBrokenYAMLNamesItsLine: the parser gives no line for a mistake in the first one,
// and often the line before it or the beginning of the section.
func TestBrokenYAMLNamesItsLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"preset: \"graduated", "f.yaml:1: can't be read: found unexpected end of stream"},
		{"preset: graduated: x\nmodel: a", "f.yaml:1: can't be read: mapping values are not allowed in this context: quote a value that has a colon and a space, and begin each name in a line of its own"},
		{"\tpreset: x", "f.yaml:1: can't be read: found character that cannot start any token: indent with spaces, not with tabs"},
		{"model: *x", "f.yaml:1: can't be read: unknown anchor 'x' referenced"},
		{"model: a\n# a comment\npreset: *x", "f.yaml:3: can't be read: unknown anchor 'x' referenced"},
		{"# a comment\nmodel: a\x01", "f.yaml:2: can't be read: control characters are not allowed"},
		{"model: a\npolicy:\n  trigger_pct: 0.5\n target_pct: 0.2\n", "f.yaml:4: can't be read: did not find expected key: check the indentation"},
		{"policy:\n  trigger_pct: 0.5\npreset: [a\nmodel: a\n", "f.yaml:3: can't be read: did not find expected ',' or ']'"},
	} {
		if diff := cmp.Diff([]string{c.want}, mistakes(c.text)); diff != "" {
			t.Errorf("%q\n%s", c.text, diff)
		}
	}
	long := strings.Repeat("model: a\n", mostParsed) + "preset: *x"
	if diff := cmp.Diff([]string{"f.yaml: can't be read: unknown anchor 'x' referenced"}, mistakes(long)); diff != "" {
		t.Errorf("a long file\n%s", diff)
	}
}

func TestBrokenJSONNamesItsLine(t *testing.T) {
	_, err := Parse("c.json", []byte("{\n \"model\": \"a\",\n}\n"), Environ(nil))
	if m := Mistakes(err); len(m) != 1 || m[0].Line != 3 || m[0].Source != "c.json" {
		t.Errorf("%v", err)
	}
}

func TestErrorsShowNoSecrets(t *testing.T) {
	secret := "sk-" + strings.Repeat("a1b2", 8)
	for _, text := range []string{
		"summarizer: {api_key: " + secret + "}",
		"OPENAI_API_KEY: " + secret,
		"trace: {ariadne_url: \"ftp://user:" + secret + "@host\"}",
		"summarizer: {base_url: \"http://user:" + secret + "@h:99999999\", backend: 3}",
	} {
		got := mistakes(text)
		if len(got) == 0 || strings.Contains(strings.Join(got, "\n"), secret) {
			t.Errorf("%.20s…: %q", text, got)
		}
	}
	if got := mistakes("summarizer: {api_key: x}"); !strings.Contains(got[0], "OPENAI_API_KEY in the environment") {
		t.Errorf("%q does not say where the key goes", got)
	}
}

func TestCauseOfAMistakeCanBeFound(t *testing.T) {
	_, err := Parse("f.yaml", []byte("policy: {target_pct: 0.9}\n"), Environ(nil))
	var e *Error
	if !errors.As(err, &e) || e.Err == nil {
		t.Errorf("%v has no cause", err)
	}
	if Mistakes(errors.New("x")) != nil || Mistakes(nil) != nil {
		t.Error("an error without mistakes returns mistakes")
	}
	if _, err := strategy.Lookup("task-state"); err == nil {
		t.Error("the strategy task-state exists, so this test needs another wrong name")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: &x {b: *x}", "? [a]\n: b", `{"model":null}`, "policy: *x", "&a model: *a", "policy: &p {strategy: *p}", "{", "model.name: x\nmodel: {name: y}",
		"locked: [redaction]\noverrides: [{model: \"*\", agent: a, policy: {trigger_pct: 0.7}, observationMasking: false}]\n", "redaction: {pseudonyms: true}\n",
		"preset: gateway\nmax_tool_result_tokens: 5\n", "preset: history-reducer\nobservationMasking: false\n", `{"policy":{"stages":["mask"],"target_pct":5e-1}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f.yaml", data, Environ([]string{pseudonymVariable + "=" + strings.Repeat("k", redact.MinPseudonymKey)}), KeysOptional())
		switch {
		case err == nil && c.Validate() != nil:
			t.Errorf("accepted, but: %v", c.Validate())
		case err != nil && len(Mistakes(err)) == 0:
			t.Errorf("an error without mistakes: %v", err)
		}
	})
}
