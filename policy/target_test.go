package policy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentcompact/compact/policy"
)

// named returns the text after the size in a placeholder for a call with these arguments.
func named(t *testing.T, args string) string {
	t.Helper()
	out, _ := maskAll(t, policy.Mask{Form: policy.FormCall}, false, ran(args, "x")...)
	_, text, _ := strings.Cut(out.Messages()[2].ResultText(), " chars · ")
	return text
}

func command(text string) string {
	args, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		panic(err)
	}
	return string(args)
}

// Redaction recognizes a key only in its whole form. A placeholder must therefore hold
// neither half a key nor a key without its line breaks.
func TestPlaceholderOmitsKeys(t *testing.T) {
	token := "ghp_" + strings.Repeat("q0Zk3x", 6)
	block := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEA", 4) + "\n-----END RSA " + "PRIVATE KEY-----\n"
	for name, text := range map[string]string{
		"a key in a here-document": "cat > k.pem <<'E'\n" + block + "E",
		"a key on a line":          "printf '" + strings.ReplaceAll(block, "\n", `\n`) + "' > k.pem",
		"a token at the end":       "echo " + strings.Repeat("x", 75) + " && x " + token,
		"a token after a sign":     "echo " + strings.Repeat("x", 70) + " && x t=" + token,
	} {
		got := named(t, command(text))
		if strings.Contains(got, "MIIEow") || strings.Contains(got, "q0Zk3x") || !strings.HasSuffix(got, `…"]`) {
			t.Errorf("%s: the placeholder has a part of the key: %s", name, got)
		}
	}
	if got := named(t, command("x "+token)); !strings.Contains(got, token) {
		t.Errorf("the placeholder omits a whole token, which redaction recognizes: %s", got)
	}
}

// A target ends before the sign that separates lines. Otherwise the text after the sign
// would look like another command.
func TestTargetEndsBeforeALineBreakSign(t *testing.T) {
	for text, want := range map[string]string{
		"echo a ⏎ rm -r b": `bash "echo a…"]`,
		"echo a · exit 0":  `bash "echo a…"]`,
		"⏎":                "bash]",
		"a\nb ⏎ c\nd":      `bash "a ⏎ b…"]`,
		"a ⏎ -----BEGIN b": `bash "a…"]`,
		"-----BEGIN b ⏎ c": `bash "-----BEGIN…"]`,
	} {
		if got := named(t, command(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// A description says what a call is for, not what it works on.
func TestADescriptionIsNoTarget(t *testing.T) {
	for args, want := range map[string]string{
		`{"description":"List the files","zone":"eu"}`: `bash "eu"]`,
		`{"area":"","zone":"eu"}`:                      `bash "eu"]`,
		`{"description":"List the files"}`:             "bash]",
	} {
		if got := named(t, args); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// If two arguments have the same name, programs use the last one.
func TestTargetUsesTheLastOfTwoArgumentsWithOneName(t *testing.T) {
	if got := named(t, `{"command":"true","timeout":3,"command":"pytest"}`); got != `bash "pytest"]` {
		t.Errorf("the placeholder names %q, want %q", got, `bash "pytest"]`)
	}
}

// Arguments that are not an object have no names, so none of their texts is the target.
func TestTargetIsTheValueOfANamedArgument(t *testing.T) {
	if got := named(t, `["command","rm -r a"]`); got != "bash]" {
		t.Errorf("the placeholder names %q, want %q", got, "bash]")
	}
}
