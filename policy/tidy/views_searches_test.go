package tidy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// hitsIn returns n lines of a search.
func hitsIn(path string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%s:%d:\tstore.Load(%d)", path, i+1, i))
	}
	return all
}

func TestReduceSearch(t *testing.T) {
	rg := command("rg -n Load")
	compare(t, "searches", []view{
		{name: "hits of several files", call: rg, said: "who calls `LoadLast`?", large: 100,
			text: lines(append(append(append(hitsIn("store/store.go", 8), "store/store.go-9-\t}", "--"), hitsIn("serve/serve.go", 5)...), "serve/serve.go:70:\tLoadLast()", "docs/readme.md:1:Load it")...), want: lines("[tidied — first hits of each file, 10 of 17 lines left out]", "store/store.go ⋮ 7 of 9 lines", "store/store.go:1:\tstore.Load(0)", "store/store.go:2:\tstore.Load(1)", "serve/serve.go ⋮ 3 of 6 lines", "serve/serve.go:1:\tstore.Load(0)", "serve/serve.go:2:\tstore.Load(1)", "serve/serve.go:70:\tLoadLast()", "docs/readme.md:1:Load it")},
		{name: "hits below their paths", call: command("rg --heading -n Load"), large: 60,
			text: lines("store/store.go", "12:func Load() error {", "13-\treturn nil // which is what is there if there is nothing to load, so that nobody has to ask", "19:\treturn Load()", "25:\tx := Load()", "", "serve/serve.go", "7:\tstore.Load()", "8:\tstore.Load()", "9:\tstore.Load()", "10:\tstore.Load()", "",
				"a.go", "3:Load()", "", "docs/readme.md:", "1:Load it in a line that is long enough", "2:Load it again, in another long line", "3:Load it"), want: lines("[tidied — first hits of each file, 6 of 19 lines left out]", "store/store.go ⋮ 3 of 4 lines", "12:func Load() error {", "serve/serve.go ⋮ 1 of 4 lines", "7:\tstore.Load()", "8:\tstore.Load()", "9:\tstore.Load()", "a.go", "3:Load()", "docs/readme.md: ⋮ 2 of 3 lines", "1:Load it in a line that is long enough")},
		{name: "lines with a word before their number", call: Call{Tool: "grep", Args: []byte(`{"pattern":"Load"}`)}, large: 60,
			text: lines("Found 11 matches", "/src/store/store.go:", "  Line 3: func Load() error {", "", "  Line 12: \treturn Load()", "", "  Line 25: \tx := Load()", "", "", "/src/serve/serve.go:", "  Line 7: \tstore.Load()", "", "  Line 8: \tstore.Load()", "", "  Line 9: \tstore.Load()", "", "  Line 10: \tstore.Load()", "",
				"  Line 11: \tstore.Load()", "", "  Line 12: \tstore.Load()", "", "  Line 1234: \tstore.Load()", ""), want: lines("[tidied — first hits of each file, 6 of 24 lines left out]", "Found 11 matches", "/src/store/store.go: ⋮ 1 of 3 lines", "  Line 3: func Load() error {", "  Line 12: \treturn Load()", "/src/serve/serve.go: ⋮ 5 of 7 lines", "  Line 7: \tstore.Load()", "  Line 8: \tstore.Load()", "")},
		{name: "files without room", call: rg, large: 60,
			text: lines("a_long_folder_name/store/first_file.go:12:Load", "a_long_folder_name/store/second_file.go:12:Load and more of this line", "a_long_folder_name/store/second_file.go:13:Load", "b.go:1:Load", "b.go:2:Load", "c.go:1:x",
				"d_long_folder_name/x_long_file_name.go:1:a line that is too long for the little room that there is", "d_long_folder_name/y.go:1:another line that is too long for the little room that there is", "d_long_folder_name/y.go:2:y", "e.go:1:y", "e.go:2:y"), want: lines("[tidied — first hits of each file, 9 of 11 lines left out]", "a_long_folder_name/store/first_file.go:12:Load", "a_long_folder_name/store/second_file.go ⋮ 1 of 2 lines", "a_long_folder_name/store/second_file.go:12:Load and more of this line", "b.go ⋮ 2 of 2 lines", "c.go ⋮ 1 of 1 line", "⋮ 3 more files with 5 lines")},
		{name: "one file without room", call: rg, large: 15, text: lines(append(hitsIn("store/store.go", 10), "a.go:1:x")...), want: lines("[tidied — first hits of each file, 10 of 11 lines left out]", "a.go:1:x", "⋮ 1 more file with 10 lines")},
		{name: "nine hits", call: rg, large: 10, text: lines(hitsIn("store/a_longer_store.go", 9)...), want: "whole"},
		{name: "ten hits", call: rg, large: 10, text: lines(hitsIn("store/store.go", 10)...), want: lines("[tidied — first hits of each file, 10 of 10 lines left out]", "⋮ 1 more file with 10 lines")},
		{name: "two of twelve lines are no hits", call: rg, large: 25, text: lines(append(hitsIn("store/store.go", 10), "some words", "and others")...), want: lines("[tidied — first hits of each file, 9 of 12 lines left out]", "store/store.go ⋮ 9 of 10 lines", "store/store.go:1:\tstore.Load(0)", "some words", "and others")},
		{name: "three of thirteen lines are no hits", call: rg, large: 25, text: lines(append(hitsIn("store/store.go", 10), "some words", "and others", "and more")...), want: "whole"},
		{name: "words before the first hit", call: rg, large: 10, text: lines(append([]string{"some words"}, hitsIn("store/store.go", 20)...)...), want: "whole"},
		{name: "a frame around hits", call: rg, large: 60, text: lines(append([]string{"Chunk ID: 1", "Output:"}, append(hitsIn("store/store.go", 12), "", "Process exited with code 0")...)...), want: lines("[tidied — first hits of each file, 9 of 16 lines left out]", "Chunk ID: 1", "Output:", "store/store.go ⋮ 9 of 12 lines", "store/store.go:1:\tstore.Load(0)", "store/store.go:2:\tstore.Load(1)", "store/store.go:3:\tstore.Load(2)", "", "Process exited with code 0")},
		{name: "hits that the task names six times at most", call: rg, said: "`needle`", large: 75,
			text: lines("a.go:1:x", "a.go:2:needle", "a.go:3:needle", "a.go:4:needle", "a.go:5:needle", "a.go:6:needle", "a.go:7:needle", "a.go:8:needle", "a.go:9:y and a few more words", "b.go:1:a line of b that is as long as a line of code can be, or a bit longer", "b.go:2:a line of b that is as long as a line of code can be, or a bit longer, too", "c.go:1:zzz", "c.go:2:one more line that goes on for a while and says nothing of what was asked", "c.go:3:one more line that goes on for a while and says nothing of it", "d.go:7:last"), want: lines("[tidied — first hits of each file, 5 of 15 lines left out]", "a.go ⋮ 1 of 9 lines", "a.go:1:x", "a.go:2:needle", "a.go:3:needle", "a.go:4:needle", "a.go:5:needle", "a.go:6:needle", "a.go:7:needle", "a.go:8:needle", "b.go ⋮ 2 of 2 lines", "c.go ⋮ 2 of 3 lines", "c.go:1:zzz", "d.go:7:last")},
		{name: "lines around hits come last", call: rg, large: 55,
			text: lines("a/file.go-1-a line that stands before the first hit of all", "a/file.go:2:the first hit", "a/file.go-3-after", "--", "a/file.go-7-before", "a/file.go:8:the second hit", "a/file.go-9-a line that stands behind the second hit", "a/file.go:10:the third hit", "a/file.go:11:the fourth hit", "a/file.go:12:the fifth hit", "a/file.go:13:the sixth hit"), want: lines("[tidied — first hits of each file, 6 of 11 lines left out]", "a/file.go ⋮ 6 of 10 lines", "a/file.go:2:the first hit", "a/file.go:8:the second hit", "a/file.go:10:the third hit", "a/file.go:11:the fourth hit")},
	})
}

