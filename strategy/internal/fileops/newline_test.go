package fileops

import "testing"

// A change in the middle of a function is described by its first new line with content.
func TestFirstNewLineDescribesAChangeOfCode(t *testing.T) {
	for name, c := range map[string]struct{ old, added, want string }{
		"a changed line":        {"  rate: 0.2,\n", "  rate: await rateOf(country),\n", "“rate: await rateOf(country),”"},
		"an old line before it": {"if ok {\n", "if ok {\n\tstock.Count()\n", "“stock.Count()”"},
		"brackets and imports":  {"", "import os\n}\n# why\n  total = price * count\n", "“total = price * count”"},
		"only a bracket":        {"x", "}\n", ""},
	} {
		if got := QuotedNew(NewLine(c.old, c.added)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	patch := OfPatch("*** Begin Patch\n*** Update File: a.ts\n@@\n-  rate: 0.2,\n+  // by country\n+  rate: rateOf(country),\n+  round: true,\n*** Add File: b.ts\n+const shop = open()\n*** End Patch")
	if len(patch) != 2 || QuotedNew(patch[0].Added) != "“rate: rateOf(country),”" || len(patch[1].Added) != 0 {
		t.Errorf("patch %+v, want the first new line of the first file, and none of the second", patch)
	}
}
