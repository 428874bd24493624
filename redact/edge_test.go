package redact

import "testing"

// TestWordsAtTheEdgesOfATextAreRead has every word of the vocabulary at the first and the last
// bytes of a text, where a rule could read beyond it. Redaction must not panic, and a second
// redaction must not change the text again.
func TestWordsAtTheEdgesOfATextAreRead(t *testing.T) {
	r := newRedactor(t, Options{PII: true})
	b := defaults()
	for _, word := range b.words {
		for _, head := range []string{"", " ", "\n", "\"", "\\", "a"} {
			for _, tail := range []string{"", " ", "\n", "\"", "=", ": ", "\\", "(\"", "=\"\\", "> ", " \n ", "\r\na", " a b"} {
				once := r.Text(head + word + tail).String()
				if twice := r.Text(once).String(); twice != once {
					t.Errorf("redacting %q twice\nonce  %q\ntwice %q", head+word+tail, once, twice)
				}
			}
		}
	}
}
