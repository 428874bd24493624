package invariant

import (
	"bytes"
	"encoding/json"

	"github.com/agentcompact/compact/message"
)

// same reports whether two messages are the same in every byte.
func same(a, b message.Message) bool {
	return bytes.Equal(a.Raw(), b.Raw()) && (a.Raw() == nil) == (b.Raw() == nil) &&
		compare(a, b, func(x, y message.Part) bool { return x.Text == y.Text })
}

// related reports whether two messages are the same but for the text of tool
// results.
func related(a, b message.Message) bool {
	return compare(a, b, func(x, y message.Part) bool {
		return x.Text == y.Text || x.Kind == message.KindToolResult
	})
}

// akin reports whether two messages are the same but for texts.
func akin(a, b message.Message) bool {
	return compare(a, b, func(x, y message.Part) bool { return true })
}

func compare(a, b message.Message, text func(x, y message.Part) bool) bool {
	if a.Role != b.Role || a.Name != b.Name || a.Protected != b.Protected || len(a.Parts) != len(b.Parts) {
		return false
	}
	for i, x := range a.Parts {
		y := b.Parts[i]
		if x.Kind != y.Kind || x.CallID != y.CallID || x.Name != y.Name || x.Sealed != y.Sealed || !bytes.Equal(x.Args, y.Args) || !text(x, y) {
			return false
		}
		if (x.Media == nil) != (y.Media == nil) || x.Media != nil && *x.Media != *y.Media {
			return false
		}
	}
	return true
}

// checkBytes compares the raw forms of an edited message: everything outside
// of the strings that hold the edited texts must be the same bytes.
func (j *judge) checkBytes(i, o int) {
	was, is := j.In[i].Raw(), j.Out[o].Raw()
	if was == nil || is == nil {
		if (was == nil) != (is == nil) {
			j.fail(RuleBytes, "message %d: only one of both has a raw form", i)
		}
		return
	}
	if !json.Valid(is) {
		j.fail(RuleBytes, "message %d is not valid JSON any more", i)
		return
	}
	frameA, stringsA := dissect(was)
	frameB, stringsB := dissect(is)
	if !bytes.Equal(frameA, frameB) || len(stringsA) != len(stringsB) {
		j.fail(RuleBytes, "message %d: bytes outside of its strings were changed", i)
		return
	}
	edits := map[[2]string]int{}
	for p := range j.In[i].Parts {
		if a, b := j.In[i].Parts[p].Text, j.Out[o].Parts[p].Text; a != b {
			edits[[2]string{a, b}]++
		}
	}
	for k := range stringsA {
		if bytes.Equal(stringsA[k], stringsB[k]) {
			continue
		}
		edit := [2]string{decode(stringsA[k]), decode(stringsB[k])}
		if edits[edit]--; edits[edit] < 0 {
			j.fail(RuleBytes, "message %d: the string %.60s was changed, which is no edited part", i, stringsA[k])
		}
	}
	for _, n := range edits {
		if n > 0 {
			j.fail(RuleBytes, "message %d: the raw form does not read like its parts", i)
		}
	}
}

// dissect splits JSON into what stands outside of strings and the strings.
func dissect(raw []byte) (frame []byte, literals [][]byte) {
	for i := 0; i < len(raw); i++ {
		frame = append(frame, raw[i])
		if raw[i] != '"' {
			continue
		}
		start := i
		for i++; i < len(raw) && raw[i] != '"'; i++ {
			if raw[i] == '\\' {
				i++
			}
		}
		literals = append(literals, raw[start:min(i+1, len(raw))])
	}
	return frame, literals
}

func decode(literal []byte) string {
	var s string
	if json.Unmarshal(literal, &s) != nil {
		return "\x00" + string(literal)
	}
	return s
}
