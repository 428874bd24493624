package tidy

import (
	"encoding/json"
	"fmt"
	"strings"
)

// sample makes results of one kind of about a given number of bytes.
type sample struct {
	name string
	call Call
	make func(n int) string
}

func command(c string) Call {
	args, _ := json.Marshal(map[string]string{"command": c})
	return Call{Tool: "bash", Args: args}
}

func reading(f string) Call {
	args, _ := json.Marshal(map[string]string{"file_path": f})
	return Call{Tool: "Read", Args: args}
}

// upTo writes line 0, 1, … until there are n bytes.
func upTo(n int, write func(b *strings.Builder, i int)) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		write(&b, i)
	}
	return b.String()
}

var samples = []sample{
	{"code", reading("/src/store.go"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			if i%12 == 0 {
				fmt.Fprintf(b, "%6d→func (s *Store) Load%d(ctx context.Context) error {\n", i+1, i)
			} else if i%12 == 11 {
				fmt.Fprintf(b, "%6d→}\n", i+1)
			} else {
				fmt.Fprintf(b, "%6d→\tvalue%d := s.table[key%d] + offset(%d)\n", i+1, i, i*7, i)
			}
		})
	}},
	{"tests", command("go test ./..."), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			if i%97 == 96 {
				fmt.Fprintf(b, "--- FAIL: TestCase%d (0.01s)\n    case_test.go:%d: got %d, want %d\n", i, i, i, i+1)
			} else {
				fmt.Fprintf(b, "=== RUN   TestCase%d\n--- PASS: TestCase%d (0.00s)\n", i, i)
			}
		}) + "FAIL\nFAIL\texample.org/store\t0.312s\n"
	}},
	{"logs", command("journalctl -u api"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			level := "INFO"
			if i%301 == 300 {
				level = "ERROR"
			}
			fmt.Fprintf(b, "2026-03-04T10:%02d:%02d.%03dZ %s request %d served in %dms by worker-%d\n", i/60%60, i%60, i%1000, level, i, i%90, i%4)
		})
	}},
	{"json", command("curl -s localhost/items"), func(n int) string {
		return "[" + strings.TrimSuffix(upTo(n, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "{\"id\": %d, \"name\": \"item %d\", \"tags\": [\"a\", \"b\"], \"size\": {\"w\": %d, \"h\": 2}},\n", i, i, i)
		}), ",\n") + "]"
	}},
	{"lines", command("jq . big.jsonl"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "row %d %s\n", i, strings.Repeat("word ", 300))
		})
	}},
	{"searches", command("rg -n Load"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "internal/deep/folder%d/file.go:%d:\treturn store.Load%d(ctx)\n", i/9, i, i)
		})
	}},
	{"listings", command("find . -type f"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "./internal/folder%d/part%d/file%d.go\n", i/400, i/40, i)
		})
	}},
	{"tables", command("psql -c 'select * from t' -A"), func(n int) string {
		return "id|name|city\n" + upTo(n, func(b *strings.Builder, i int) { fmt.Fprintf(b, "%d|name %d|city %d\n", i, i, i%50) })
	}},
	{"pages", Call{Tool: "web_fetch"}, func(n int) string {
		return "<!doctype html><html><head><title>T</title><style>p{}</style></head><body><nav><a href=x>Home</a></nav>" + upTo(n, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "<h2 id=s%d>Section %d</h2>\n<p class=\"lead\">Some <b>text</b> of section %d that says\n something.</p>\n", i, i, i)
		}) + "<script>var x = 1;</script></body></html>"
	}},
	{"documents", reading("/docs/plan.md"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			if i%10 == 0 {
				fmt.Fprintf(b, "## Part %d\n\n", i)
			}
			fmt.Fprintf(b, "Sentence %d of the plan goes on about what is to be done next.\n", i)
		})
	}},
	{"patches", command("git diff"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			if i%30 == 0 {
				fmt.Fprintf(b, "diff --git a/f%d.go b/f%d.go\n--- a/f%d.go\n+++ b/f%d.go\n@@ -1,3 +1,4 @@\n", i, i, i, i)
			}
			fmt.Fprintf(b, "%c\tcall%d(ctx, %d)\n", " +-"[i%3], i, i)
		})
	}},
	{"ends", command("make docs"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "some words of the output number %d which say this and that\n", i)
		})
	}},
	{"colors", command("npm run build"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "\x1b[32mstep\x1b[0m %d of the \x1b[1mbuild\x1b[0m\n", i)
		})
	}},
	{"progress", command("curl -O x"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "fetch %d: 1%%\rfetch %d: 50%%\rfetch %d: 100%%\n", i, i, i)
		})
	}},
	{"runs", command("./poll"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			b.WriteString(strings.Repeat(fmt.Sprintf("waiting for the port %d\n", i/5), 5))
		})
	}},
	{"base64", command("cat key"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "part %d: %s\n", i, strings.Repeat(fmt.Sprintf("aB%dxYz7Q", i%10), 60))
		})
	}},
	{"paths", command("grep -rn x"), func(n int) string {
		return upTo(n, func(b *strings.Builder, i int) {
			fmt.Fprintf(b, "internal/deep/folder%d/file.go:%d:x\n", i/9, i)
		})
	}},
}

// result returns a sample as an arriving result.
func (s sample) result(n int) *Result {
	text := s.make(n)
	return &Result{Text: text, Call: s.call, Tokens: len(text) / 4, Said: []string{"please look at `Load120` and the key_error there"}}
}

// only returns options that turn off all reducers but one.
func only(name string) Options {
	var o Options
	for _, n := range Names() {
		if n != name {
			o.Off = append(o.Off, n)
		}
	}
	return o
}

const testRef = "3f9a2c1b70de"
