package invariant

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/agentcompact/compact/message"
)

// same reports whether two messages are the same in every byte.
func same(a, b message.Message) bool {
	return bytes.Equal(a.Raw(), b.Raw()) && (a.Raw() == nil) == (b.Raw() == nil) &&
		compare(a, b, func(x, y message.Part) bool { return x.Text == y.Text })
}

// related reports whether two messages differ only in the text of tool results, and
// in media that were replaced by a text.
func related(a, b message.Message) bool {
	return compare(withStandIns(a, b), b, func(x, y message.Part) bool {
		return x.Text == y.Text || x.Kind == message.KindToolResult
	})
}

// alikeExceptTexts reports whether two messages differ only in texts, and in media that were
// replaced by a text.
func alikeExceptTexts(a, b message.Message) bool {
	return compare(withStandIns(a, b), b, func(x, y message.Part) bool { return true })
}

// mediaForm matches the text that replaces a picture, a sound or a file.
var mediaForm = regexp.MustCompile(`^\[(image|audio|file) masked — ~(\d+) tokens, (\d+) bytes · ref ([0-9a-f]{12})\]$`)

// mediaKinds are the kinds that mediaForm names.
var mediaKinds = map[string]message.Kind{"image": message.KindImage, "audio": message.KindAudio, "file": message.KindFile}

// standsFor reports whether the part is, a text or the result of a tool, can replace the part
// was, which holds media.
func standsFor(was, is message.Part) bool {
	m := mediaForm.FindStringSubmatch(is.Text)
	if m == nil || mediaKinds[m[1]] != was.Kind || was.Sealed || is.Sealed || is.Media != nil || was.CallID != is.CallID {
		return false
	}
	if was.CallID == "" {
		return is.Kind == message.KindText
	}
	return is.Kind == message.KindToolResult
}

// withStandIns returns a with its media replaced by the texts in b.
func withStandIns(a, b message.Message) message.Message {
	if len(a.Parts) != len(b.Parts) {
		return a
	}
	var parts []message.Part
	for p := range a.Parts {
		if standsFor(a.Parts[p], b.Parts[p]) {
			if parts == nil {
				parts = slices.Clone(a.Parts)
			}
			parts[p] = b.Parts[p]
		}
	}
	if parts != nil {
		a.Parts = parts
	}
	return a
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

// checkBytes compares the raw forms of an edited message: all bytes outside the
// strings with the edited texts must be the same.
func (j *judge) checkBytes(i, o int) {
	was, is := j.In[i].Raw(), j.Out[o].Raw()
	if j.replacedMedia(i, o) {
		return // a whole block was replaced: checkText checks its text
	}
	if was == nil || is == nil {
		if (was == nil) != (is == nil) {
			j.fail(RuleBytes, "message %d: only one of the input and the output has a raw form", i)
		}
		return
	}
	if !json.Valid(is) {
		j.fail(RuleBytes, "message %d is no longer valid JSON", i)
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
			j.fail(RuleBytes, "message %d: the string %.60s was changed, but it is not an edited part", i, stringsA[k])
		}
	}
	for _, n := range edits {
		if n > 0 {
			j.fail(RuleBytes, "message %d: an edit of the parts is missing in the raw form", i)
		}
	}
}

// replacedMedia reports whether a text replaces media of message i.
func (j *judge) replacedMedia(i, o int) bool {
	for p := range j.In[i].Parts {
		if standsFor(j.In[i].Parts[p], j.Out[o].Parts[p]) {
			return true
		}
	}
	return false
}

// dissect splits JSON into the bytes outside of strings, and the strings.
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
