package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// The output of the look with which a part ends was not used yet: it is quoted.
func TestLastLookKeepsItsOutput(t *testing.T) {
	file := [3]string{"read", `{"path":"shop/settings.yaml"}`, "listen: 0.0.0.0\nport: 8841\nworkers: 4"}
	search := [3]string{"bash", `{"command":"grep -rn port shop"}`, "shop/a.yaml:2:port: 8841\nshop/b.sh:7:PORT=8841\nExit code: 0"}
	for _, c := range []struct {
		call [3]string
		want string
	}{
		{file, "- the last look, `read` shop/settings.yaml, showed: listen: 0.0.0.0; port: 8841; workers: 4 [s4]"},
		{search, "- the last look, `grep -rn port shop`, showed: shop/a.yaml:2:port: 8841; shop/b.sh:7:PORT=8841 [s4]"},
		{[3]string{"read", `{"path":"shop/all.yaml"}`, strings.Repeat("    1\tcolor: blue\n", 100) + "  101\tserver: 8841\n"}, "- the last look, `read` shop/all.yaml, showed: server: 8841 [s4]"},
	} {
		in := long("Which port does the server use?", ranCalls(c.call)...)
		tells(t, in, []string{c.want}, nil)
		next := Input{Previous: write4(t, in), Messages: []message.Message{message.Assistant("It uses 8841. " + strings.Repeat("The settings say so in a line of their own. ", 40))}}
		tells(t, next, nil, []string{lastLookMark})
		in.Messages = append(in.Messages, message.Assistant("It uses 8841."))
		tells(t, in, nil, []string{lastLookMark})
	}
	for _, call := range [][3]string{
		{"bash", `{"command":"grep -rn port shop"}`, "Exit code: 1"},
		{"bash", `{"command":"ls shop"}`, "a.yaml\nExit code: 0"},
		{"bash", `{"command":"./build.sh"}`, "built in 3 s\nExit code: 0"},
		{"edit", `{"path":"a.go","old_string":"a","new_string":"b"}`, "ok"},
	} {
		tells(t, long("Which port does the server use?", ranCalls(call)...), nil, []string{lastLookMark})
	}
}
