package ident

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScanFindsEveryKind(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"see https://example.com/a?b=1, then", "url:https://example.com/a?b=1"},
		{"edit /usr/local/bin/x.sh.", "path:/usr/local/bin/x.sh"},
		{"in src/app/main.go:120 it fails", "path:src/app/main.go number:120"},
		{"and/or w/o I/O 1/2 yes/no and/or/...", ""},
		{"in docs/adr, cmd/api/ and src/svg", "path:docs/adr path:cmd/api/ path:src/svg"},
		{"go test ./... ./cmd/... or cmd/... and so on...", "path:./cmd/... path:cmd/..."},
		{"diff --git a/docs/x.md b/docs/x.md\n--- a/docs/x.md\n+++ b/main.go", "path:docs/x.md path:docs/x.md path:docs/x.md file:main.go"},
		{"the folders a/b.go and b/c.go; +++ b/d.go", "path:a/b.go path:b/c.go path:b/d.go"},
		{"eBPF, gRPC and vE", "camel:eBPF camel:gRPC"},
		{"open main.go and .env, os.path", "file:main.go"},
		{"commit 3f9a2c1b of deadbeef", "hex:3f9a2c1b"},
		{"id 123e4567-e89b-12d3-a456-426614174000", "hex:123e4567-e89b-12d3-a456-426614174000"},
		{"PROJ-123 is 45 or 1234", "ticket:PROJ-123 number:1234"},
		{"v1.22.3 and 0.85", "version:v1.22.3 version:0.85"},
		{"call parseArgs, NewServer, HTTPServer, max_tokens, MAX_SIZE", "camel:parseArgs pascal:NewServer pascal:HTTPServer snake:max_tokens snake:MAX_SIZE"},
		{"order W1234567 on HAT227 for jo.doe@example.com, not GPT4", "code:W1234567 code:HAT227 email:jo.doe@example.com"},
		{"128,000 or 1,234,567 rows, a[1,200], 12,34 and 1,2345", "number:128,000 number:1,234,567 number:1,200 number:2345"},
		{"on 2026-06-28T23:15 or 2026-06-28", "version:2026-06-28T23 version:2026-06-28"},
		{"<> </> ", ""},
		{"</system-reminder> <br/> </div>/usr/bin", "path:/usr/bin"},
		{"it works.So go on", ""},
		{"Hello World, iPhone JSON", "camel:iPhone"},
		{"feature/add-login origin/main", "path:feature/add-login path:origin/main"},
		{"a//b", ""},
		{"日本語 main.go 日本", "file:main.go"},
		{`"one\nNextLine and\tTabbedName C:\temp\readme.md"`, "pascal:NextLine pascal:TabbedName file:readme.md"},
	} {
		var got []string
		Scan(c.text, func(k Kind, s, e int) { got = append(got, k.String()+":"+c.text[s:e]) })
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("Scan(%q): %s", c.text, d)
		}
	}
}

func TestScanAllReportsMembersAndTheirParts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"self.config.get() and c.Parts", "member:self.config.get member:c.Parts"},
		{"set parseArgs.name", "member:parseArgs.name camel:parseArgs"},
		{"message.NewServer says more alone", "pascal:NewServer"},
		{"main.go, 1.2, v1.x, e.g. this.", "file:main.go version:1.2"},
	} {
		var got []string
		ScanAll(c.text, func(k Kind, s, e int) { got = append(got, k.String()+":"+c.text[s:e]) })
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("ScanAll(%q): %s", c.text, d)
		}
	}
}

func FuzzScanStaysInBoundsAndInOrder(f *testing.F) {
	f.Add("</> </a/> <//> ")
	f.Add("a/b/c.go http:// s3://x 123e4567-e89b-12d3-a456-42661417400g //// v1.")
	f.Fuzz(func(t *testing.T, s string) {
		last := 0
		Scan(s, func(k Kind, start, end int) {
			if start < last || end <= start || end > len(s) {
				t.Fatalf("the identifier [%d:%d) is empty, out of bounds or not after %d (text of %d bytes)", start, end, last, len(s))
			}
			if int(k) >= Kinds {
				t.Fatalf("kind %d", k)
			}
			last = end
		})
	})
}
