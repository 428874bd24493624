package fileops

import "testing"

// A summary describes an addition to a text by its headings, or else by its first new line.
func TestChangeOfTextFileNamesNewHeadings(t *testing.T) {
	for name, c := range map[string]struct{ file, old, added, want string }{
		"headings":            {"docs/faq.md", "## Old\n", "## Old\n\nText.\n\n## New one\n\n### And a part\n", "“New one”, “And a part”"},
		"the newest headings": {"docs/faq.md", "", "# A b\n# C d\n# E f\n", "“C d”, “E f”"},
		"no comment of code":  {"docs/faq.md", "", "Run it so:\n\n```sh\n# not a heading\nmake\n```\n", "“Run it so:”"},
		"the first new line":  {"docs/faq.mdx", "Some text.\n", "Some text.\n\nMore of it.\n", "“More of it.”"},
		"settings":            {"deploy.yaml", "replicas: 2\n", "# how many\nreplicas: 3\n", "“# how many”"},
		"code is not quoted":  {"a.go", "", "// x is new\n", ""},
		"nothing new":         {"docs/faq.md", "Some text.\n", "Some text.\n", ""},
	} {
		if got := QuotedNew(NewText(c.file, c.old, c.added)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	patch := OfPatch("*** Begin Patch\n*** Update File: a.md\n@@\n-old\n+Some line.\n+## One\n+## Two\n*** Update File: b.txt\n@@\n+first\n+second\n*** End Patch")
	if len(patch) != 2 || QuotedNew(patch[0].Added) != "“One”, “Two”" || QuotedNew(patch[1].Added) != "“first”" {
		t.Errorf("patch %+v, want the headings of the first file, and the first line of the second", patch)
	}
}

// A heading sign begins a heading only in formats that define it. In code it does not.
func TestNewTextQuotesHeadings(t *testing.T) {
	for name, c := range map[string]struct{ file, added, want string }{
		"a comment in a list of packages": {"requirements.txt", "# pinned\nrequests==2.1\n", "“# pinned”"},
		"another fence":                   {"a.md", "Do so:\n\n~~~sh\n# install\n~~~\n", "“Do so:”"},
		"a fence in a longer one":         {"a.md", "Do so:\n\n````\n```\n# x\n```\n# y\n````\n# Then\n", "“Then”"},
		"indented code":                   {"a.md", "Do so:\n\n    # install\n", "“Do so:”"},
		"too deep":                        {"a.md", "Some text.\n####### seven\n", "“Some text.”"},
		"a comment of org":                {"a.org", "# a comment\n* Head\n", "“Head”"},
		"asciidoc":                        {"a.adoc", "Text\n== Part\n", "“Part”"},
		"another format's sign":           {"a.md", "Text\n= Part\n", "“Text”"},
		"rst":                             {"a.rst", "New part\n========\n# no heading\n", "“New part”"},
		"signs at both ends":              {"a.md", "# About C# #\r\n## Of C#\r\n", "“About C#”, “Of C#”"},
	} {
		if got := QuotedNew(NewText(c.file, "", c.added)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	const head = "*** Begin Patch\n*** Update File: "
	for name, c := range map[string]struct{ patch, want string }{
		"new code":       {"a.md\n@@\n+Do so:\n+```sh\n+# install\n+```\n+## Then\n", "“Then”"},
		"old code":       {"a.md\n@@\n ```sh\n+# install\n ```\n+Do so.\n", "“# install”"},
		"settings":       {"a.yaml\n@@\n+port: 80\n+# why\n", "“port: 80”"},
		"another file":   {"b.md\n@@\n+```\n*** Update File: a.md\n@@\n+# Head\n", "“Head”"},
		"below the code": {"a.md\n@@\n+Text.\n ```\n x\n ```\n+# Head\n", "“Head”"},
	} {
		ops := OfPatch(head + c.patch + "*** End Patch")
		if got := QuotedNew(ops[len(ops)-1].Added); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
