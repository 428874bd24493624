// Package scripted is the model of the examples if there is no key. It requests
// thirty files, one after the other, and refuses the requests that the provider would
// refuse.
package scripted

import (
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/agentcompact/compact/internal/provider"
)

// files is the number of files that the model requests.
const files = 30

// Model starts a model. If the variable holds a key, it starts nothing and returns
// the provider's own URL. path is the path that an SDK requires after the URL.
func Model(variable, url, path string) (base, key string) {
	if key := os.Getenv(variable); key != "" {
		return url + path, key
	}
	s := provider.NewServer()
	s.Window = 16_000
	s.Reply = reply()
	return httptest.NewServer(s).URL + path, "none" // until the program ends
}

func reply() func(provider.Request) provider.Answer {
	n := 0
	return func(provider.Request) provider.Answer {
		if n++; n > files {
			return provider.Answer{Text: fmt.Sprintf("I have read %d files.", files)}
		}
		return provider.Answer{Calls: []provider.Call{{ID: fmt.Sprintf("call_%d", n), Name: "read", Args: fmt.Sprintf(`{"n":%d}`, n)}}}
	}
}

// Read is the tool of the examples. It returns a file of 3 kB for any arguments.
func Read(args string) string {
	return "the file of " + args + ": " + strings.Repeat("some words that stand in it. ", 100)
}

// Check ends the program if err is not nil.
func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Must returns the value of a call without an error.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}
