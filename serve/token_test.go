package serve

import (
	"net/http/httptest"
	"testing"
)

// A provider's path takes the token from its own header alone, because the other headers
// belong to the provider. The handler's own paths take it as a bearer token or a password,
// too. The own header wins.
func TestTheTokenIsTakenFromTheRightHeader(t *testing.T) {
	for name, c := range map[string]struct {
		header, bearer, password string
		own, provider            bool
	}{
		"nothing":                       {"", "", "", false, false},
		"the header":                    {"t", "", "", true, true},
		"another token in the header":   {"u", "", "", false, false},
		"a bearer token":                {"", "bearer t", "", true, false},
		"another bearer token":          {"", "Bearer u", "", false, false},
		"another scheme":                {"", "Token t", "", false, false},
		"a scheme alone":                {"", "Bearer", "", false, false},
		"a password":                    {"", "", "t", true, false},
		"another password":              {"", "", "u", false, false},
		"the header beside a key":       {"t", "Bearer sk-1", "", true, true},
		"another header, a right token": {"u", "Bearer t", "", false, false},
		"another header, a password":    {"u", "", "t", false, false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		if c.header != "" {
			r.Header.Set(tokenHeader, c.header)
		}
		if c.bearer != "" {
			r.Header.Set("Authorization", c.bearer)
		}
		if c.password != "" {
			r.SetBasicAuth("anyone", c.password)
		}
		h := &Handler{cfg: Config{Token: "t"}}
		if own, provider := h.allowed(r, true), h.allowed(r, false); own != c.own || provider != c.provider {
			t.Errorf("%s: %v on its own paths, %v on a provider's; want %v and %v", name, own, provider, c.own, c.provider)
		}
		if open := (&Handler{}); !open.allowed(r, true) || !open.allowed(r, false) {
			t.Errorf("%s: refused, although no token is required", name)
		}
	}
}
