package strategy_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// The summaries of sessions that are put together from the texts of the tests are as
// recorded.
func TestSummariesAreAsRecorded(t *testing.T) {
	inputs := behavior.Texts(t, "testdata/inputs.txt")
	r := behavior.New(t, "testdata/sessions.txt")
	for seed := range uint64(40) {
		d := newDealer(inputs, seed)
		previous := map[string]string{}
		for part := range 2 {
			msgs := d.session(25)
			for _, name := range strategy.Names() {
				text := summarized(t, name, msgs, previous[name])
				previous[name] = text
				r.Line("%d.%d %s: %d lines, %s", seed, part, name, strings.Count(text, "\n"), r.Hash([]byte(text)))
			}
		}
	}
	r.Check()
}

// dealer puts sessions together.
type dealer struct {
	*rand.Rand
	said, commands, paths, results []string
	used                           [][2]string // tools and arguments
}

var commandLike = regexp.MustCompile(`^(git|go|npm|yarn|make|cd|cat|sed|rm|mv|cp|mkdir|touch|python3?|pytest|cargo|ls|grep|rg|find|curl|docker|kubectl|terraform|echo|bash|pip|gh|head|tail|jq|psql|systemctl|ssh) `)

func newDealer(inputs []string, seed uint64) *dealer {
	d := &dealer{Rand: rand.New(rand.NewPCG(seed, 1))}
	for _, in := range inputs {
		words := len(strings.Fields(in))
		switch {
		case commandLike.MatchString(in):
			d.commands = append(d.commands, in)
		case words == 1 && strings.ContainsAny(in, "/.") && !strings.HasSuffix(in, "."):
			d.paths = append(d.paths, in)
		case words > 3 && !strings.ContainsAny(in, "{\n"):
			d.said = append(d.said, in)
		}
		if words > 1 {
			d.results = append(d.results, in)
		}
	}
	return d
}

func (d *dealer) one(list []string) string { return list[d.IntN(len(list))] }

// session returns a request and n rounds: a call, its result, and what was said.
func (d *dealer) session(n int) []message.Message {
	msgs := []message.Message{message.User(d.one(d.said))}
	for i := range n {
		tool, text := d.call(), ""
		if d.IntN(3) == 0 {
			text = d.one(d.said)
		}
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs, message.Assistant(text, message.Call(id, tool[0], tool[1])), message.ToolResult(id, d.result()))
		if d.IntN(5) == 0 {
			msgs = append(msgs, message.Assistant(d.one(d.said)), message.User(d.one(d.said)))
		}
	}
	return append(msgs, message.Assistant(d.one(d.said)))
}

func (d *dealer) result() string {
	switch d.IntN(6) {
	case 0:
		return ""
	case 1:
		return d.one(d.results) + "\n" + d.one(d.results) + "\nexit status 1"
	}
	return d.one(d.results)
}

// call returns a tool and its arguments: one of four is a repetition.
func (d *dealer) call() [2]string {
	if len(d.used) > 3 && d.IntN(4) == 0 {
		return d.used[d.IntN(len(d.used))]
	}
	args := map[string]any{}
	tool := []string{"bash", "bash", "Edit", "read_file", "apply_patch", "Write", "TodoWrite", "search", "click", "create_order"}[d.IntN(10)]
	switch tool {
	case "bash":
		args["command"] = d.one(d.commands)
		if d.IntN(3) == 0 {
			args["command"] = d.one(d.commands) + []string{" && ", "; ", " | ", " || "}[d.IntN(4)] + d.one(d.commands)
		}
	case "Edit":
		args["file_path"], args["old_string"], args["new_string"] = d.one(d.paths), d.one(d.results), d.one(d.results)
	case "read_file":
		args["path"], args["offset"] = d.one(d.paths), d.IntN(300)
	case "apply_patch":
		args["patch"] = "*** Begin Patch\n*** Update File: " + d.one(d.paths) + "\n@@\n-" + d.one(d.said) + "\n+" + d.one(d.said) + "\n*** End Patch"
	case "Write":
		args["file_path"], args["content"] = d.one(d.paths), d.one(d.results)
	case "TodoWrite":
		var todos []map[string]string
		for i := range 1 + d.IntN(4) {
			todos = append(todos, map[string]string{"content": d.said[(d.IntN(5)+7*i)%len(d.said)], "status": []string{"pending", "in_progress", "completed"}[d.IntN(3)]})
		}
		args["todos"] = todos
	default:
		args["query"], args["id"] = d.one(d.said), d.IntN(50)
	}
	raw, _ := json.Marshal(args) // texts and numbers cause no error
	d.used = append(d.used, [2]string{tool, string(raw)})
	return d.used[len(d.used)-1]
}
