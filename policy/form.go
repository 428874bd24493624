package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/message"
)

// The built-in forms of placeholders and markers. The number after @ is the
// version of the form, so that an old ledger renders the same text forever.
const (
	FormObservation = "observation@1"
	FormRecall      = "recall@1"
	FormCall        = "call@1"        // names the call and states how it ended
	FormCallRecall  = "call-recall@1" // likewise, with the reference for a recall
	formCallSays    = "call@2"        // quotes what the command's output states, too
	formCallSaysRec = "call-recall@2"
	formCallMade    = "call@3" // quotes the call unaltered, with all lines of its command
	formCallMadeRec = "call-recall@3"
	formDispatch    = "dispatch@1"
	formBlocks      = "blocks@1" // only the dispatch blocks, without a placeholder for the rest
	FormResult      = "result@1"
	formHead        = "head@1"
	formTail        = "tail@1"
	formBoth        = "both@1"
	// The end of the first line of a result that was reduced on arrival.
	// FormTidiedWhole only records the origin of a result that lost nothing.
	FormTidied       = "tidied@1"
	FormTidiedRecall = "tidied-recall@1"
	FormTidiedWhole  = "tidied-whole@1"
	// The replacement of an image, audio or a file.
	FormMedia = "media@1"
)

var builtinForms = Forms{
	FormObservation: "[observation masked — {chars} chars]",
	FormRecall:      "[observation masked — {chars} chars · recall {ref}]",
	FormCall:        "[observation masked — {chars} chars]", // for a result that answers no call
	FormCallRecall:  "[observation masked — {chars} chars · recall {ref}]",
	formCallSays:    "[observation masked — {chars} chars]",
	formCallSaysRec: "[observation masked — {chars} chars · recall {ref}]",
	formCallMade:    "[observation masked — {chars} chars]",
	formCallMadeRec: "[observation masked — {chars} chars · recall {ref}]",
	formDispatch:    "[dispatch output masked — {chars} chars]\n",
	formBlocks:      "",
	FormResult:      "[result masked — ~{tokens} tokens removed]",
	formHead:        "\n\n[truncated: kept first ~{kept} of ~{tokens} tokens (head)]",
	formTail:        "[truncated: kept last ~{kept} of ~{tokens} tokens (tail)]\n\n",
	formBoth:        "\n\n[truncated: kept first+last ~{kept} of ~{tokens} tokens (both)]\n\n",

	FormTidied:       " · ~{tokens} tokens in full]\n",
	FormTidiedRecall: " · ~{tokens} tokens in full: recall {ref}]\n",
	FormTidiedWhole:  "",

	FormMedia: "", // rendered by [message.MediaText]
}

// Forms maps the name of a form to its template. The fields of templates are
// {chars}, {tokens}, {kept}, {tool}, {turn}, {ref} and {status}.
type Forms map[string]string

// CustomForm returns a name for a custom template, derived from its content.
func CustomForm(template string) string {
	sum := sha256.Sum256([]byte(template))
	return "custom-" + hex.EncodeToString(sum[:6]) + "@1"
}

// Template returns the template of a form that is built in or in f.
func (f Forms) Template(form string) (string, error) {
	if t, ok := builtinForms[form]; ok {
		return t, nil
	}
	if t, ok := f[form]; ok {
		return t, nil
	}
	return "", fmt.Errorf("policy: unknown form %q", form)
}

// Render returns the text of a mark. answered describes the call that the result
// answers.
func (f Forms) Render(k Mark, answered Answered) (string, error) {
	switch {
	case namesCall(k.Form):
		return renderCall(&k, answered)
	case k.Form == FormMedia:
		return message.MediaText(k.kind(), k.Tokens, k.Chars, k.Ref), nil
	}
	t, err := f.Template(k.Form)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for {
		literal, rest, ok := strings.Cut(t, "{")
		b.WriteString(literal)
		if !ok {
			return b.String(), nil
		}
		field, after, ok := strings.Cut(rest, "}")
		value, known := k.field(field, answered)
		if !ok || !known { // a literal brace
			b.WriteByte('{')
			t = rest
			continue
		}
		b.WriteString(value)
		t = after
	}
}

