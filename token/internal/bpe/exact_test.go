package bpe

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/internal/samples"
)

func TestCountIsExactOnRandomTexts(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		rng := rand.New(rand.NewPCG(7, 9))
		for range scaled(500, samples.Of(5_000), 200_000) {
			if !s.check(t, randomText(rng, 4, 30)) {
				return
			}
		}
	})
}

// The classes of characters come from package unicode. The reference uses the
// same tables, so that both change together with a Go release.
func TestCountIsExactOnEveryCodePoint(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		step, wrong := rune(scaled(11, 2, 1)), 0
		for r := rune(0); r <= unicode.MaxRune && wrong < 10; r += step {
			if r >= 0x3100 { // after the scripts that are mixed in practice
				step = rune(scaled(601, samples.Every(61), 1))
			}
			// Between letters, after an apostrophe, and after white space at the end.
			c := string(r)
			if !s.check(t, "a"+c+"b '"+c+"s "+c) {
				wrong++
			}
		}
	})
}

func TestCountIsExactOnInvalidUTF8(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		for _, text := range []string{
			"\xff", "a\xffb", "\xe4\xb8", "\xe4\xb8a", "的\xe7\x9a", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80",
			" \x80 \x80\n", strings.Repeat("\xbf", 40), strings.Repeat("ab\xf0\x9f\x98", 20), "'\xffs", "1\x80\x812",
		} {
			s.check(t, text)
		}
	})
}

func TestCountTreatsSpecialTokensAsText(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		for _, text := range []string{"<|endoftext|>", "a<|fim_prefix|>b", "<|im_start|>user<|im_end|>"} {
			if s.check(t, text); s.enc.Count(text) < 2 {
				t.Errorf("%q counts as one token", text)
			}
		}
	})
}

func TestCountIsExactOnHardTexts(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		for name, text := range hardTexts(scaled(400, 2_000, 20_000)) {
			if !s.check(t, text) {
				t.Logf("this was: %s", name)
			}
		}
	})
}

// TestCountIsExactOnTranscripts cuts the recorded sessions at arbitrary bytes, even in
// the middle of characters.
func TestCountIsExactOnTranscripts(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		rng := rand.New(rand.NewPCG(5, 6))
		tokens, bytes, session := 0, 0, 0
		take := func() bool {
			session++
			return session <= scaled(16, math.MaxInt, math.MaxInt) && session%scaled(8, samples.Every(8), 1) == 0
		}
		for _, data := range corpus.Some(t, "chat", take) {
			text := string(data[:min(len(data), scaled(20_000, 60_000, len(data)))])
			for len(text) > 0 {
				n := min(len(text), 1+rng.IntN(4_000))
				if !s.check(t, text[:n]) {
					return
				}
				tokens += s.enc.Count(text[:n])
				bytes += n
				text = text[n:]
			}
		}
		t.Logf("%d tokens in %d bytes of %d sessions", tokens, bytes, session)
	})
}

func FuzzCountIsExact(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		f.Add(randomText(rng, 3, 12))
	}
	all, err := subjects()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 3_000)] // the reference takes quadratic time
		for _, s := range all {
			s.check(t, text)
		}
	})
}
