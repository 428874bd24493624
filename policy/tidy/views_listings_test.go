package tidy

import (
	"strings"
	"testing"
)

// filesIn returns n files of a folder.
func filesIn(folder, ext string, n int) []string { return numbered(folder+"file%d"+ext, 1, n) }

func TestReduceListing(t *testing.T) {
	find := command("find . -type f")
	compare(t, "listings", []view{
		{name: "twenty files of each folder", call: find, large: 320, text: together(filesIn("./a/", ".go", 60), filesIn("./b/", ".md", 21), filesIn("./c/", ".md", 22)), want: lines("[tidied — counts by folder, 88 of 103 lines left out]", "./a/file1.go", "./a/file2.go", "./a/file3.go", "./a/file4.go", "./a/file5.go", "./a/⋮ 55 more: 55 .go", "./b/file1.md", "./b/file2.md", "./b/file3.md", "./b/file4.md", "./b/file5.md", "./b/⋮ 16 more: 16 .md", "./c/file1.md", "./c/file2.md", "./c/file3.md", "./c/file4.md", "./c/file5.md", "./c/⋮ 17 more: 17 .md")},
		{name: "five files of each folder", call: find, large: 100, text: together(filesIn("./a/", ".go", 30), filesIn("./b/", ".md", 7), filesIn("./c/", ".txt", 6)), want: lines("[tidied — counts by folder, 40 of 43 lines left out]", "./a/file1.go", "./a/⋮ 29 more: 29 .go", "./b/file1.md", "./b/⋮ 6 more: 6 .md", "./c/file1.txt", "./c/⋮ 5 more: 5 .txt")},
		{name: "no line for one file", call: find, large: 45, text: together(filesIn("./a/", ".go", 20), filesIn("./b/", ".md", 2), filesIn("./c/", ".txt", 3)), want: lines("[tidied — counts by folder, 18 of 25 lines left out]", "./a/file1.go", "./a/file2.go", "./a/⋮ 18 more: 18 .go", "./b/file1.md", "./b/file2.md", "./c/file1.txt", "./c/file2.txt", "./c/file3.txt")},
		{name: "one file of each folder", call: find, said: "`file17` and `File3`", large: 45, text: together(filesIn("./a/", ".go", 20), filesIn("./b/c/", ".md", 9), filesIn("./b/d/", ".txt", 2), []string{"./b/d/error: gone.txt"}), want: lines("[tidied — counts by folder, 27 of 32 lines left out]", "./a/file1.go", "./a/file2.go", "./a/file17.go", "./a/⋮ 17 more: 17 .go", "./b/c/file1.md", "./b/c/file2.md", "./b/⋮ 10 more: 7 .md 3 .txt")},
		{name: "six files for a word of the task", call: find, said: "`load_last`", large: 200, text: together(filesIn("./a/", ".go", 40), filesIn("./a/load_last.", ".go", 12)), want: together([]string{"[tidied — counts by folder, 41 of 52 lines left out]"}, filesIn("./a/", ".go", 5), filesIn("./a/load_last.", ".go", 6), []string{"./a/⋮ 41 more: 41 .go"})},
		{name: "folders of five names", call: find, large: 105, text: together(filesIn("./a/b/c/d/e/f/", ".go", 9), filesIn("./a/b/c/d/e/g/", ".go", 9), filesIn("./a/b/c/d/x/", ".go", 9)), want: lines("[tidied — counts by folder, 24 of 27 lines left out]", "./a/b/c/d/e/f/file1.go", "./a/b/c/d/e/f/⋮ 8 more: 8 .go", "./a/b/c/d/e/g/file1.go", "./a/b/c/d/e/g/⋮ 8 more: 8 .go", "./a/b/c/d/x/file1.go", "./a/b/c/d/x/⋮ 8 more: 8 .go")},
		{name: "folders of one name", call: find, large: 20, text: together(filesIn("./a/b/", ".go", 9), filesIn("./a/c/", ".md", 9), filesIn("./a/d/", ".txt", 9)), want: lines("[tidied — counts by folder, 25 of 27 lines left out]", "./a/b/file1.go", "./a/b/file2.go", "./a/⋮ 25 more: 9 .md 9 .txt 7 .go")},
		{name: "endings", call: find, large: 20, text: lines("a/a_name_that_is_long.go", "a/another_name_that_is_longer.go", "a/x.go", "a/y.go", "a/1.md", "a/2.md", "a/3.md", "a/4.txt", "a/5.txt", "a/6.txt", "a/7.txt", "a/Makefile", "a/.gitignore", "a/d.json", "a/LICENSE", "a/a.name_with_a_long_ending", "a/b.yaml",
			"a/c.yaml", "a/d.yaml", "a/e.yaml", "a/f.yaml", "a/g.yaml", "a/h.yaml"), want: lines("[tidied — counts by folder, 21 of 23 lines left out]", "a/a_name_that_is_long.go", "a/another_name_that_is_longer.go", "a/⋮ 21 more: 7 .yaml 4 .txt 3 .md 3 without ending …")},
		{name: "four endings", call: find, large: 20, text: together([]string{"a/x", "a/y"}, filesIn("a/", ".go", 9), filesIn("a/", ".md", 8), filesIn("a/", ".js", 7), filesIn("a/", "", 6)), want: lines("[tidied — counts by folder, 30 of 32 lines left out]", "a/x", "a/y", "a/⋮ 30 more: 9 .go 8 .md 7 .js 6 without ending")},
		{name: "nineteen files", call: find, large: 20, text: together(filesIn("./a/long/", ".go", 19)), want: "whole"},
		{name: "words of the command around the list", call: find, large: 30, text: together([]string{"Chunk ID: 1", "Output:"}, filesIn("./a/", ".go", 30), []string{"", "Process exited with code 0"}), want: lines("[tidied — counts by folder, 29 of 34 lines left out]", "Chunk ID: 1", "Output:", "./a/file1.go", "./a/⋮ 29 more: 29 .go", "", "Process exited with code 0")},
		{name: "two of twenty lines are no paths", call: find, large: 20, text: together(filesIn("./a/long/", ".go", 18), []string{"permission denied, you see", "or so it seems"}), want: lines("[tidied — counts by folder, 16 of 20 lines left out]", "./a/long/file1.go", "./a/long/file2.go", "./a/⋮ 16 more: 16 .go", "permission denied, you see", "or so it seems")},
		{name: "folders that could not be read", call: find, large: 60, text: together(filesIn("./a/", ".go", 40), numbered("find: './private%d': Permission denied", 1, 4)), want: lines("[tidied — counts by folder, 38 of 44 lines left out]", "./a/file1.go", "./a/file2.go", "./a/⋮ 38 more: 38 .go", "find: './private1': Permission denied", "find: './private2': Permission denied", "find: './private3': Permission denied", "find: './private4': Permission denied")},
		{name: "three of twenty lines are no paths", call: find, large: 20, text: together(filesIn("./a/long/", ".go", 17), []string{"some words", "or so it seems", "and no more"}), want: "whole"},
		{name: "names without a folder", call: command("ls"), large: 20, text: together(filesIn("a_file_in_this_folder_", ".go", 24)), want: "whole"},
		{name: "a file that was read", call: reading("/list.txt"), large: 20, text: together(filesIn("./a/", ".go", 40)), want: "whole"},
		{name: "a tool that finds files", call: Call{Tool: "find", Args: []byte(`{"pattern":"*.go"}`)}, large: 20, text: together(filesIn("./a/", ".go", 40)), want: lines("[tidied — counts by folder, 39 of 40 lines left out]", "./a/file1.go", "./a/⋮ 39 more: 39 .go")},
		{name: "a tool that lists a folder", call: Call{Tool: "ListFiles", Args: []byte(`{"path":"/src"}`)}, large: 20, text: together(filesIn("./a/", ".go", 40)), want: lines("[tidied — counts by folder, 39 of 40 lines left out]", "./a/file1.go", "./a/⋮ 39 more: 39 .go")},
	})
}

