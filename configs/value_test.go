package configs

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/agentcompact/compact/strategy"
)

// Text and values of programs become values of each kind of setting, or are refused.
func TestValuesOfEachKind(t *testing.T) {
	for _, c := range []struct {
		kind  kind
		given any
		want  string // "" = refused
	}{
		{kindString, " a b ", `"a b"`}, {kindString, 3, ""}, {kindString, true, ""},
		{kindInt, " 42 ", "42"}, {kindInt, "4.2", ""}, {kindInt, 42, "42"}, {kindInt, 4.2, ""}, {kindInt, "", ""},
		{kindFloat, "0.5", "0.5"}, {kindFloat, 1, "1"}, {kindFloat, 0.5, "0.5"}, {kindFloat, "NaN", ""}, {kindFloat, "Inf", ""}, {kindFloat, "half", ""},
		{kindBool, "true", "true"}, {kindBool, "0", "false"}, {kindBool, "yes", ""}, {kindBool, true, "true"}, {kindBool, 1, ""},
		{kindDuration, "90s", "90000000000"}, {kindDuration, "90", ""}, {kindDuration, time.Second, "1000000000"}, {kindDuration, 90, ""},
		{kindList, "a, b,,c ", `[]string{"a", "b", "c"}`}, {kindList, "", `[]string{}`}, {kindList, `["a","b, c"]`, `[]string{"a", "b, c"}`}, {kindList, "[a, b]", `[]string{"a", "b"}`},
		{kindList, "[a-z]+", ""}, {kindList, "[1, 2]", ""}, {kindList, "[a", ""}, {kindList, []string{"a"}, `[]string{"a"}`}, {kindList, nil, ""},
	} {
		got, ok := fromValue(c.kind, c.given)
		if ok != (c.want != "") || ok && fmt.Sprintf("%#v", got) != c.want {
			t.Errorf("%v of kind %d: %#v, %v; want %s", c.given, c.kind, got, ok, c.want)
		}
	}
}

// Locked values may only become stricter.
func TestStricterValues(t *testing.T) {
	modes := inOrder("", "governance", "compliance")
	for _, c := range []struct {
		name      string
		got, want bool
	}{
		{"all and one more", contains([]string{"a"}, []string{"b", "a"}), true}, {"one less", contains([]string{"a", "b"}, []string{"a"}), false}, {"of none", contains([]string{}, []string{}), true},
		{"the same mode", modes("governance", "governance"), true}, {"a stricter mode", modes("governance", "compliance"), true}, {"a weaker mode", modes("governance", ""), false},
		{"equal", isWeaker("model", "a", "a"), false}, {"without an order", isWeaker("model", "a", "b"), true}, {"switched off", isWeaker("redaction.pii", true, false), true}, {"switched on", isWeaker("redaction.pii", false, true), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", c.name, c.got)
		}
	}
}

// Advice follows from the status of an answer.
func TestAdviceForEachStatus(t *testing.T) {
	for status, want := range map[int]string{
		0: "start the server, or correct summarizer.base_url", 401: "put a key of this server into OPENAI_API_KEY", 403: "put a key of this server into OPENAI_API_KEY",
		404: "correct summarizer.model, or the path of summarizer.base_url", http.StatusTooManyRequests: "the server accepts no more requests for this key now: check the limits and the bill of the key", 500: "",
	} {
		if got := adviseSummarizer(fmt.Errorf("x: %w", &strategy.Failure{Status: status})); got != want {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
	if got := adviseSummarizer(errors.New("x")); got != "" {
		t.Errorf("another error: %q", got)
	}
	for text, want := range map[string]int{"the server answered 404 Not Found": 404, "503": 503, "line 4041": 0, "exit status 1": 0, "200 OK": 0} {
		if got := statusIn(errors.New(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
