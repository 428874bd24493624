package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Tools that act on an element of a page name it by a number, which says nothing after the
// page is gone.
var (
	elementWords  = []string{"click", "tap", "press", "type", "fill", "input", "select", "hover", "check"}
	elementArgs   = []string{"index", "ref", "uid", "element_index", "element_id", "elementId"}
	elementLabels = []string{"element", "label", "name", "description", "selector"}
)

// mostPages is the number of earlier results in which an element is looked up, and
// maxLabel the maximum length of its label, in characters.
const (
	mostPages = 6
	maxLabel  = 60
)

// labelElements adds the label of the element to the arguments of calls that act on an
// element of a page: "1260" is the link "Documents" of the page that was shown before.
func (h *History) labelElements() {
	var pages []string // newest last
	h.eachCall(func(_ *Step, c *Call) {
		if id := c.element(); id != "" {
			for _, page := range slices.Backward(pages) {
				if strings.Contains(page, id) {
					if label := labelOn(page, id); label != "" {
						c.Args = append(c.Args, Arg{elementLabels[0], label})
						break
					}
				}
			}
		}
		if n := len(c.Result); n > 0 && n <= mostDigested {
			if pages = append(pages, c.Result); len(pages) > mostPages {
				pages = pages[1:]
			}
		}
	})
}

// element returns the number or the reference of the element that a call acts on, "" if the
// call has a label already, or acts on none.
func (c *Call) element() string {
	if !slices.ContainsFunc(toolWords(c.Tool), func(w string) bool { return slices.Contains(elementWords, w) }) || c.arg(elementLabels...) != "" {
		return ""
	}
	return c.arg(elementArgs...)
}

// labelOn returns the label of an element on a page: a record with the number, or a line
// that begins or ends with the reference.
func labelOn(page, id string) string {
	for _, mark := range []string{`"index": ` + id + ",", `"index":` + id + ","} {
		if _, rest, ok := strings.Cut(page, mark); ok {
			record, _, _ := strings.Cut(rest, "}")
			return labelOfRecord(record)
		}
	}
	for _, mark := range []string{"[ref=" + id + "]", "uid=" + id + " ", "[" + id + "]"} {
		if before, after, ok := strings.Cut(page, mark); ok {
			after, _, _ = strings.Cut(after, "\n")
			if before = before[strings.LastIndexByte(before, '\n')+1:]; strings.HasPrefix(mark, "[ref=") {
				after = ""
			}
			return shortLabel(before + after)
		}
	}
	return ""
}

// labelOfRecord returns the first telling member of a record of an element.
func labelOfRecord(record string) string {
	for _, key := range []string{"text", "name", "label", "aria-label", "placeholder", "title", "href"} {
		if _, value, ok := strings.Cut(record, `"`+key+`": "`); ok {
			value, _, _ = strings.Cut(strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, "'").Replace(value), `"`)
			if label := shortLabel(value); label != "" {
				return label
			}
		}
	}
	return ""
}

// shortLabel returns a label without tags and marks of lists.
func shortLabel(text string) string {
	var b strings.Builder
	tag := false
	for _, r := range text {
		switch {
		case r == '<':
			tag = true
		case r == '>' && tag:
			tag = false
			b.WriteByte(' ')
		case !tag:
			b.WriteRune(r)
		}
	}
	return prose.CutText(prose.Squash(strings.Trim(strings.TrimSpace(b.String()), "-*: ")), maxLabel)
}
