package effects

import (
	"regexp"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Mutations matches a GraphQL request that begins with a mutation, in an option of gh or
// in the body of a request.
var Mutations = regexp.MustCompile(`(?is)(?:query=|"query"\s*:\s*\\?["']?)\s*["'$]*\s*mutation\b`)

// writingRequests lists options of curl for requests that change something.
var writingRequests = []string{"-x post", "-x put", "-x delete", "-x patch", "--request post", "--data", " -d "}

// Options of "gh api" that set the method of a request, and options that make the method
// POST if none is set: https://cli.github.com/manual/gh_api.
var (
	writingMethods = []string{"-x post", "-x put", "-x delete", "-x patch", "--method post", "--method put", "--method delete", "--method patch", "--method=post", "--method=put", "--method=delete", "--method=patch",
		"-xpost", "-xput", "-xdelete", "-xpatch"}
	readingMethods = []string{"-x get", "--method get", "--method=get", "-xget"}
	writingFields  = []string{" -f ", " --field ", " --field=", " --raw-field ", " --raw-field=", " --input ", " --input="}
)

// Requests reports whether a simple command in lower case is a request that
// changes something.
func Requests(simple string) bool {
	if strings.HasPrefix(simple, "curl ") {
		return prose.HasAny(simple, writingRequests)
	}
	if !strings.HasPrefix(simple, "gh api ") || prose.HasAny(simple, readingMethods) {
		return false
	}
	if strings.HasPrefix(simple, "gh api graphql") {
		return Mutations.MatchString(simple)
	}
	return prose.HasAny(simple, writingMethods) || prose.HasAny(simple, writingFields)
}
