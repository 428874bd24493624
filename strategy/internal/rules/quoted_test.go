package rules

import "testing"

// Quoted words of other people set no rule and make no request.
func TestQuotedWordsAreNotTheUsers(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{"Opposing counsel wrote:\n> You must accept the cap.\n> Never send redlines as PDF.\nDon't answer them.", "Opposing counsel wrote:\nDon't answer them."},
		{"The vendor said: “You must never use the old endpoint.” Check it.", "The vendor said: “…” Check it."},
		{"Der Anwalt schrieb „Senden Sie niemals PDF-Dateien.“ Was heißt das?", "Der Anwalt schrieb “…” Was heißt das?"},
		{"L'auteur a répondu : « il ne faut pas toucher au verrou ». Vérifie.", "L'auteur a répondu : “…”. Vérifie."},
		{"As I wrote: “Never use the old endpoint.”", "As I wrote: “Never use the old endpoint.”"},
		{"Write “Do not enter this room” on the page.", "Write “Do not enter this room” on the page."},
		{"if a > b, don't swap", "if a > b, don't swap"},
	} {
		if got := OwnWords(c.said); got != c.want {
			t.Errorf("%q: %q, want %q", c.said, got, c.want)
		}
	}
}
