package tidy

import (
	"math/rand/v2"
	"testing"
)

// The incremental search finds the same folder for a line as folderOf, in any order of
// lines.
func TestWalkMatchesFolderOf(t *testing.T) {
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
