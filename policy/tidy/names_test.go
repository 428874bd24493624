package tidy

import (
	"reflect"
	"strings"
	"testing"

	"github.com/agentcompact/compact/policy"
)

func TestConfigurationKnowsEveryReducer(t *testing.T) {
	f, _ := reflect.TypeFor[policy.TidyConfig]().FieldByName("Off")
	if want := "dive,oneof=" + strings.Join(Names(), " "); f.Tag.Get("validate") != want {
		t.Errorf("tidy.off has %q, want %q", f.Tag.Get("validate"), want)
	}
}
