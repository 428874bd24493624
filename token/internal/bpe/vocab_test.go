package bpe

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go-loader/assets"

	"github.com/agentcompact/compact/internal/samples"
)

func TestVocabularyHoldsEachTokenOfTheSource(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		source, err := assets.Assets.ReadFile(s.name + ".tiktoken")
		if err != nil {
			t.Fatal(err)
		}
		v, lines := s.enc.load(), 0
		reference := newNaive(v)
		for line := range strings.Lines(string(source)) {
			text, number, ok := strings.Cut(strings.TrimSpace(line), " ")
			if !ok {
				continue
			}
			lines++
			token, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			want, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := reference.ranks[string(token)]; !ok || int(got) != want {
				t.Fatalf("token %d, %q, is unpacked as %d (found: %v)", want, token, got, ok)
			}
			if !v.has(token) {
				t.Fatalf("token %d, %q, is not found by its text", want, token)
			}
		}
		if lines != v.size {
			t.Errorf("%d tokens, the source has %d", v.size, lines)
		}
	})
}

func TestVocabularyHoldsNothingElse(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		v := s.enc.load()
		reference := newNaive(v)
		for _, piece := range pieces(samples.Of(20_000), 8) {
			if _, want := reference.ranks[piece]; v.has([]byte(piece)) != want {
				t.Fatalf("%q is a token: %v, want %v", piece, !want, want)
			}
		}
	})
}
