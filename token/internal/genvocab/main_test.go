package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestPackedVocabulariesEqualTheGeneratorsOutput(t *testing.T) {
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		dir := t.TempDir()
		if err := generate(name, dir); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(dir, name+".bin"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "bpe", name+".bin"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the committed file differs from the packed vocabulary; run go run ./token/internal/genvocab", name)
		}
	}
}

func TestGeneratorRefusesUnsupportedVocabularies(t *testing.T) {
	single := make([]string, 256)
	for i := range single {
		single[i] = string([]byte{byte(i)})
	}
	for name, tokens := range map[string][]string{
		"a long token among the first 256": append([]string{"ab"}, single[1:]...),
		"a single byte after them":         append(append([]string{}, single...), "a"),
		"a token that no merge produces":   append(append([]string{}, single...), "abc"),
	} {
		if _, err := pack(tokens); err == nil {
			t.Errorf("%s was packed", name)
		}
	}
	if _, err := parse("YQ== 1\n"); err == nil {
		t.Error("a vocabulary that does not begin with rank 0 was read")
	}
}
