package redact

import (
	"fmt"
	"strings"
	"testing"
)

const calledSo = "sess_BZt7nQw3KxL9mP2vR8sYd"

func named(t *testing.T, also ...Text) *Session {
	t.Helper()
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Session(append([]Text{r.Text(calledSo)}, also...)...)
}

// After a weak word, the name of a session is not one of its secrets.
func TestNamesAreNoSecretsForAWeakWord(t *testing.T) {
	for _, text := range []string{
		"session: " + calledSo, "session=" + calledSo + "; path=/", "key: " + calledSo,
		"- it has “session: " + calledSo + "” and more", "“key=" + calledSo + "”.",
		`{"session":"` + calledSo + `","agent":"x"}`, `{"more":"{\"sid\":\"` + calledSo + `\"}"}`, `{"out":"cookie: ` + calledSo + `"}`,
	} {
		s := named(t)
		if got := s.Text(text).String(); got != text {
			t.Errorf("%s became %s", text, got)
		}
		if r := s.r; r.Text(text).String() == text {
			t.Errorf("%s tests nothing: it is not redacted without a name either", text)
		}
		s.Learn([]byte(text))
		if again := "see " + calledSo; s.Text(again).String() != again {
			t.Errorf("a name was learned from %s", text)
		}
	}
}

// A value that the text calls a password, a token or a key is a secret, even if it is a
// name.
func TestNamesAfterPasswordLabelsAreSecrets(t *testing.T) {
	for _, text := range []string{
		"password: " + calledSo, "API_TOKEN=" + calledSo, "api_key=" + calledSo, `{"password":"` + calledSo + `"}`, `{"access_token":"` + calledSo + `"}`,
	} {
		s := named(t)
		if got := s.Text(text).String(); strings.Contains(got, calledSo) {
			t.Errorf("the name in %s is not redacted", text)
		}
		if got := s.Text("and so " + calledSo).String(); strings.Contains(got, calledSo) {
			t.Errorf("the name was not learned from %s", text)
		}
		line := `{"session":"` + calledSo + `","text":"of it"}`
		if got := s.JSON([]byte(line)).String(); got != line {
			t.Errorf("after %s the name of the session is redacted: %s, want %s", text, got, line)
		}
	}
}

func TestOtherIDsThanTheNamesStaySecrets(t *testing.T) {
	other := strings.ToUpper(calledSo[:10]) + calledSo[10:]
	for _, text := range []string{"session: " + other, `{"session":"` + other + `"}`, "session: " + calledSo + "Xz9", `{"session":"x` + calledSo + `"}`} {
		if got := named(t).Text(text).String(); got == text {
			t.Errorf("the id in %s is not redacted", text)
		}
	}
}

// The first name is the session's, and is never forgotten.
func TestNamesAreBounded(t *testing.T) {
	s := named(t)
	r := s.r
	for i := range 3 * maxNames {
		s.Name(r.Text(fmt.Sprintf("agent %d", i)))
	}
	if n := len(s.names.list); n != maxNames {
		t.Errorf("%d names are known, want %d", n, maxNames)
	}
	if !s.names.whole(calledSo) || !s.names.whole(fmt.Sprintf("agent %d", 3*maxNames-1)) || s.names.whole("agent 0") {
		t.Errorf("the known names are %q", s.names.list)
	}
}
