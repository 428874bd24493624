package transport

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// bearer returns what stays the same of a credential whose bytes change: of a
// token that can be read its subject, of one that is known to change and says
// nothing its kind. All others are what they are.
func bearer(value string) string {
	scheme, token, ok := strings.Cut(strings.TrimSpace(value), " ")
	if !ok {
		scheme, token = "", scheme
	}
	token = strings.TrimSpace(token)
	if s := subject(token); s != "" {
		return scheme + " subject " + s
	}
	for _, kind := range rotating {
		if strings.HasPrefix(token, kind) {
			return scheme + " kind " + kind
		}
	}
	if id, _, ok := strings.Cut(token, ";"); ok && strings.HasPrefix(id, "tid=") { // GitHub Copilot's, with its end in it
		return scheme + " " + id
	}
	return value
}

// rotating are what OAuth tokens begin with that last for hours and say nothing
// of whose they are: Google's and Anthropic's. Who shares one host and project,
// or organization, is told apart by the conversation alone.
var rotating = []string{"ya29.", "sk-ant-oat"}

// passing are the claims of a token that change from one to the next.
var passing = []string{"exp", "iat", "nbf", "jti", "auth_time", "timestamp", "nonce", "at_hash", "c_hash", "s_hash", "uti", "aio", "rh"}

// maxToken is how long a token may be that is looked into, in bytes.
const maxToken = 16 << 10

// subject returns whose a JSON web token is: issuer and subject, or where there
// is none, all that does not pass. "" = it is no such token. Its signature is
// not looked at: that is the provider's to do.
func subject(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || len(token) > maxToken || claims(parts[0]) == nil {
		return ""
	}
	c := claims(parts[1])
	var id struct {
		Issuer  string `json:"iss"`
		Subject string `json:"sub"`
	}
	if _ = json.Unmarshal(c["iss"], &id.Issuer); json.Unmarshal(c["sub"], &id.Subject) == nil && id.Subject != "" {
		return id.Issuer + "\n" + id.Subject
	}
	for _, name := range passing {
		delete(c, name)
	}
	if len(c) == 0 {
		return ""
	}
	rest, err := json.Marshal(c) // in the order of the names
	if err != nil {
		return ""
	}
	return string(rest)
}

// claims reads one part of a token; nil = it is none.
func claims(part string) map[string]json.RawMessage {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(part, "="))
	if err != nil {
		return nil
	}
	var c map[string]json.RawMessage
	if json.Unmarshal(raw, &c) != nil {
		return nil
	}
	return c
}