// renderLazily is like Render, but calls answered only if the form names the call.
func (f Forms) renderLazily(k *Mark, answered func() Answered) (string, error) {
	if !namesCall(k.Form) {
		t, err := f.Template(k.Form)
		if err != nil || !strings.Contains(t, "{tool}") && !strings.Contains(t, "{status}") {
			answered = func() Answered { return Answered{} }
		}
	}
	return f.Render(*k, answered())
}

func (k *Mark) field(name string, answered Answered) (string, bool) {
	switch name {
	case "chars":
		return strconv.Itoa(k.Chars), true
	case "tokens":
		return strconv.Itoa(k.Tokens), true
	case "kept":
		return strconv.Itoa(k.Kept), true
	case "turn":
		return strconv.Itoa(k.Turn), true
	case "ref":
		return k.Ref, true
	case "tool":
		return answered.Tool, true
	case "status":
		return answered.Status, true
	}
	return "", false
}

// templateNames are the fields that a custom placeholder may use.
var templateNames = []string{"chars", "tokens", "tool", "turn", "ref", "status"}

// templateName finds braces around something like a name. Any other brace is
// literal.
var templateName = regexp.MustCompile(`\{\s*[A-Za-z_][A-Za-z0-9_-]*\s*\}`)

// ValidTemplate returns the mistake in a custom template, as a [*ConfigError] of
// mask.template.
func ValidTemplate(t string) error {
	wrong := func(format string, args ...any) error {
		return &ConfigError{Path: "mask.template", Value: t, Reason: fmt.Sprintf(format, args...)}
	}
	if strings.TrimSpace(t) == "" {
		return wrong("must not be empty: providers refuse an empty result")
	}
	if !utf8.ValidString(t) || strings.ContainsAny(t, "\n\r") {
		return wrong("must be one line of text")
	}
	for _, found := range templateName.FindAllString(t, -1) {
		name := found[1 : len(found)-1]
		if !slices.Contains(templateNames, name) {
			return wrong("names %s, which there is not; there are {%s}%s", found,
				strings.Join(templateNames, "} {"), setting.DidYouMean(strings.TrimSpace(name), templateNames))
		}
	}
	return nil
}

// ParseMark recognizes a text that consists of a placeholder, in a built-in
// form or in a form of f, and returns the sizes in it.
func (f Forms) ParseMark(text string) (Mark, bool) {
	if k, ok := parseDispatch(text); ok {
		return k, true
	}
	if what, tokens, size, ref, ok := message.ParseMediaText(text); ok {
		return Mark{Form: FormMedia, What: what.String(), Tokens: tokens, Chars: size, Ref: ref}, true
	}
	if len(text) > 4096 || !strings.HasPrefix(text, "[") && len(f) == 0 {
		return Mark{}, false
	}
	for _, form := range []string{FormObservation, FormRecall, FormResult} {
		if k, ok := parseForm(form, builtinForms[form], text); ok {
			return k, true
		}
	}
	if k, ok := parseCall(text); ok {
		return k, true
	}
	for form, t := range f {
		if k, ok := parseForm(form, t, text); ok {
			return k, true
		}
	}
	return Mark{}, false
}

// parseForm matches text against a template from left to right. A field ends
// where the next literal of the template begins.
func parseForm(form, template, text string) (Mark, bool) {
	k := Mark{Form: form}
	for template != "" {
		open := strings.IndexByte(template, '{')
		if open < 0 {
			return k, text == template
		}
		if !strings.HasPrefix(text, template[:open]) {
			return k, false
		}
		text, template = text[open:], template[open:]
		field, rest, ok := strings.Cut(template[1:], "}")
		if !ok {
			return k, text == template
		}
		literal := rest
		if next := strings.IndexByte(rest, '{'); next >= 0 {
			literal = rest[:next]
		}
		end := len(text)
		if literal != "" {
			if end = strings.Index(text, literal); end < 0 {
				return k, false
			}
		}
		if !k.set(field, text[:end]) {
			return k, false
		}
		text, template = text[end:], rest
	}
	return k, text == ""
}

