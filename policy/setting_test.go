package policy_test

import (
	"errors"
	"testing"

	"github.com/agentcompact/compact/policy"
)

func TestCheckTemplateRejectsUnknownFields(t *testing.T) {
	for template, ok := range map[string]bool{
		"[{tool}: {chars} characters, {tokens} tokens, turn {turn}, {ref}, {status}]": true,
		"plain": true, "{": true, "{}": true, `{"json": 1}`: true, "{{chars}}": true,
		"": false, " ": false, "a\nb": false, "{kept}": false, "{chrs}": false, "{ chars }": false, "{Chars}": false, "\xff": false,
	} {
		err := (&policy.MaskConfig{Template: template}).CheckTemplate()
		var e *policy.ConfigError
		if ok != (err == nil) || !ok && (!errors.As(err, &e) || e.Path != "mask.template") {
			t.Errorf("%q: %v, want an error of mask.template only for an unknown field", template, err)
		}
	}
}

func TestConfigErrorFormatsOneSentenceWithThePath(t *testing.T) {
	cause := errors.New("cause")
	e := &policy.ConfigError{Path: "policy.stages[1]", Value: "maks", Reason: "must be one of mask", Err: cause}
	if got, want := e.Error(), `policy.stages[1] must be one of mask (got "maks")`; got != want || e.Setting() != "policy.stages" || !errors.Is(e, cause) {
		t.Errorf("%s, of %s; want %s and %s", got, e.Setting(), want, "policy.stages")
	}
	if got := (&policy.ConfigError{Path: "model", Reason: "is not shown"}).Error(); got != "model is not shown" {
		t.Errorf("the error is %q, want %q", got, "model is not shown")
	}
	for path, want := range map[string]string{"overrides[0].model": "overrides[0].model", "overrides[0]": "overrides", "model": "model"} {
		if got := (&policy.ConfigError{Path: path}).Setting(); got != want {
			t.Errorf("%s: the setting is %q, want %q", path, got, want)
		}
	}
}
