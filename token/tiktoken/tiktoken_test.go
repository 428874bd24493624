package tiktoken_test

import (
	"testing"

	"github.com/agentcompact/compact/token"
	_ "github.com/agentcompact/compact/token/tiktoken"
)

func TestImportRegistersTheOlderEncodings(t *testing.T) {
	// The counts come from OpenAI's tiktoken.
	for encoding, want := range map[string]int{"p50k_base": 6, "p50k_edit": 6, "r50k_base": 6, "gpt2": 6} {
		c, err := token.ForEncoding(encoding)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Count("tiktoken is great!"); got != want {
			t.Errorf("%s: %d tokens, want %d", encoding, got, want)
		}
	}
}

func TestImportMakesTheOlderModelsCountable(t *testing.T) {
	for _, model := range []string{"text-davinci-003", "code-davinci-edit-001", "davinci", "gpt2"} {
		c, err := token.ForModel(model)
		if err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		if n := c.Count("hello world"); n != 2 {
			t.Errorf("%s: %d tokens, want 2", model, n)
		}
	}
}

func TestWhiteSpaceIsCheaperInP50KThanInR50K(t *testing.T) {
	p50k, errP := token.ForEncoding("p50k_base")
	r50k, errR := token.ForEncoding("r50k_base")
	if errP != nil || errR != nil {
		t.Fatal(errP, errR)
	}
	const indented = "if x:\n                return 1"
	if p, r := p50k.Count(indented), r50k.Count(indented); p >= r {
		t.Errorf("%d tokens in p50k_base, %d in r50k_base: its long runs of spaces are missing", p, r)
	}
}