// longestTool is the length in bytes of the longest tool name that a provider
// accepts. A text with a longer name is not a placeholder.
const longestTool = 128

func (k *Mark) set(field, value string) bool {
	into := map[string]*int{"chars": &k.Chars, "tokens": &k.Tokens, "kept": &k.Kept, "turn": &k.Turn}[field]
	if into == nil {
		if field == "ref" {
			k.Ref = value
			raw, err := hex.DecodeString(value)
			return err == nil && len(raw) == 6
		}
		return field == "tool" && len(value) <= longestTool && !strings.ContainsAny(value, "\n\r") || slices.Contains([]string{"", "ok", "error"}, value) && field == "status"
	}
	n, err := strconv.Atoi(value)
	*into = n
	return err == nil && n >= 0 && strconv.Itoa(n) == value
}

func runes(s string) int { return utf8.RuneCountInString(s) }

// tools maps the id of a call to the calls with that id, in order. It finds the
// tool that a result answers.
type tools map[string][]call

type call struct {
	at   int // index of its message
	name string
	args json.RawMessage
}

// A callIndex keeps the tools of a growing conversation.
type callIndex struct {
	mu sync.Mutex
	t  tools
	n  int // number of messages already indexed
}

// upTo returns the tools of msgs, which must begin with the messages already
// indexed.
func (x *callIndex) upTo(msgs []message.Message) tools {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.t == nil {
		x.t = tools{}
	}
	for ; x.n < len(msgs); x.n++ {
		x.t.add(x.n, &msgs[x.n])
	}
	return x.t
}

func toolsOf(msgs []message.Message) tools {
	t := tools{}
	for i := range msgs {
		t.add(i, &msgs[i])
	}
	return t
}

// add indexes the calls of message i.
func (t tools) add(i int, m *message.Message) {
	for _, p := range m.Parts {
		if p.Kind == message.KindToolCall {
			t[p.CallID] = append(t[p.CallID], call{i, p.Name, p.Args})
		}
	}
}

// nameOf returns the name of the tool that part p of message i answers.
func (t tools) nameOf(i int, p *message.Part) string {
	if p.Name != "" {
		return p.Name
	}
	c, _ := t.call(i, p)
	return c.name
}

// call returns the call that part p of message i answers: the newest one with
// its id before message i. Some servers restart their ids at every turn, so
// that a later call with the same id must not count.
func (t tools) call(i int, p *message.Part) (call, bool) {
	calls := t[p.CallID]
	n := sort.Search(len(calls), func(k int) bool { return calls[k].at >= i })
	if n == 0 {
		return call{}, false
	}
	return calls[n-1], true
}

// Tool returns the name of the tool that part p of message i answers, or "" if
// no earlier call is known.
func Tool(msgs []message.Message, i, p int) string {
	part := &msgs[i].Parts[p]
	if part.Name != "" {
		return part.Name
	}
	for k := i - 1; k >= 0; k-- {
		for q := len(msgs[k].Parts) - 1; q >= 0; q-- {
			if c := &msgs[k].Parts[q]; c.Kind == message.KindToolCall && c.CallID == part.CallID {
				return c.Name
			}
		}
	}
	return ""
}

// answered describes the call for a placeholder of part p of message i.
func (t tools) answered(i int, p *message.Part) Answered {
	of := Answered{Tool: t.nameOf(i, p), Status: status(p.Text), Result: p.Text}
	if c, ok := t.call(i, p); ok {
		of.Target, of.Made = target(c.args), wholeTarget(c.args)
	}
	return of
}
