package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

const checkout = "/srv/checkout/service/"

func editsIn(dir string, names ...string) []message.Message {
	msgs := []message.Message{message.User("Move the handlers.")}
	for i, n := range names {
		id := string(rune('a' + i))
		msgs = append(msgs, message.Assistant("", message.Call(id, "edit", `{"path":"`+dir+n+`","old_string":"x","new_string":"func Handle`+strings.ToUpper(id)+`() {}"}`)),
			message.ToolResult(id, "The file "+dir+n+" has been updated."))
	}
	return msgs
}

func TestSummaryNamesCommonFolderOnce(t *testing.T) {
	text := write4(t, Input{Messages: editsIn(checkout, "one.go", "two.go", "sub/three.go", "sub/four.go", "five.go")})
	if n := strings.Count(text, checkout); n != 1 {
		t.Errorf("the folder appears %d times in:\n%s\nwant 1", n, text)
	}
	for _, want := range []string{"`…/` in a path stands for `" + checkout + "`", "`…/one.go`: edited", "`…/sub/four.go`: edited"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

func TestNextSummaryExpandsMark(t *testing.T) {
	first := write4(t, Input{Messages: editsIn(checkout, "one.go", "two.go", "three.go", "four.go", "five.go")})
	second := write4(t, Input{Previous: first, Messages: editsIn("/home/else/where/", "six.go", "seven.go", "eight.go", "nine.go", "ten.go", "eleven.go", "twelve.go")})
	full := fullPaths(second)
	for _, want := range []string{"In `" + checkout + "`: ", "two.go and one.go", checkout + "five.go", "/home/else/where/six.go"} {
		if !strings.Contains(full, want) {
			t.Errorf("%q is not in:\n%s", want, full)
		}
	}
}

func TestMarkOfHistoryIsNotExpanded(t *testing.T) {
	msgs := append(editsIn(checkout, "one.go", "two.go", "three.go", "four.go", "five.go"), message.Assistant("It lists …/one.go as broken."))
	if text := write4(t, Input{Messages: msgs}); strings.Contains(text, "in a path stands for") {
		t.Errorf("a mark of the history counts as ours:\n%s", text)
	}
}

func TestShortPathsCutsOnlyWholeFolders(t *testing.T) {
	for text, want := range map[string]string{
		"`/srv/checkout/service/a.go`":        "`…/a.go`",
		"go test /srv/checkout/service/x":     "go test …/x",
		"https://h/srv/checkout/service/a.go": "https://h/srv/checkout/service/a.go",
		"/srv/checkout/services/a.go":         "/srv/checkout/services/a.go",
	} {
		if got := shortPaths(text, checkout); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// All forms of a Windows path name one file, also in a session whose commands use a relative
// path.
func TestPathsOfADriveAreOneFile(t *testing.T) {
	const text = `","old_string":"0.2","new_string":"0.3"}`
	var calls [][3]string
	for _, p := range []string{`D:\\shop\\src\\tax.ts`, "D:/shop/src/tax.ts", `d:\\shop\\src\\tax.ts`, "/d/shop/src/tax.ts", "src/tax.ts", "src/rates.ts", "D:/shop/src/rates.ts"} {
		calls = append(calls, [3]string{"Edit", `{"file_path":"` + p + text, "The file has been updated."})
	}
	tells(t, long("Mend the tax.", ranCalls(calls...)...), []string{"tax.ts`: edited 5 times", "rates.ts`: edited twice"}, nil)
}
