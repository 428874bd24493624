package secretgen

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestShapesAreManyAndAThirdIsHeldOut(t *testing.T) {
	families, secret, clean, held := map[string]int{}, 0, 0, 0
	ids := map[string]bool{}
	for _, s := range Shapes() {
		if ids[s.ID()] {
			t.Errorf("two shapes are called %s", s.ID())
		}
		ids[s.ID()] = true
		families[s.Family]++
		if s.HeldOut {
			held++
		}
		if s.Clean {
			clean++
			continue
		}
		secret++
	}
	if secret < 250 || clean < 100 || len(families) < 10 {
		t.Errorf("%d shapes with a secret, %d without, %d families", secret, clean, len(families))
	}
	said, err := os.ReadFile("../../docs/SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("in %d shapes", secret+clean); !strings.Contains(string(said), want) {
		t.Errorf("docs/SECURITY.md does not say that secrets are drawn %s", want)
	}
	if all := secret + clean; held*4 < all || held*2 > all {
		t.Errorf("%d of %d are held out", held, all)
	}
}

func TestSeedDeterminesTextAndSecrets(t *testing.T) {
	for _, s := range Shapes() {
		a, again, b := s.Draw(1), s.Draw(1), s.Draw(2)
		if a.Text != again.Text || !slices.Equal(a.Secrets, again.Secrets) {
			t.Fatalf("%s: %q, then %q", s.ID(), a.Text, again.Text)
		}
		if s.Clean != (len(a.Secrets) == 0) {
			t.Errorf("%s has the secrets %q", s.ID(), a.Secrets)
		}
		for i, secret := range a.Secrets {
			if !strings.Contains(a.Text, secret) || len(secret) < 4 {
				t.Errorf("%s: %q is not a secret of %q", s.ID(), secret, a.Text)
			}
			if len(secret) >= 8 && secret == b.Secrets[i] {
				t.Errorf("%s: both seeds give %q", s.ID(), secret)
			}
		}
		if strings.ContainsAny(a.Text, "«»‹›␛␀") {
			t.Errorf("%s is not filled: %q", s.ID(), a.Text)
		}
	}
}

func TestHolesAreWrittenInTheFormsOfPrograms(t *testing.T) {
	for form, want := range map[string]string{
		"": "a b/c=d?", "b64": "YSBiL2M9ZD8=", "url": "a+b%2Fc%3Dd%3F", "zw": "a b/\u200bc=d?", "u16b64": "YQAgAGIALwBjAD0AZAA/AA==",
	} {
		if got := write("a b/c=d?", form); got != want {
			t.Errorf("write as %q = %q, want %q", form, got, want)
		}
	}
	if got := fold("abcdefgh", 3); got != "abc\ndef\ngh" {
		t.Errorf("fold = %q", got)
	}
	shape := Shape{Family: "f", Name: "n", text: "‹word› «pwr#a» «#a» «k={an4}\n{x}» «by3»"}
	s := shape.Draw(7)
	if len(s.Secrets) != 4 || s.Secrets[0] != s.Secrets[1] || !strings.HasPrefix(s.Secrets[2], "k=") || !strings.HasSuffix(s.Secrets[2], "\n{x}") || strings.Count(s.Secrets[3], ",") != 2 {
		t.Errorf("%q", s)
	}
}
