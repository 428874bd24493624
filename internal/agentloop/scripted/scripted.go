// Package scripted is the model of the examples where there is no key: it asks for
// thirty files, one after the other, and refuses what the provider refuses.
package scripted

import (
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/agentcompact/compact/internal/provider"
)

// files are how many the model asks for.
const files = 30

// Model starts a model. With a key in the variable nothing is started: the URL is
// then the provider's own, behind which path stands what an SDK wants there.
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

// Read is the tool of the examples: a file of 3 kB, whatever it is asked for.
func Read(args string) string {
	return "the file of " + args + ": " + strings.Repeat("some words that stand in it. ", 100)
}

// Check ends the program where something went wrong.
func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Must is the value of a call that went well.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}
