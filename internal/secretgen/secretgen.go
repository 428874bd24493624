// Package secretgen makes texts with random secrets, similar to texts that agents read,
// to measure a redactor. The shapes are in the files of the folder shapes, one file per
// family. In a shape, «kind» is a secret to be drawn, and ‹kind› a harmless value.
package secretgen

import (
	"embed"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// Shape is a text with holes. See [Shape.Draw].
type Shape struct {
	Family  string // the name of its file
	Name    string // within the family
	Hard    bool   // little or no text around the secret marks it as one
	Clean   bool   // a look-alike without a secret
	HeldOut bool   // authors of rules must not look at it
	text    string
}

// ID returns family/name.
func (s Shape) ID() string { return s.Family + "/" + s.Name }

//go:embed shapes/*.txt
var files embed.FS

// Shapes returns all shapes, in the order of their files.
var Shapes = sync.OnceValue(func() []Shape {
	names, err := fs.Glob(files, "shapes/*.txt")
	if err != nil {
		panic(err)
	}
	var all []Shape
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err)
		}
		all = append(all, parse(strings.TrimSuffix(path.Base(name), ".txt"), string(text))...)
	}
	return all
})

// parse reads the shapes of a file. Each shape begins with a line "== name", with "
// !" at the end if it is hard and " -" if it is a look-alike.
func parse(family, text string) []Shape {
	var all []Shape
	for part := range strings.SplitSeq("\n"+text, "\n== ") {
		head, body, found := strings.Cut(part, "\n")
		if !found || head == "" {
			continue
		}
		s := Shape{Family: family, text: controls.Replace(strings.TrimSuffix(body, "\n"))}
		s.Name, s.Hard = strings.CutSuffix(head, " !")
		s.Name, s.Clean = strings.CutSuffix(s.Name, " -")
		s.HeldOut = hash(s.ID())%3 == 0
		all = append(all, s)
	}
	return all
}

// controls are the pictures of control characters in a file of shapes.
var controls = strings.NewReplacer("␛", "\x1b", "␀", "\x00")

func hash(s string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, s)
	return h.Sum64()
}
