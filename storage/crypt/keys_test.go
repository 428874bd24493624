package crypt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
)

func TestInvalidRecipientsAreMistakes(t *testing.T) {
	p := newPair(t)
	for _, c := range []struct{ recipient, says string }{
		{"", "a text of 0 characters"},
		{"age1nonsense", `"age1nonsense" is not a recipient`},
		{"ssh-ed25519 AAAA", "a text of 16 characters"},
		{p.identity, "is a secret identity"},
		{strings.ToLower(p.identity), "is a secret identity"},
		{"'" + p.identity + "'", "is a secret identity"},
		{"identity: " + p.identity, "is a secret identity"},
		{strings.TrimPrefix(p.identity, "AGE-"), "is a secret identity"},
		{p.identity[16:], "does not begin with age1"},
		{p.recipient + "," + p.identity, "is a secret identity"},
		{p.recipient + " " + p.identity[16:], `age1`},
		{p.recipient + p.identity[16:], `…" is not a recipient`},
		{p.recipient + strings.ToLower(p.identity[16:]), `…" is not a recipient`},
	} {
		_, err := crypt.NewKeys([]string{c.recipient}, "")
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(strings.ToUpper(err.Error()), p.identity[16:30]) {
			t.Errorf("%.20q: %v, want an error with %q", c.recipient, err, c.says)
		}
	}
	if _, err := crypt.NewKeys(nil, ""); err == nil || !strings.Contains(err.Error(), "storage.encrypt.recipients") {
		t.Errorf("no recipient: %v, want an error with %q", err, "storage.encrypt.recipients")
	}
}

func TestInvalidIdentitiesAreMistakes(t *testing.T) {
	p := newPair(t)
	broken := p.identity[:len(p.identity)-1]
	for _, text := range []string{broken, "# only a comment\n", "nonsense", p.identity + ",x"} {
		_, err := crypt.NewKeys([]string{p.recipient}, text)
		if err == nil || !strings.Contains(err.Error(), crypt.IdentityVariable) || strings.Contains(err.Error(), "holds no") || strings.Contains(err.Error(), broken) {
			t.Errorf("%.20q: %v, want an error, an error with %q, an error without %q and an error without %q", text, err, crypt.IdentityVariable, "holds no", broken)
		}
	}
}

// TestIdentitiesOfTheEnvironment: the variable holds the file as age-keygen writes
// it, or is not set.
func TestIdentitiesOfTheEnvironment(t *testing.T) {
	p, name := newPair(t), filepath.Join(t.TempDir(), "key.txt")
	t.Setenv(crypt.IdentityVariable, "")
	t.Setenv(crypt.IdentityFileVariable, "")
	identity := func() (*crypt.Keys, error) {
		text, err := crypt.IdentityText()
		if err != nil {
			return nil, err
		}
		return crypt.NewKeys([]string{p.recipient}, text)
	}
	if k, err := identity(); err != nil || k.CanRead() {
		t.Errorf("none: %v, %v", k, err)
	}
	t.Setenv(crypt.IdentityFileVariable, name)
	if _, err := identity(); err == nil || !strings.Contains(err.Error(), crypt.IdentityFileVariable) {
		t.Errorf("a missing file: %v", err)
	}
	must(t, os.WriteFile(name, nil, 0o600))
	if _, err := identity(); err == nil {
		t.Error("an empty file of identities returns no error")
	}
	must(t, os.WriteFile(name, []byte("# created: today\n# public key: "+p.recipient+"\n"+p.identity+"\n"), 0o600))
	if k, err := identity(); err != nil || !k.CanRead() {
		t.Errorf("a file of age-keygen: %v, %v", k, err)
	}
	t.Setenv(crypt.IdentityVariable, p.identity)
	k, err := identity()
	if err != nil || !k.CanRead() {
		t.Errorf("the variable: %v, %v", k, err)
	}
	t.Setenv(crypt.IdentityVariable, " \n")
	if k, err := identity(); err != nil || !k.CanRead() {
		t.Errorf("a blank variable hides the file: %v, %v", k, err)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", k, k, k, k); strings.Contains(text, p.identity[16:]) {
		t.Errorf("formatting the keys prints the identity: %s", text)
	}
}

func TestRecipientsInAFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "recipients")
	must(t, os.WriteFile(name, []byte("# the team\nage1a\n\n  age1b  \n"), 0o600))
	got, err := crypt.RecipientsIn(name)
	if err != nil || strings.Join(got, " ") != "age1a age1b" {
		t.Errorf("%q, %v, want the two recipients and no error", got, err)
	}
}

// TestTryReadsWithTheIdentity: Try must not use its own knowledge of the written
// data.
func TestTryReadsWithTheIdentity(t *testing.T) {
	mine, other := newPair(t), newPair(t)
	must(t, keys(t, mine.identity, mine).Try(t.Context()))
	must(t, keys(t, "", mine).Try(t.Context()))
	if err := keys(t, other.identity, mine).Try(t.Context()); !errors.Is(err, storage.ErrNoIdentity) {
		t.Errorf("a foreign identity: %v, want ErrNoIdentity", err)
	}
}
