package transport

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// bearer returns the stable part of a credential: the subject of a readable
// token, the id of GitHub Copilot's token, or the prefix of an opaque token
// that is known to rotate. It returns any other value unchanged.
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
	if id, _, ok := strings.Cut(token, ";"); ok && strings.HasPrefix(id, "tid=") { // GitHub Copilot's token, which holds its expiry
		return scheme + " " + id
	}
	return value
}

// rotating are prefixes of opaque OAuth tokens that last for hours: Google's and Anthropic's. Users
// with such tokens and the same host and project or organization can be distinguished only by their
// conversations.
var rotating = []string{"ya29.", "sk-ant-oat"}

// passing are the claims that differ between tokens of the same owner.
var passing = []string{"exp", "iat", "nbf", "jti", "auth_time", "timestamp", "nonce", "at_hash", "c_hash", "s_hash", "uti", "aio", "rh"}

// maxToken is the size in bytes above which a token is not parsed.
const maxToken = 16 << 10

// subject returns the owner of a JSON web token: issuer and subject, or else
// all stable claims; "" = not such a token. The signature is not verified,
// because the provider does that.
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
	rest, err := json.Marshal(c) // sorted by name
	if err != nil {
		return ""
	}
	return string(rest)
}

// claims parses one part of a token; nil if it is not a JSON object in base64.
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
