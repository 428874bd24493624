package tidy

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkReduceReal measures results that tools return for the source of Go's standard
// library: its files, a search in it, and data about its packages. Unlike the samples of
// BenchmarkReduce, their lines differ.
func BenchmarkReduceReal(b *testing.B) {
	files, hits := sources(b)
	out, err := exec.Command("go", "list", "-json", "net/...", "encoding/...").Output()
	if err != nil {
		b.Fatal(err)
	}
	for _, q := range []struct {
		name string
		all  []*Result
	}{
		{"code", files},
		{"searches", []*Result{{Text: hits, Call: command("grep -rn return")}}},
		{"json", []*Result{{Text: string(out), Call: command("go list -json net/... encoding/...")}}},
	} {
		b.Run(q.name, func(b *testing.B) {
			size := 0
			for _, r := range q.all {
				size += len(r.Text)
				r.Tokens, r.Said = len(r.Text)/4, []string{"please look at `DialContext` and the read_timeout there"}
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, r := range q.all {
					fresh := *r
					Reduce(&fresh, Options{})
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N)*(1<<20)/float64(size), "ms/MB")
		})
	}
}

// sources returns the large files of packages of the standard library, and the lines of
// all files that return something.
func sources(b *testing.B) (files []*Result, hits string) {
	const large = 8 << 10
	var found strings.Builder
	of, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	root := filepath.Join(strings.TrimSpace(string(of)), "src", "net")
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if len(text) >= large {
			files = append(files, &Result{Text: string(text), Call: command("cat " + path)})
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			if n++; strings.Contains(line, "return") {
				fmt.Fprintf(&found, "%s:%d:%s", strings.TrimPrefix(path, root+"/"), n, line)
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return files, found.String()
}
