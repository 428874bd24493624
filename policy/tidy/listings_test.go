package tidy

import (
	"math/rand/v2"
	"testing"
)

// Going from line to line finds the folders that each line has by itself, whatever
// stands in a row.
func TestFoldersOfLinesInARow(t *testing.T) {
	pieces := []string{"a/", "b/", "./", "../", "x./", "/", "f.go", "g", "c/d/"}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		w := walk{depth: rnd.IntN(4)}
		for range 12 {
			text := ""
			for range rnd.IntN(6) {
				text += pieces[rnd.IntN(len(pieces))]
			}
			if got, want := w.folder(text), folderOf(text, w.depth); got != want {
				t.Fatalf("%q at depth %d: folder %q, want %q", text, w.depth, got, want)
			}
		}
	}
}
