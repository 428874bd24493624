package transport

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agentcompact/compact/message"
)

// processKey is the secret key for the names of unnamed sessions. It is random, so
// that no other process derives the same names.
var processKey = sync.OnceValue(func() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return key
})

// origin returns a keyed hash, 32 hex digits, of the host, the owner and the
// first user message of a request. The system prompt is not part of it, because
// it can hold a clock.
func origin(key []byte, req *http.Request, user string, first *message.Message) string {
	mac := hmac.New(sha256.New, key)
	field := func(s string) {
		mac.Write(strconv.AppendInt(nil, int64(len(s)), 10))
		mac.Write([]byte{':'})
		mac.Write([]byte(s))
	}
	field(req.URL.Host)
	field(req.Host)
	field(project(req.URL.Path))
	field(user)
	for _, s := range tenant(req) {
		field(s)
	}
	if first != nil {
		fp := first.Fingerprint()
		mac.Write([]byte{1})
		mac.Write(fp[:])
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// project returns the project in a path of Google's APIs.
func project(path string) string {
	_, rest, ok := strings.Cut(path, "/projects/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// telling are parts of header names that identify a tenant: API keys, and
// headers of gateways and proxies.
var telling = []string{"authorization", "api-key", "apikey", "subscription-key", "auth-token", "access-token", "organization", "account-id", "project", "tenant"}

// tenant returns the values that identify a tenant of a host: the sorted names
// and values of the headers that telling matches, and keys in the query.
func tenant(req *http.Request) (out []string) {
	for name := range req.Header {
		lower := strings.ToLower(name)
		if slices.ContainsFunc(telling, func(piece string) bool { return strings.Contains(lower, piece) }) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	names := slices.Clone(out)
	for _, name := range names {
		out = append(out, strconv.Itoa(len(req.Header[name])))
		for _, value := range req.Header[name] {
			out = append(out, bearer(value))
		}
	}
	query := req.URL.Query()
	for _, name := range []string{"key", "api_key", "api-key"} {
		out = append(out, query.Get(name))
	}
	return out
}
