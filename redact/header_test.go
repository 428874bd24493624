package redact

import (
	"encoding/base64"
	"testing"
)

func TestHeadersLoseTheirCredentials(t *testing.T) {
	pair := base64.StdEncoding.EncodeToString([]byte("alice:" + letters(9)))
	family{
		secret: samples(
			in(letters(40), `curl -H "Authorization: Bearer %s" https://api.example.com/v1/me`, "> authorization: bearer %s\n> accept: */*\n", `{"headers": {"Authorization": "Bearer %s"}}`, "Proxy-Authorization: Bearer %s", "X-Api-Key: %s\nHost: example.com\n", `{"headers": {"X-API-Key": "%s", "Accept": "*/*"}}`, "PRIVATE-TOKEN: %s"),
			in(pair, "Authorization: Basic %s", `{"Authorization":"Basic %s"}`, "authorization: basic %s\r\n"),
		),
		clean: []string{"Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "Bearer authentication is required", "the bearer of good news", "basic understanding", "Basic authentication", "WWW-Authenticate: Basic realm=\"api\"", "a Bearer token-based scheme"},
	}.check(t, newRedactor(t, Options{}))
}

func TestJSONWebTokensVanish(t *testing.T) {
	head := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))
	body := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"1234567890","iat":1516239022}`))
	family{
		secret: samples(
			in(head+"."+body+"."+letters(43), "token=%s", `{"id_token": "%s"}`, "The tool printed: %s\nDone.", "Authorization: Bearer %s", "the key session_%s has expired"),
			in(head+"."+body+".", "alg none: %s"),
		),
		clean: []string{"eyJ is how every JSON web token begins", "eyJhbGciOi.", "see eyJhbGciOiJIUzI1NiJ9 in the docs"},
	}.check(t, newRedactor(t, Options{}))
}
