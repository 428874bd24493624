package strategy

import (
	"bytes"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// headingPaths is the heading of the line that defines the abbreviation in the paths
// of a summary.
const headingPaths = "Paths"

// baseMark stands in a path for the folder that contains most of the paths.
const baseMark = "…/"

// leastBase is the minimum length of an abbreviated folder, in bytes. leastUses
// is the minimum number of paths in it.
const (
	leastBase = 14
	leastUses = 4
)

// findBase sets h.base to the folder, with a slash at its end, that shortens the paths of
// the calls most if it is abbreviated. It sets "" if no folder is worth an abbreviation.
func (h *History) findBase(marked bool) {
	uses := map[string]int{}
	note := func(text string) {
		eachPath(text[:min(len(text), maxBaseText)], func(p string) {
			for d := parent(p); len(d) >= leastBase; d = parent(d[:len(d)-1]) {
				uses[d]++
			}
		})
	}
	h.eachCall(func(_ *Step, c *Call) {
		for i := range c.Args {
			note(c.Args[i].Value)
		}
	})
	h.Previous.all(func(lines []string) []string {
		for _, l := range lines {
			note(l)
		}
		return lines
	})
	if h.base = shortest(uses); marked {
		h.base = "" // the mark already has another meaning
	}
	h.eachCall(func(_ *Step, c *Call) { c.base = h.base })
}

// marked reports whether a message contains the mark already.
func marked(msgs []message.Message) bool {
	for i := range msgs {
		for k := range msgs[i].Parts {
			if p := &msgs[i].Parts[k]; strings.Contains(p.Text, baseMark) || bytes.Contains(p.Args, []byte(baseMark)) {
				return true
			}
		}
	}
	return false
}

// maxBaseText is the number of bytes of a text that are searched for paths.
const maxBaseText = 1000

// shortest returns the folder whose abbreviation saves most.
func shortest(uses map[string]int) string {
	best, gain := "", 0
	for d, n := range uses {
		if g := n * (len(d) - len(baseMark)); n >= leastUses && (g > gain || g == gain && d < best) {
			best, gain = d, g
		}
	}
	return best
}

// eachCall calls f for each call, in order.
func (h *History) eachCall(f func(s *Step, c *Call)) {
	for i := range h.Steps {
		for k := range h.Steps[i].Calls {
			f(&h.Steps[i], &h.Steps[i].Calls[k])
		}
	}
}

// parent returns the folder of an absolute path, with a slash at its end.
func parent(p string) string { return p[:strings.LastIndexByte(p, '/')+1] }

// eachPath calls f for each absolute path of a text.
func eachPath(text string, f func(p string)) {
	for i := 0; i < len(text); i++ {
		if text[i] != '/' || i > 0 && !beforePath(text[i-1]) || strings.HasPrefix(text[i:], "//") { // after the scheme of an address
			continue
		}
		end := i
		for end < len(text) && pathByte(text[end]) {
			end++
		}
		f(text[i:end])
		i = end
	}
}

// beforePath reports whether c may precede an absolute path.
func beforePath(c byte) bool { return strings.IndexByte(" `'\"(=:[,", c) >= 0 }

func pathByte(c byte) bool {
	return prose.IsWordByte(c) || c >= 0x80 || strings.IndexByte("/.-@+~", c) >= 0
}

// shortPaths replaces the folder base by the mark.
func shortPaths(text, base string) string {
	if base == "" || !strings.Contains(text, base) {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, base)
		if i < 0 {
			break
		}
		b.WriteString(text[:i])
		if i == 0 || beforePath(text[i-1]) {
			b.WriteString(baseMark)
		} else {
			b.WriteString(base)
		}
		text = text[i+len(base):]
	}
	return b.String() + text
}

// baseLine returns the line that defines the mark.
func baseLine(base string) string { return "`" + baseMark + "` in a path stands for `" + base + "`" }

// baseIn returns the folder that a line of baseLine defines, "" for other lines.
func baseIn(line string) string {
	rest, ok := strings.CutPrefix(line, "`"+baseMark+"` in a path stands for `")
	base, _, closed := strings.Cut(rest, "`")
	if !ok || !closed || !strings.HasPrefix(base, "/") || !strings.HasSuffix(base, "/") {
		return ""
	}
	return base
}

// fullPaths returns a summary with its paths unabbreviated.
func fullPaths(text string) string {
	head := "## " + headingPaths + "\n- "
	before, rest, ok := strings.Cut(text, head)
	if !ok {
		return text
	}
	line, after, _ := strings.Cut(rest, "\n")
	base := baseIn(line)
	if base == "" {
		return text
	}
	return before + strings.ReplaceAll(strings.TrimLeft(after, "\n"), baseMark, base)
}

// longPaths replaces the mark by the folder base.
func longPaths(text, base string) string {
	if base == "" {
		return text
	}
	return strings.ReplaceAll(text, baseMark, base)
}

// mark sets d.Base if a line contains the mark.
func (d *Document) mark(base string) {
	d.Base = ""
	if base == "" {
		return
	}
	d.all(func(lines []string) []string {
		for _, l := range lines {
			if strings.Contains(l, baseMark) {
				d.Base = base
			}
		}
		return lines
	})
}

// full returns the document with its paths unabbreviated.
func (d Document) full() Document {
	if d.Base == "" {
		return d
	}
	d = d.clone()
	d.all(func(lines []string) []string {
		for i := range lines {
			lines[i] = longPaths(lines[i], d.Base)
		}
		return lines
	})
	d.Base = ""
	return d
}
