package compact

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/policy"
)

// The names that a file may give are the names that no stage of a caller's own
// may have.
func TestBuiltInStagesAreThoseOfTheSetting(t *testing.T) {
	f, _ := reflect.TypeFor[policy.Config]().FieldByName("Stages")
	_, names, _ := strings.Cut(f.Tag.Get("validate"), "oneof=")
	for _, name := range strings.Fields(names) {
		if !slices.Contains(builtinStages, name) {
			t.Errorf("a stage of a caller's own could have the name %s", name)
		}
	}
}
