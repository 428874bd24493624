package ledger

import "testing"

// A reference finds the part that it names, and the fingerprint the whole message. An
// entry of refs that can't be read names no part, and so no other one either.
func TestInLineFindsThePartThatAReferenceNames(t *testing.T) {
	const said = `{"role":"assistant","content":"one","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}],"meta":{"fp":"ffffffffffffffffffffffffffffffff","refs":[`
	for _, c := range []struct{ refs, ref, want string }{
		{`"aaaaaaaaaaaa","bbbbbbbbbbbb"`, "bbbbbbbbbbbb", "ls {}"},
		{`"aaaaaaaaaaaa","bbbbbbbbbbbb"`, "bbbbbbbbbbbbcccccccc", "ls {}"},
		{`"aaaaaaaaaaaa","bbbbbbbbbbbb"`, "bbbbbbbb", "ls {}"},
		{`"aaaaaaaaaaaa","bbbbbbbbbbbb"`, "ffffffffffff", "one\nls {}"},
		{`"aaaaaaaaaaaa","bbbbbbbbbbbb"`, "cccccccccccc", ""},
		{`7,"bbbbbbbbbbbb"`, "bbbbbbbbbbbb", "ls {}"},
		{`7,"bbbbbbbbbbbb"`, "ffffffffffff", "one\nls {}"},
		{`"aaaaaaaaaaaa","bbbbbbbbbbbb","dddddddddddd"`, "dddddddddddd", ""},
	} {
		got, ok := InLine([]byte(said+c.refs+`]}}`), c.ref)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s in [%s]: %q, %v, want %q", c.ref, c.refs, got, ok, c.want)
		}
	}
}
