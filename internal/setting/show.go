package setting

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
)

// maxShown is the maximum number of bytes of a value in an error.
const maxShown = 80

// Raw is a value that is shown without quotes.
type Raw string

// Show returns a value in the form in which a configuration states it, without a
// password in a URL.
func Show(v any) string {
	s, ok := text(v)
	if !ok {
		return clip(fmt.Sprint(v))
	}
	if u, err := url.Parse(s); err == nil && u.User != nil {
		s = u.Redacted()
	} else if strings.Contains(s, "://") && strings.Contains(s, "@") {
		return "a URL that can't be read"
	}
	return clip(fmt.Sprintf("%q", s))
}

// text returns the value of any string type.
func text(v any) (string, bool) {
	if _, raw := v.(Raw); raw {
		return "", false
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.String {
		return "", false
	}
	return r.String(), true
}

func clip(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}
