package redact

import (
	"slices"
	"testing"
)

func TestFormsOfASecret(t *testing.T) {
	secret := `pa"ss w/ord&1`
	forms := Forms(secret)
	for _, want := range []string{secret, `pa\"ss w/ord&1`, `pa%22ss+w%2Ford%261`, `pa&#34;ss w/ord&amp;1`, `pa\\\"ss w/ord&1`} {
		if !slices.Contains(forms, want) {
			t.Errorf("no %q in %q", want, forms)
		}
	}
	if got := Forms("ab"); !slices.Equal(got, []string{"ab"}) {
		t.Errorf("forms of what is short: %q", got)
	}
}
