package redact

import (
	"strings"
	"testing"
)

// TestRestOfATokenIsRedacted: a token longer than its rule requires is removed
// as a whole.
func TestRestOfATokenIsRedacted(t *testing.T) {
	r := &Redactor{words: vendorWords()}
	const alphabet = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
	key := "AGE-SECRET-KEY-1" + (alphabet + alphabet)[:58]
	for _, rest := range []string{"", "3JN54KHCE6", "-more_OF_it-9x8gf2", "/path"} {
		got := r.Text("identity " + key + rest + " and on").String()
		left := ""
		if strings.HasPrefix(rest, "/") { // not a byte of a token
			left = rest
		}
		if !strings.HasPrefix(got, "identity <REDACTED") || !strings.HasSuffix(got, ">"+left+" and on") {
			t.Errorf("a token with the rest %q becomes %q", rest, got)
		}
	}
}

// TestTokensAfterEscapesAreRedacted: the letter of an escape before a token does not count as
// part of the token.
func TestTokensAfterEscapesAreRedacted(t *testing.T) {
	r := &Redactor{words: vendorWords()}
	const alphabet = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
	for _, key := range []string{"AGE-SECRET-KEY-1" + (alphabet + alphabet)[:58], "dop_v1_" + hexDigits(64)} {
		for _, before := range []string{`\n`, `\r\n`, `\t`, `\\n`} {
			if got := r.Text("identity" + before + key + " and on").String(); !strings.HasPrefix(got, "identity"+before+"<REDACTED") {
				t.Errorf("a token after %q becomes %q", before, got)
			}
		}
	}
}

// TestWebhooksOfTeamsAreRedactedAsAWhole: a group that the rule repeats is a part of the secret.
func TestWebhooksOfTeamsAreRedactedAsAWhole(t *testing.T) {
	r := newRedactor(t, Options{})
	id := "0674c84b-0304-47fe-8728-c6bff46af8fc"
	url := "https://acme.webhook.office.com/webhookb2/" + id + "@" + id + "/IncomingWebhook/" + hexDigits(32) + "/" + id
	if got, want := r.Text("post to "+url+" at nine").String(), "post to <REDACTED> at nine"; got != want {
		t.Errorf("got %q", got)
	}
}
