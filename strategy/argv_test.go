package strategy

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// A command that is a list of words is read like the line that runs.
func TestCommandOfWordsIsALine(t *testing.T) {
	for args, want := range map[string]string{
		`{"command":["bash","-lc","go test ./stock"]}`:              "go test ./stock",
		`{"cmd":["/bin/sh","-c","ls && cat a.txt"]}`:                "ls && cat a.txt",
		`{"command":["powershell.exe","-Command","Get-Content x"]}`: "Get-Content x",
		`{"command":["git","commit","-m","count the stock"]}`:       "git commit -m 'count the stock'",
		`{"command":["npm ci","npm test"]}`:                         "npm ci; npm test",
		`{"command":"npm test"}`:                                    "npm test",
		`{"command":"view","path":"a.go"}`:                          "",
	} {
		c := callOf("shell", args)
		if got := c.Command(); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// A summary states the files, checks and effects of such commands, and omits the JSON around an
// output.
func TestSummaryStatesCommandsOfWords(t *testing.T) {
	patch := `{"command":["apply_patch","*** Begin Patch\n*** Update File: stock/count.go\n@@ func Count() int {\n-\treturn 0\n+\treturn total()\n*** Add File: stock/total.go\n+package stock\n*** End Patch"]}`
	failed := `{"output":"--- FAIL: TestCount (0.00s)\n    count_test.go:9: got 0\nFAIL\tshop/stock\t0.1s\n","metadata":{"exit_code":1,"duration_seconds":2.1}}`
	pushed := `{"output":" ! [rejected] main -> main (fetch first)\nerror: failed to push some refs\n","metadata":{"exit_code":1,"duration_seconds":0.3}}`
	tells(t, long("Count the stock.", ranCalls(
		[3]string{"shell", patch, "Success. Updated the following files:\nM stock/count.go\nA stock/total.go\n"},
		[3]string{"shell", `{"command":["bash","-lc","go test ./stock"]}`, failed},
		[3]string{"shell", `{"command":["bash","-lc","git push origin main"]}`, pushed},
	)...), []string{
		"`stock/count.go`: edited (in Count)", "`stock/total.go`: created",
		"`go test ./stock` failed (exit 1): --- FAIL: TestCount",
		"`git push origin main` failed (exit 1): ! [rejected] main -> main (fetch first)",
	}, []string{"`shell` bash", "exit_code", `{"output"`})
	if got := withoutEnvelope(`{"output":"x","metadata":{}}`); got != `{"output":"x","metadata":{}}` {
		t.Errorf("output without a status: got %s, want it unchanged", got)
	}
}

// An exception at the end of the output of code is a failure, and a short output is quoted whole.
func TestOutputsOfCodeAreStated(t *testing.T) {
	broken := "-------\nNameError   Traceback (most recent call last)\nCell In[4], line 1\n----> 1 plt.show()\n\nNameError: name 'plt' is not defined"
	tells(t, long("Show the growth.", ranCalls(
		[3]string{"execute_python", `{"code":"print(growth())\nx = 1"}`, "region\nKansai 0.083\nKanto 0.121\ndtype: float64\n"},
		[3]string{"execute_python", `{"code":"growth().plot(); plt.show()"}`, broken},
	)...), []string{"which printed: region; Kansai 0.083; Kanto 0.121", "`growth().plot(); plt.show()` failed: NameError: name 'plt' is not defined"}, []string{"dtype"})
	if got := ranCommand("cat app.log", "start\n"+broken).Outcome; got == Failed {
		t.Error("an exception in a log that was only read counts as a failure")
	}
}

// A change in a transaction counts as a change, and a short table is quoted with all its rows.
func TestStatementsInATransactionAreChanges(t *testing.T) {
	tells(t, long("Refund them.", ranCalls(
		[3]string{"run_sql", `{"sql":"SELECT customer, n FROM twice"}`, "customer | n\nC-104 | 2\nC-233 | 2\nC-391 | 3\n(3 rows)"},
		[3]string{"run_sql", `{"sql":"BEGIN; INSERT INTO refunds(customer) VALUES ('C-104'); COMMIT;"}`, "INSERT 0 1\nCOMMIT"},
	)...), []string{"C-104 | 2 C-233 | 2 C-391 | 3", "[done] called `run_sql` BEGIN; INSERT INTO refunds"}, nil)
}

// A pasted text of equal lines is quoted with two of these lines.
func TestPastedLinesAreNotRepeated(t *testing.T) {
	log := "I see this:\n"
	for range 90 {
		log += "2026-03-02 10:00:01 worker 7 waits for the lock of the stock table\n"
	}
	msgs := append([]message.Message{message.User(log)}, ranCalls([3]string{"bash", `{"command":"ls"}`, "a"})...)
	tells(t, Input{Messages: msgs}, nil, []string{"lock of the stock table. 2026-03-02 10:00:01 worker 7 waits for the lock of the stock table. 2026"})
}

// A short output of settings is quoted whole, because the user may have looked for any of them.
func TestSettingsAreQuotedWhole(t *testing.T) {
	tells(t, long("Why does it restart?", ranCalls(
		[3]string{"bash", `{"command":"kubectl get configmap shop-env -o yaml"}`, "data:\n  PAYMENT_URL: \"\"\n  CART_URL: http://cart\n"},
	)...), []string{"which printed: data:; PAYMENT_URL: \"\"; CART_URL: http://cart"}, nil)
	for output, want := range map[string]string{
		"a: 1\nb = two":            "a: 1; b = two",
		"a: 1":                     "",
		"error: x\nb: 2":           "",
		"build: ok\ntests: passed": "",
		"plain text\na: 1":         "",
	} {
		if got := members(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
