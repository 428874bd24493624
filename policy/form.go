package policy

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/message"
)

// The built-in forms of placeholders and markers.
const (
	formObservation = formname.Observation
	formRecall      = formname.Recall
	formCall        = formname.Call
	formCallRecall  = formname.CallRecall
	formCallSays    = "call@2" // also quotes the outcome that the command's output states
	formCallSaysRec = "call-recall@2"
	formCallMade    = "call@3" // quotes the call unaltered, with all lines of its command
	formCallMadeRec = "call-recall@3"
	formDispatch    = "dispatch@1"
	formBlocks      = "blocks@1" // only the dispatch blocks, without a placeholder for the other text
	formResult      = formname.Result
	formHead        = "head@1"
	formTail        = "tail@1"
	formBoth        = "both@1"
)

var builtinForms = Forms{
	formObservation: "[observation masked — {chars} chars]",
	formRecall:      "[observation masked — {chars} chars · recall {ref}]",
	formCall:        "[observation masked — {chars} chars]", // for a result that answers no call
	formCallRecall:  "[observation masked — {chars} chars · recall {ref}]",
	formCallSays:    "[observation masked — {chars} chars]",
	formCallSaysRec: "[observation masked — {chars} chars · recall {ref}]",
	formCallMade:    "[observation masked — {chars} chars]",
	formCallMadeRec: "[observation masked — {chars} chars · recall {ref}]",
	formDispatch:    "[dispatch output masked — {chars} chars]\n",
	formBlocks:      "",
	formResult:      "[result masked — ~{tokens} tokens removed]",
	formHead:        "\n\n[truncated: kept first ~{kept} of ~{tokens} tokens (head)]",
	formTail:        "[truncated: kept last ~{kept} of ~{tokens} tokens (tail)]\n\n",
	formBoth:        "\n\n[truncated: kept first+last ~{kept} of ~{tokens} tokens (both)]\n\n",

	formname.Tidied:       " · ~{tokens} tokens in full]\n",
	formname.TidiedRecall: " · ~{tokens} tokens in full: recall {ref}]\n",
	formname.TidiedWhole:  "",

	formname.Media: "", // rendered by [message.MediaText]
}

// Forms maps the name of a form to its template. The fields of templates are
// {chars}, {tokens}, {kept}, {tool}, {turn}, {ref} and {status}.
type Forms map[string]string

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

// Text returns the text of a mark that does not describe the call that its result
// answers.
func (f Forms) Text(k Mark) (string, error) { return f.render(k, answered{}) }

// render returns the text of a mark. of describes the call that the result
// answers.
func (f Forms) render(k Mark, of answered) (string, error) {
	switch {
	case namesCall(k.Form):
		return renderCall(&k, of)
	case k.Form == formname.Media:
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
		value, known := k.field(field, of)
		if !ok || !known { // a literal brace
			b.WriteByte('{')
			t = rest
			continue
		}
		b.WriteString(value)
		t = after
	}
}

// renderLazily is like render, but calls the function of, and does so only if the text
// mentions the call.
func (f Forms) renderLazily(k *Mark, of func() answered) (string, error) {
	if !namesCall(k.Form) {
		t, err := f.Template(k.Form)
		if err != nil || !strings.Contains(t, "{tool}") && !strings.Contains(t, "{status}") {
			of = func() answered { return answered{} }
		}
	}
	return f.render(*k, of())
}

func (k *Mark) field(name string, of answered) (string, bool) {
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
		return of.Tool, true
	case "status":
		return of.Status, true
	}
	return "", false
}

// templateNames are the fields that a custom placeholder may use.
var templateNames = []string{"chars", "tokens", "tool", "turn", "ref", "status"}

// templateName finds braces around something like a name. Any other brace is
// literal.
var templateName = regexp.MustCompile(`\{\s*[A-Za-z_][A-Za-z0-9_-]*\s*\}`)

// CheckTemplate returns the mistake in a custom template as a [*ConfigError] of
// mask.template, or nil if there is none.
func (c *MaskConfig) CheckTemplate() error {
	t := c.Template
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
			return wrong("has the unknown name %s; known names are {%s}%s", found,
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
		return Mark{Form: formname.Media, What: what.String(), Tokens: tokens, Chars: size, Ref: ref}, true
	}
	if len(text) > 4096 || !strings.HasPrefix(text, "[") && len(f) == 0 {
		return Mark{}, false
	}
	for _, form := range []string{formObservation, formRecall, formResult} {
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

// Rewrite builds the new text of a part from the old one. call returns the tool that
// the part answers and the arguments of the call; Rewrite uses it only for a mark that
// names them.
func (f Forms) Rewrite(old string, segments []Segment, call func() (tool string, args json.RawMessage)) (string, error) {
	var b strings.Builder
	for _, s := range segments {
		switch {
		case s.Mark != nil:
			text, err := f.renderLazily(s.Mark, func() answered {
				tool, args := call()
				return answered{Tool: tool, Status: status(old), Result: old, Target: target(args), Made: wholeTarget(args)}
			})
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		case !utf8.ValidString(s.Lit):
			return "", fmt.Errorf("%w: a ledger can't store the literal %q", ErrEdit, s.Lit)
		case s.Lit != "":
			b.WriteString(s.Lit)
		case s.From < 0 || s.To < s.From || s.To > len(old):
			return "", fmt.Errorf("%w: range [%d:%d] of %d bytes", ErrEdit, s.From, s.To, len(old))
		default:
			b.WriteString(old[s.From:s.To])
		}
	}
	if text := b.String(); text != "" && (utf8.ValidString(text) || !utf8.ValidString(old)) {
		return text, nil
	}
	return "", fmt.Errorf("%w: the text would be empty or cut inside a character", ErrEdit)
}

// status returns "error" or "ok" for a tool call, judged by the start of its output.
func status(output string) string {
	head := strings.ToLower(output[:min(len(output), 200)])
	for _, sign := range []string{"error", "failed", "exception", "traceback", "exit status 1", "exit code 1", "fatal:"} {
		if strings.Contains(head, sign) {
			return "error"
		}
	}
	return "ok"
}
