package token_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/agentcompact/compact/token"
)

func TestRulesOfThumbCountText(t *testing.T) {
	for text, want := range map[string][3]int{ // bytes / 4, characters, UTF-16 units
		"":          {0, 0, 0},
		"abc":       {0, 3, 3},
		"abcd":      {1, 4, 4},
		"日本語日":      {3, 4, 4},
		"😀":         {1, 1, 2},
		"a😀é":       {1, 3, 4},
		"\xff\xfea": {0, 3, 3},
		"\xf0\x9f":  {0, 2, 2},
	} {
		got := [3]int{token.Bytes4.Count(text), token.Chars.Count(text), token.UTF16.Count(text)}
		if got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestUTF16CountsTheEncodedUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		runes := make([]rune, rng.IntN(20))
		for i := range runes {
			runes[i] = rune(rng.IntN(0x11_0000))
		}
		text := string(runes)
		if got, want := token.UTF16.Count(text), len(utf16.Encode([]rune(text))); got != want {
			t.Fatalf("%q: %d units, want %d", text, got, want)
		}
	}
}

func TestForModelCountsAsTheModelDoes(t *testing.T) {
	const text = "Hello, naïve 世界! 12345 tokenization"
	counts := map[string]int{"gpt-4": 14, "gpt-4o": 11, "gpt-5.1": 11, "claude-sonnet-4": 14, "nobody-knows": 11}
	for model, want := range counts {
		c, err := token.ForModel(model)
		if err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		if got := c.Count(text); got != want {
			t.Errorf("%s: %d tokens, want %d", model, got, want)
		}
	}
}

func TestForEncodingGivesOneCounterForEachName(t *testing.T) {
	for _, name := range []string{token.CL100K, token.O200K} {
		a, errA := token.ForEncoding(name)
		b, errB := token.ForEncoding(name)
		if errA != nil || errB != nil || a != b {
			t.Errorf("%s: %v and %v, %v and %v", name, a, b, errA, errB)
		}
	}
	harmony, err := token.ForEncoding("o200k_harmony")
	if err != nil || harmony.Count("hello world") != 2 {
		t.Errorf("o200k_harmony: %v", err)
	}
}

func TestForEncodingNamesThePackageThatIsMissing(t *testing.T) {
	_, err := token.ForEncoding("p50k_base")
	if !errors.Is(err, token.ErrUnknownEncoding) || !strings.Contains(err.Error(), "token/tiktoken") {
		t.Errorf("the error is %v", err)
	}
	if _, err := token.ForModel("text-davinci-003"); !errors.Is(err, token.ErrUnknownEncoding) {
		t.Errorf("a model of that encoding: %v", err)
	}
}

var registrations int

func TestRegisteredEncodingIsOpenedOnce(t *testing.T) {
	registrations++ // a name for every -count
	name := fmt.Sprint("test_encoding_", registrations)
	opened, fail := 0, true
	token.Register(name, func() (token.Counter, error) {
		if opened++; fail {
			return nil, errors.New("not yet")
		}
		return token.Chars, nil
	})
	if _, err := token.ForEncoding(name); err == nil {
		t.Error("an encoding that can't be opened was returned")
	}
	fail = false
	for range 3 {
		if c, err := token.ForEncoding(name); err != nil || c != token.Chars {
			t.Fatalf("%v, %v", c, err)
		}
	}
	if opened != 2 {
		t.Errorf("opened %d times, want once after the failure", opened)
	}
	defer func() {
		if recover() == nil {
			t.Error("a second registration of a name did not panic")
		}
	}()
	token.Register(name, nil)
}
