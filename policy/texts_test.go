package policy

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// Blocks are found with text between them, and a block without an end extends to the end.
func TestDispatchBlocksAreFound(t *testing.T) {
	const begin, end = dispatchBegin, dispatchEnd
	for text, want := range map[string][]string{
		"no block": nil,
		"a " + begin + " x " + end + " b " + begin + "y" + end + " c": {begin + " x " + end, begin + "y" + end},
		begin + begin + end:                             {begin + begin + end},
		"a " + begin + " x " + begin + end + end + " b": {begin + " x " + begin + end},
		end + begin + " x":                              {begin + " x"},
	} {
		var got []string
		for _, b := range dispatchBlocks(text) {
			got = append(got, text[b.From:b.To])
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A masked dispatch result is the placeholder and blocks, each on a line of its own, and
// nothing else: any tool could write the rest.
func TestParseDispatchAcceptsOnlyBlocks(t *testing.T) {
	const head, block = "[dispatch output masked — 12 chars]\n", dispatchBegin + " x " + dispatchEnd
	for text, want := range map[string]bool{
		head + block:                               true,
		head + block + "\n" + block:                true,
		head + block + "\n" + block + "\n" + block: true,
		head + dispatchBegin + " x":                true,
		head:                                       false,
		head + "x":                                 false,
		head + "x" + block:                         false,
		head + block + block:                       false,
		head + block + " " + block:                 false,
		head + block + "\n\n" + block:              false,
		head + block + "\n":                        false,
		"[dispatch output masked — x chars]\n" + block: false,
	} {
		if k, ok := parseDispatch(text); ok != want || ok && k.Chars != 12 {
			t.Errorf("%q: %+v, %v, want %v", text, k, ok, want)
		}
	}
}

func TestCheckDispatchToolsNamesTheEntry(t *testing.T) {
	const reason = " must be the name of a tool, in which * may stand for any letters"
	for pattern, want := range map[string]string{
		"task": "", "mcp__*": "", "[": "mask.dispatch_tools[1]" + reason + " (got [)", "": "mask.dispatch_tools[1]" + reason, " a": "mask.dispatch_tools[1]" + reason + ` (got " a")`,
	} {
		err := (&MaskConfig{DispatchTools: []string{"ok", pattern}}).CheckDispatchTools()
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want[:len("mask.dispatch_tools[1]")+len(reason)])) || errors.Is(err, path.ErrBadPattern) != (pattern == "[") {
			t.Errorf("%q: %v, want %s", pattern, err, want)
		}
		if wrong := (*ConfigError)(nil); errors.As(err, &wrong) && wrong.Value != pattern {
			t.Errorf("%q: the error names the value %v", pattern, wrong.Value)
		}
	}
}

// A placeholder of a custom template is recognized again, with all that it states. Braces
// around other words are literal.
func TestCustomPlaceholdersAreRecognized(t *testing.T) {
	f := Forms{"custom@1": "[{chars} of {tokens}, {x} {tool}: {status}, turn {turn}, {ref}] {", "custom@2": "gone {chars}"}
	k := Mark{Form: "custom@1", Chars: 5, Tokens: 7, Turn: 3, Ref: "3f9a2c1b70de"}
	text, err := f.render(k, answered{Tool: "bash", Status: "error"})
	if want := "[5 of 7, {x} bash: error, turn 3, 3f9a2c1b70de] {"; err != nil || text != want {
		t.Fatalf("%s, %v, want %s", text, err, want)
	}
	f["custom@1"] = strings.NewReplacer(" {x}", "", "] {", "]").Replace(f["custom@1"])
	text, _ = f.render(k, answered{Tool: "bash", Status: "error"})
	if got, ok := f.ParseMark(text); !ok || got != k {
		t.Errorf("%s is read as %+v, %v", text, got, ok)
	}
	if got, ok := f.ParseMark("gone 12"); !ok || got.Form != "custom@2" || got.Chars != 12 {
		t.Errorf("gone 12 is read as %+v, %v", got, ok)
	}
	for _, other := range []string{"gone 012", "gone -1", "gone x", "gone 1 more", "was gone 1", strings.Replace(text, "error", "perhaps", 1), strings.Replace(text, "3f9a", "xyz1", 1),
		strings.Replace(text, "70de", "70de00", 1), strings.Replace(text, "bash", "ba\nsh", 1), strings.Replace(text, "bash", strings.Repeat("b", 129), 1)} {
		if got, ok := f.ParseMark(other); ok {
			t.Errorf("%s is read as %+v", other, got)
		}
	}
}

// A placeholder of media states the kind, the size and the reference of what it replaces.
func TestMediaPlaceholdersStateTheOriginal(t *testing.T) {
	for _, kind := range []message.Kind{message.KindImage, message.KindAudio, message.KindFile} {
		want := Mark{Form: "media@1", What: kind.String(), Chars: 2048, Tokens: 300, Ref: "3f9a2c1b70de"}
		got, ok := Forms(nil).ParseMark(message.MediaText(kind, 300, 2048, want.Ref))
		if want.Form = got.Form; !ok || got != want {
			t.Errorf("%s: %+v, %v, want %+v", kind, got, ok, want)
		}
		if text, err := Forms(nil).Text(got); err != nil || text != message.MediaText(kind, 300, 2048, want.Ref) {
			t.Errorf("%s: %s, %v", kind, text, err)
		}
		if o, want := got.Origin(true), (Origin{Chars: 2048, Tokens: 300, Ref: want.Ref, Masked: true, Media: true}); o != want {
			t.Errorf("%s: the origin is %+v, want %+v", kind, o, want)
		}
	}
}

func TestCheckTemplateNamesTheMistake(t *testing.T) {
	for template, want := range map[string]string{
		"[{chars} {tokens} {tool} {turn} {ref} {status}] {1} { x y }": "",
		" ": "must not be empty", "a\nb": "must be one line of text", "\xff": "must be one line of text", "{ char }": "has the unknown name { char }; known names are {chars} {tokens} {tool} {turn} {ref} {status}",
	} {
		err := (&MaskConfig{Template: template}).CheckTemplate()
		wrong := (*ConfigError)(nil)
		if want == "" && err != nil || want != "" && (!errors.As(err, &wrong) || wrong.Path != "mask.template" || wrong.Value != template || !strings.HasPrefix(wrong.Reason, want)) {
			t.Errorf("%q: %v, want %s", template, err, want)
		}
	}
}
