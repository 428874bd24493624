package wiretest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// JSON writes random JSON in many valid forms: unusual white space, members in
// any order, unknown members, integers that fit no machine word, unnecessary
// escapes, halves of surrogate pairs.
type JSON struct{ *rand.Rand }

// NewJSON returns a writer that always writes the same JSON for a seed.
func NewJSON(seed uint64) JSON { return JSON{rand.New(rand.NewPCG(seed, 11))} }

// Space returns white space, mostly none.
func (j JSON) Space() string {
	if j.IntN(4) > 0 {
		return ""
	}
	return []string{" ", "\n", "\t", "\r\n  ", "   "}[j.IntN(5)]
}

// Object returns an object of these keys and values, in any order, mixed with
// members that no wire knows.
func (j JSON) Object(pairs ...string) string {
	var members []string
	for i := 0; i+1 < len(pairs); i += 2 {
		members = append(members, `"`+pairs[i]+`"`+j.Space()+":"+j.Space()+pairs[i+1])
	}
	for j.IntN(3) == 0 {
		members = append(members, fmt.Sprintf(`"x_%d"`, j.IntN(1000))+j.Space()+":"+j.Any(2))
	}
	j.Shuffle(len(members), func(a, b int) { members[a], members[b] = members[b], members[a] })
	return "{" + j.list(members) + "}"
}

// Array returns an array.
func (j JSON) Array(elems ...string) string { return "[" + j.list(elems) + "]" }

func (j JSON) list(elems []string) string {
	out := j.Space()
	for i, e := range elems {
		if i > 0 {
			out += j.Space() + "," + j.Space()
		}
		out += e
	}
	return out + j.Space()
}

// Any returns a value of any kind.
func (j JSON) Any(depth int) string {
	switch k := j.IntN(8); {
	case k == 0 && depth > 0:
		return j.Object("type", j.Any(depth-1), "v", j.Any(depth-1))
	case k == 1 && depth > 0:
		return j.Array(j.Any(depth-1), j.Any(depth-1))
	case k == 2:
		return "123456789012345678901234567890"
	case k == 3:
		return "-0.10e+007"
	case k == 4:
		return []string{"true", "false", "null"}[j.IntN(3)]
	}
	return j.Text()
}

// Text returns a string of a few random words.
func (j JSON) Text() string { return j.Quote(j.Words(1 + j.IntN(12))) }

var words = []string{
	"the", "file", "main.go", "fails", "日本語", "é", "😀", "\"quoted\"", "a\\b", "\n", "\t", "<b>&amp;", "{\"a\":1}", "[1,2]", "100000000000000000001",
	"\u2028", "\x00", "/usr/bin", "}", "]", ",", ":",
}

// Words returns n random words.
func (j JSON) Words(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[j.IntN(len(words))])
	}
	return b.String()
}

// Quote returns s as a JSON string, in one of several forms; sometimes it
// appends half a surrogate pair.
func (j JSON) Quote(s string) string {
	quoted := string(jsonscan.AppendQuote(nil, s))
	switch j.IntN(6) {
	case 0:
		return strings.ReplaceAll(quoted, "/", `\/`)
	case 1:
		return strings.ReplaceAll(quoted, "e", `\u0065`)
	case 2:
		return quoted[:len(quoted)-1] + ` \ud800"`
	}
	return quoted
}
