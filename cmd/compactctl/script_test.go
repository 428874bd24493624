package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/message/openai"
)

// asCommand makes the tests' own program the command.
const asCommand = "COMPACT_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if file := os.Getenv("COMPACT_TEST_POST"); file != "" {
		os.Exit(postAsAgent(file))
	}
	if os.Getenv(asCommand) != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"compactctl": main})
}

// The scripts run the real command, most of them in this process.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	why := strings.ReplaceAll(recipes(t, "sh")[0], "SESSION", "s")
	testscript.RunT(inOrder{t}, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			var clean []string
			for _, v := range e.Vars {
				if !strings.HasPrefix(v, "COMPACT_") && !strings.HasPrefix(v, "OPENAI_") {
					clean = append(clean, v)
				}
			}
			e.Vars = append(clean, "EXAMPLES="+filepath.Join(root, "examples", "data"), "COLUMNS=80", compact.ArchiveKeyVariable+"="+testkey.Text, "WHY="+why)
			return knowVariables(e, "testdata/script")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run": cmdRun, "status": cmdStatus, "agentloop": cmdAgentLoop, "agentlog": cmdAgentLog, "jsonfield": cmdJSONField, "messages": cmdMessages, "edit": cmdEdit, "forge": cmdForge,
		},
	})
}

// status N command... runs a command and checks its exit status. "status N exec compactctl"
// runs it in a process of its own.
func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command...")
	}
	if got := exitStatus(ts, args[1:]); strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s: exit status %d, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// agentloop FILE rounds [words] writes the transcript of an agent: a system
// prompt, one request, and rounds of a call and its result.
func cmdAgentLoop(ts *testscript.TestScript, _ bool, args []string) {
	rounds, err := strconv.Atoi(args[1])
	ts.Check(err)
	words := 200
	if len(args) > 2 {
		words, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), agentLoop(rounds, words), 0o600))
}

func agentLoop(rounds, words int) []byte {
	msgs := []message.Message{message.System("You fix bugs."), message.User("Make the tests of the parser pass.")}
	for i := range rounds {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs,
			message.Assistant(fmt.Sprintf("Step %d.", i), message.Call(id, "bash", fmt.Sprintf(`{"command":"go test ./p%d"}`, i))),
			message.ToolResult(id, fmt.Sprintf("FAIL p%d\n", i)+strings.Repeat("line of output\n", words/3)))
	}
	msgs = append(msgs, message.Assistant("Done."), message.User("Thanks. What changed?"))
	return openai.Append(nil, msgs, openai.JSONL)
}

// jsonfield FILE path value checks one field of a JSON file; path is a.b.0.c.
func cmdJSONField(ts *testscript.TestScript, neg bool, args []string) {
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &v))
	for key := range strings.SplitSeq(args[1], ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			ts.Check(err)
			v = at[i]
		default:
			v = nil
		}
	}
	if got := fmt.Sprint(v); (got == args[2]) == neg {
		ts.Fatalf("%s of %s is %s (want %s: %v)", args[1], args[0], got, args[2], !neg)
	}
}

// messages FILE n checks that a file holds n messages, in a form that can be
// read again.
func cmdMessages(ts *testscript.TestScript, _ bool, args []string) {
	f, err := formats.Read("auto", []byte(ts.ReadFile(args[0])))
	ts.Check(err)
	if got := strconv.Itoa(len(f.Messages())); got != args[1] {
		ts.Fatalf("%s holds %s messages, want %s", args[0], got, args[1])
	}
}

// edit FILE old new replaces a text in a file. The file must contain the old text.
func cmdEdit(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o600))
}

func TestInterruptedRunFailsAndWritesNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "in.jsonl")
	if err := os.WriteFile(file, agentLoop(20, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut strings.Builder
	target := filepath.Join(dir, "out.jsonl")
	code := run(ctx, []string{"compact", file, "--archive", filepath.Join(dir, "a"), "--out", target}, strings.NewReader(""), &out, &errOut)
	if code != exitFailed || !strings.Contains(errOut.String(), "interrupted\n") || strings.Contains(errOut.String(), "check the archive") {
		t.Errorf("exit %d: %s", code, errOut.String())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*out*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