func TestFolderOfReturnsTheFolderOfALine(t *testing.T) {
	for _, tc := range []struct {
		text  string
		depth int
		want  string
	}{
		{"a/b/c.go", 0, ""}, {"a/b/c.go", 1, "a/"}, {"a/b/c.go", 2, "a/b/"}, {"a/b/c.go", 9, "a/b/"}, {"a/b/", 9, "a/"}, {"a", 9, ""}, {"", 9, ""},
		{"./a/b.go", 1, "./a/"}, {"../a/b.go", 1, "../a/"}, {"./b.go", 1, "./"}, {"/usr/lib/x", 1, "/usr/"}, {"/x", 1, "/"},
	} {
		if got := folderOf(tc.text, tc.depth); got != tc.want {
			t.Errorf("folderOf(%q, %d) = %q, want %q", tc.text, tc.depth, got, tc.want)
		}
	}
	for folder, want := range map[string]int{"": 0, "./": 0, "/": 0, "a/": 1, "./a/": 1, "a/b/": 2, "/usr/lib/": 2, "../a/": 1} {
		if got := names(folder); got != want {
			t.Errorf("names(%q) = %d, want %d", folder, got, want)
		}
	}
	for name, want := range map[string]string{"a.go": ".go", "a": "", ".gitignore": "", "a.tar.gz": ".gz", "a." + strings.Repeat("x", 11): "." + strings.Repeat("x", 11), "a." + strings.Repeat("x", 12): ""} {
		if got := endingOf(name); got != want {
			t.Errorf("endingOf(%q) = %q, want %q", name, got, want)
		}
	}
}
