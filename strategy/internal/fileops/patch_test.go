package fileops

import (
	"reflect"
	"testing"
)

// The operation of a rename has both names.
func TestPatchOpsReadsRenames(t *testing.T) {
	for patch, want := range map[string][]Op{
		"rename from a.go\nrename to b.go\n":                       {{Path: "b.go", From: "a.go", Op: Renamed}},
		"rename to b.go\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n":    {{Path: "x.go", Op: Edited}},
		"*** Update File: a.go\n*** Move to: b.go\n":               {{Path: "b.go", From: "a.go", Op: Renamed}},
		"*** Move to: b.go\n*** Add File: c.go\n":                  {{Path: "c.go", Op: Created}},
		"*** Delete File: a.go\n*** Update File: c.go\n@@\n-a\n+b": {{Path: "a.go", Op: Deleted}, {Path: "c.go", Op: Edited}},
	} {
		if got := OfPatch(patch); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", patch, got, want)
		}
	}
}
