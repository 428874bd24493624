package bpe

import (
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	tiktoken "github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// A subject is an encoding and the reference that it must equal.
type subject struct {
	name string
	enc  *Encoding
	want func(text string) int // the number of tokens by tiktoken-go
}

var subjects = sync.OnceValues(func() ([]subject, error) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	all := []subject{{name: "cl100k_base", enc: CL100K}, {name: "o200k_base", enc: O200K}}
	for i := range all {
		reference, err := tiktoken.GetEncoding(all[i].name)
		if err != nil {
			return nil, err
		}
		all[i].want = func(text string) int { return len(reference.EncodeOrdinary(text)) }
	}
	return all, nil
})

// each runs a test for each encoding.
func each(t *testing.T, f func(t *testing.T, s subject)) {
	all, err := subjects()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) { f(t, s) })
	}
}

// check compares the counts of one text, and reports whether they are equal.
func (s subject) check(t *testing.T, text string) bool {
	t.Helper()
	got, want := s.enc.Count(text), s.want(text)
	if got != want {
		t.Errorf("%d tokens, tiktoken-go makes %d, of %.200q (%d bytes)", got, want, text, len(text))
	}
	return got == want
}

// scaled returns the amount of work of a test: with -short, by default, and in
// the full sweeps of COMPACT_SOAK (make soak).
func scaled(short, usual, soak int) int {
	switch {
	case os.Getenv("COMPACT_SOAK") != "":
		return soak
	case testing.Short():
		return short
	}
	return usual
}

// alphabets are the sources of random texts. Each one is hard for some part of a
// pattern.
var alphabets = []string{
	"abcdefghijklmnopqrstuvwxyz", "aA", "ABC def", "etaoin shrdlu", "'sStTrReEvVmMlLdD ", "0123٣४ ", "snake_case camelCase",
	" \n\t\r", "\u2028\u00a0\u3000\u0085 x", "()[]{}/\\<>=-_*#\"'", "/\n;", "\u0301\u0300aB ", "ʰʱǅǈ",
	"的一是不了人我在有他这为之大来以个中上们", "éèüñßĳ", "абвгдежз", "가나다라마바사", "กขฃคฅฆ", "😀🎉👍🏽\u200d❤️", "\u0000\u007f\u0080\ufeff",
	"Kſİı", "\ufffd\ue000\U0010ffff",
}

// randomText returns a text of a few runs, each from one alphabet, with
// occasional random bytes between them.
func randomText(rng *rand.Rand, runs, length int) string {
	var b strings.Builder
	for range 1 + rng.IntN(runs) {
		alphabet := []rune(alphabets[rng.IntN(len(alphabets))])
		if rng.IntN(10) == 0 {
			b.WriteByte(byte(rng.Uint32()))
		}
		for range rng.IntN(length) {
			b.WriteRune(alphabet[rng.IntN(len(alphabet))])
		}
	}
	return b.String()
}
