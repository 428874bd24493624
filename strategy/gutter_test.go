package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestWithoutGutterRemovesOnlyLineNumbers(t *testing.T) {
	for listing, want := range map[string]string{
		"    12\tfunc a() {":                 "func a() {",
		"   12→func a() {":                   "func a() {",
		"00012|func a() {\n00013|}":          "func a() {",
		"12:func a() {\n13:}":                "func a() {",
		"12: func a() {\n13: }":              "func a() {",
		"77c01de docs\n10bb2aa bump otel":    "77c01de docs",
		"2024-05-01 export":                  "2024-05-01 export",
		"3.14 release":                       "3.14 release",
		"12:30 export ran\n12:45 export ran": "12:30 export ran",
		"9 lives":                            "9 lives",
		"404: Not Found":                     "404: Not Found",
		"17|Anna|paid\n31|Bert|open":         "17|Anna|paid",
		"1 | Anna | paid\n2 | Bert | open":   "1 | Anna | paid",
		"202411051230\tnot a line number":    "202411051230\tnot a line number",
		"\x1b[32m  7\x1b[0m\tcolored":        "colored",
		"":                                   "",
		"42":                                 "42",
	} {
		if got := withoutGutter(strings.Split(listing, "\n"), 0); got != want {
			t.Errorf("%q became %q, want %q", listing, got, want)
		}
	}
	if got := withoutGutter([]string{"12: func a() {", "13: }", "end"}, 1); got != "}" { // the last line of a listing
		t.Errorf("got %q, want only the brace", got)
	}
}

func TestWithoutReaderShowsOnlyTheFile(t *testing.T) {
	for text, want := range map[string]string{
		"<path>/a/b.go</path>\n<type>file</type>\n<content>1: package b\n2: \n</content>": "1: package b\n2: \n</content>",
		"<path d='M0 0'/>\n<content>x": "<path d='M0 0'/>\n<content>x",
		"<path>/a</path>":              "<path>/a</path>",
		"package b":                    "package b",
	} {
		if got := withoutReader(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestRefusedReadIsNoContentOfTheFile(t *testing.T) {
	complaint := "Please always provide EXACTLY ONE action in triple backticks, found 2 actions.\n\nPlease format your action in triple backticks as shown in the example of the importer."
	tells(t, long("Make the importer faster.",
		message.Assistant("", message.Call("1", "bash", `{"command":"sed -n 1,20p importer/batch.go"}`)), message.ToolResult("1", complaint),
		message.Assistant("", message.Call("2", "edit", `{"path":"importer/batch.go","old_string":"a","new_string":"b"}`)), message.ToolResult("2", "The file has been updated.")),
		nil, []string{"“Please", "Please format", "read `importer/batch.go`"})
}

// An editor that shows a file returns code, which has no sentences.
func TestListedCodeIsNoProse(t *testing.T) {
	code := "Here's the result of running `cat -n` on tax.c:\n"
	for i := range 40 {
		code += "   " + itoa(i+10) + "\t  // We only round the amount " + itoa(i) + " if all elements of the tuple return true.\n"
	}
	tells(t, long("Mend the tax.", ranCalls([3]string{"str_replace_editor", `{"command":"view","path":"/src/tax.c"}`, code})...), nil, []string{"says: 10 "})
}
