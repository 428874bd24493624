package bpe

import (
	"maps"
	"slices"
	"testing"
)

func BenchmarkLoad(b *testing.B) {
	for name, packed := range map[string]string{"cl100k_base": cl100kPacked, "o200k_base": o200kPacked} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				load(packed)
			}
		})
	}
	b.Run("classes", func(b *testing.B) {
		for b.Loop() {
			newClasses()
		}
	})
}

// BenchmarkHardTexts counts 100 kB of each hard text: no text should take 30 ms.
func BenchmarkHardTexts(b *testing.B) {
	texts := hardTexts(100_000)
	for _, e := range []struct {
		name string
		enc  *Encoding
	}{{"cl100k_base", CL100K}, {"o200k_base", O200K}} {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			b.Run(e.name+"/"+name, func(b *testing.B) {
				e.enc.Count(texts[name])
				b.SetBytes(int64(len(texts[name])))
				for b.Loop() {
					e.enc.Count(texts[name])
				}
			})
		}
	}
}

// BenchmarkWidestWindows counts 100 kB of a text that was constructed to need the
// widest windows.
func BenchmarkWidestWindows(b *testing.B) {
	text := []byte(hardTexts(100_000)["random letters"])
	v, p := O200K.load(), newParts(widest)
	for b.Loop() {
		if _, ok := v.sweep(p, text); !ok {
			b.Fatal("a check of a seam failed")
		}
	}
}
