package tidy

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// A view is a result and the text that the model reads for it.
type view struct {
	name    string
	call    Call
	said    string
	earlier []Earlier
	text    string
	large   int    // size in tokens from which a result is large; its room in bytes is twice that number
	want    string // "whole" = it is not reduced
}

// sameEnd is the end of the first line, which is the same for all reducers.
const sameEnd = " · ~9 tokens in full: recall " + testRef + "]"

// compare reduces results and compares the texts that the model reads.
func compare(t *testing.T, reducer string, views []view) {
	t.Helper()
	for _, v := range views {
		o := only(reducer)
		o.Large = v.large
		r := &Result{Text: v.text, Call: v.call, Said: []string{v.said}, Earlier: v.earlier, Tokens: len(v.text) / bytesPerToken}
		out, ok := Reduce(r, o)
		got := "whole"
		if ok {
			got = strings.Replace(out.Render(v.text, 9, testRef), sameEnd, "]", 1)
		}
		if got != v.want {
			if os.Getenv("FILL") != "" {
				data, _ := json.Marshal(map[string]string{"name": v.name, "got": got})
				fmt.Println("FILL", string(data))
			}
			t.Errorf("%s: the model reads\n%s\nwant\n%s", v.name, got, v.want)
		}
		if broken := holds(r, o); broken != "" {
			t.Errorf("%s: %s", v.name, broken)
		}
	}
}

func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }

func together(all ...[]string) string { return lines(slices.Concat(all...)...) }