func TestReduceSearchWithPathsAboveHits(t *testing.T) {
	grep := command("grep -rn x")
	pad := "a line of words behind the hits that makes the result long enough to be looked at, which takes two hundred and fifty-six bytes, or a few more than that, to be on the safe side, so that there are some more words in this line here, and then some more still"
	compare(t, "paths", []view{
		{name: "one file", call: grep, text: lines("internal/file.go:12:x", "internal/file.go:13:x: y", pad), want: lines("internal/file.go:", "12:x", "13:x: y", "a line of words behind the hits that makes the result long enough to be looked at, which takes two hundred and fifty-six bytes, or a few more than that, to be on the safe side, so that there are some more words in this line here, and then some more still")},
		{name: "several files", call: grep, text: lines("a/b.go:1:x", "internal/file.go:12:x", "internal/file.go-13-y", "internal/file.go:14:z", "--", "internal/other.go:1:x", "internal/file.go:15:x", "internal/file.go:16:x", pad), want: lines("a/b.go:1:x", "internal/file.go:", "12:x", "13-y", "14:z", "--", "internal/other.go:1:x", "internal/file.go:", "15:x", "16:x", "a line of words behind the hits that makes the result long enough to be looked at, which takes two hundred and fifty-six bytes, or a few more than that, to be on the safe side, so that there are some more words in this line here, and then some more still")},
		{name: "a short path gains nothing", call: grep, text: lines("a.b:1:x", "a.b:2:x", pad), want: lines("a.b:", "1:x", "2:x", "a line of words behind the hits that makes the result long enough to be looked at, which takes two hundred and fifty-six bytes, or a few more than that, to be on the safe side, so that there are some more words in this line here, and then some more still")},
		{name: "a path of Windows", call: grep, text: lines(`C:\src\main.go:1:x`, `C:\src\main.go:2:x`, `C:\src\main.go:3:x`, pad), want: lines("C:\\src\\main.go:", "1:x", "2:x", "3:x", "a line of words behind the hits that makes the result long enough to be looked at, which takes two hundred and fifty-six bytes, or a few more than that, to be on the safe side, so that there are some more words in this line here, and then some more still")},
		{name: "times and dates are no paths", call: grep, text: lines("2026-11-23.log-12-x", "10:28:48.1:12:x", "10:28:48.1:13:x", "2026-11-23-12-x", "a-2026-11-23", "a-2026-11-24", pad), want: "whole"},
		{name: "a path with a digit or a dash", call: grep, text: lines("my-app/v2.go-3-x", "my-app/v2.go-4-x", "my-app/v2.go:5:x", "see a b.go:1:x", "see a b.go:2:x", "pkg/Makefile-3-x", "pkg/Makefile-4-x", pad), want: lines("my-app/v2.go:", "3-x", "4-x", "5:x", "see a b.go:1:x", "see a b.go:2:x", "pkg/Makefile-3-x", "pkg/Makefile-4-x", "a line of words behind the hits that makes the result long enough to be looked at, which takes two hundred and fifty-six bytes, or a few more than that, to be on the safe side, so that there are some more words in this line here, and then some more still")},
		{name: "a number between dashes in a path", call: grep, text: lines("my-2-app/log-12-b.go-3-x", "my-2-app/log-12-b.go-4-x", pad), want: lines("my-2-app/log-12-b.go:", "3-x", "4-x", pad)},
		{name: "line numbers of seven digits at most", call: grep, text: lines("internal/file.go:1234567:x", "internal/file.go:1234567:x", "internal/fill.go:12345678:x", "internal/fill.go:12345678:x", "internal/five.go::x", "internal/five.go::x", "internal/six.go:12", "internal/six.go:12", pad), want: "whole"},
	})
}

// A search in colors is grouped by file like any other, after the colors are removed.
func TestReduceGroupsHitsInColors(t *testing.T) {
	o := only("paths")
	o.Off = slices.DeleteFunc(o.Off, func(name string) bool { return name == "colors" })
	r := &Result{Call: command("grep -rn x"), Text: upTo(400, func(b *strings.Builder, i int) {
		fmt.Fprintf(b, "internal/file.go:%d:\x1b[31mx\x1b[0m y\n", i)
	})}
	out, ok := Reduce(r, o)
	if got := out.Render(r.Text, 9, testRef); !ok || !strings.HasPrefix(got, "internal/file.go:\n0:x y\n1:x y\n") || strings.Count(got, "file.go") != 1 {
		t.Errorf("%v:\n%s\nwant true and text that begins with %q", ok, got, "internal/file.go:\n0:x y\n1:x y\n")
	}
}
