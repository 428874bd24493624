package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// calledTool reads a call of a tool, with arguments in pairs, and its result.
func calledTool(tool, result string, args ...string) *Call {
	c := Call{Tool: tool, Result: result, Answered: true}
	for i := 0; i+1 < len(args); i += 2 {
		c.Args = append(c.Args, Arg{args[i], args[i+1]})
	}
	c.finish()
	return &c
}

// toldAs returns how a summary states an effect: as done, as failed, or as neither.
func toldAs(c *Call) string {
	switch {
	case c.Effect():
		return "done"
	case c.Outcome == Failed:
		return "failed"
	case c.doubt:
		return "neither"
	}
	return "no effect"
}

func TestCommandEffectIsDoneOnlyWithoutFailure(t *testing.T) {
	for name, c := range map[string]struct{ cmd, result, want string }{
		"a push that was rejected":        {"git push origin main", "To github.com:x/y.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs", "failed"},
		"a push over https":               {"git push", "To https://github.com/x/y\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs", "failed"},
		"one of two refs":                 {"git push --all", "To github.com:x/y.git\n   1a2b3c4..5d6e7f8  a -> a\n ! [rejected]        b -> b (fetch first)\nerror: failed to push some refs", "neither"},
		"no right to push":                {"git push", "fatal: unable to access 'https://x/': The requested URL returned error: 403", "failed"},
		"a failure and a hint at the end": {"git push", "fatal: unable to access 'https://x/'\na\nb\nc\nCould not reach the host", "failed"},
		"pushed":                          {"git push", "To github.com:x/y.git\n   1a2b3c4..5d6e7f8  main -> main", "done"},
		"behind a pipe with status 0":     {"git push 2>&1 | tail -3", "Exit code: 0\n ! [rejected] main -> main (fetch first)\nerror: failed to push some refs", "failed"},
		"a status counts more than words": {"git push", "Exit code: 0\nerror: is what the hook prints", "done"},
		"started and unhealthy":           {"./deploy.sh staging", "Uploading bundle\ndeploy finished with warnings: service unhealthy", "neither"},
		"started without errors":          {"./deploy.sh staging", "Uploading bundle\nservice healthy, 0 errors", "done"},
		"npm":                             {"npm publish", "npm notice package: x@1.0.0\nnpm ERR! code E403\nnpm ERR! 403 403 Forbidden", "failed"},
		"terraform":                       {"terraform apply -auto-approve", "aws_s3_bucket.b: Creating...\n╷\n│ Error: creating S3 Bucket (x): BucketAlreadyExists\n│\n╵", "failed"},
		"kubectl":                         {"kubectl apply -f d.yaml", "Error from server (Forbidden): pods is forbidden", "failed"},
		"no server":                       {"kubectl apply -f d.yaml", "The connection to the server localhost:8080 was refused - did you specify the right host or port?", "failed"},
		"applied":                         {"kubectl apply -f error.yaml", "deployment.apps/error-pages configured", "done"},
		"docker":                          {"docker push r/x:1", "The push refers to repository [r/x]\ndenied: requested access to the resource is denied", "failed"},
		"gh":                              {"gh pr create --fill", "pull request create failed: GraphQL: No commits between main and x", "failed"},
		"a hook":                          {"git commit -m x", "husky - pre-commit hook exited with code 1 (error)", "failed"},
		"hooks of pre-commit":             {"git commit -m x", "black....................................................Failed\n- hook id: black\n- exit code: 1", "failed"},
		"a hook prints an error in a successful commit": {"git commit -m x", "[main 1a2b3c4] x\n 1 file changed\nerror: is what a test prints\n 12 pass\n 0 fail", "done"},
		"the subject is no failure":                     {"git commit -m 'error: is wrong'", "[main 1a2b3c4] error: is wrong\n 1 file changed", "done"},
		"a commit, and no push":                         {"git commit -m x && git push", "[main 1a2b3c4] x\n ! [rejected] main -> main\nerror: failed to push some refs", "neither"},
		"a file was written before":                     {"echo a > b.txt && git push", "error: failed to push some refs", "neither"},
		"a conflict that pip only reports":              {"pip install a", "ERROR: pip's dependency resolver does not currently take b into account\nSuccessfully installed a-1", "done"},
		"pip":                                           {"pip install foo", "ERROR: Could not find a version that satisfies the requirement foo", "failed"},
		"a package with that name":                      {"npm install http-errors", "added 3 packages, and audited 9 packages in 1s\n0 errors", "done"},
		"a server's error":                              {"curl -s -X POST https://x.org/v1/orders -d '{}'", `{"error":{"code":500,"message":"internal"}}`, "failed"},
		"a gateway's page":                              {"curl -s -X POST https://x.org/v1/orders -d '{}'", "<html><head><title>502 Bad Gateway</title></head></html>", "failed"},
		"curl ends with 0":                              {"curl -s -X POST https://x.org/v1/orders -d '{}'", "Exit code: 0\n" + `{"ok": false}`, "failed"},
		"created":                                       {"curl -s -X POST https://x.org/v1/orders -d '{}'", `{"id":7,"error":null,"errors":[]}`, "done"},
		"nothing printed":                               {"git push", "", "done"},
		"the last line may be one":                      {"./deploy", "a\nb\nc\ncould not reach the metrics", "neither"},
		"a log of what went well":                       {"./deploy", "could not reach the metrics\na\nb\nc\ndeployed", "done"},
	} {
		if got := toldAs(ranCommand(c.cmd, c.result)); got != c.want {
			t.Errorf("%s: %s, want %s: %s", name, got, c.want, ranCommand(c.cmd, c.result).tell())
		}
	}
}

func TestToolEffectIsDoneOnlyWithoutFailure(t *testing.T) {
	for name, c := range map[string]struct {
		tool, result, want string
		args               []string
	}{
		"no money":                    {"transfer_money", "Insufficient funds: balance is 12.00 EUR", "failed", nil},
		"not executed":                {"issue_refund", "Refund requires manager approval; not executed.", "failed", nil},
		"needs an approval":           {"issue_refund", "Refund requires manager approval.", "neither", nil},
		"it can't be":                 {"cancel_order", "Order cannot be cancelled: status is delivered", "failed", nil},
		"it was":                      {"cancel_order", "Order cancelled. It cannot be changed again.", "done", nil},
		"declined":                    {"pay_invoice", "The card was declined.", "failed", nil},
		"to decline":                  {"send_decline", "The invitation was declined.", "done", nil},
		"ok false":                    {"slack_post_message", `{"ok":false,"error":"channel_not_found"}`, "failed", nil},
		"success false":               {"send_email", `{"message":"quota exceeded","success": false}`, "failed", nil},
		"a state":                     {"send_email", `{"status":"failed","reason":"mailbox full"}`, "failed", nil},
		"a number of HTTP":            {"create_issue", `{"message":"Resource not accessible","status":"403"}`, "failed", nil},
		"errors":                      {"create_issue", `{"errors":[{"message":"Could not resolve"}],"data":null}`, "failed", nil},
		"errors beside data":          {"create_issue", `{"errors":[{"message":"a part"}],"data":{"id":7}}`, "neither", nil},
		"isError":                     {"create_page", `{"content":[{"type":"text","text":"unauthorized"}],"isError":true}`, "failed", nil},
		"a record of what fails":      {"create_run", `{"id":"run_1","status":"failed","error":{"message":"no quota"}}`, "neither", nil},
		"in lines":                    {"send_email", "status: failed\nreason: mailbox full", "failed", nil},
		"rejected by a person":        {"submit_order", `{"status":"cancelled_by_user"}`, "failed", nil},
		"no errors":                   {"create_issue", `{"id":7,"errors":[],"error":null,"success":true}`, "done", nil},
		"what was asked for":          {"cancel_reservation", `{"id":"K1","status":"cancelled"}`, "done", nil},
		"a state that was set":        {"update_order", `{"id":"K1","status":"rejected"}`, "done", []string{"status", "rejected"}},
		"queued":                      {"send_email", `{"status":"queued","id":"em-1"}`, "done", nil},
		"a list in a record":          {"update_order", `{"id":1,"items":[{"error":"x"},{"status":"failed"}]}`, "done", nil},
		"the text that was written":   {"create_page", "Error: how to read them\nPage created.", "done", []string{"text", "Error: how to read them\nand more"}},
		"a listing with the word":     {"add_rule", "Rules:\n1. error pages\n2. failed logins\n3. denied hosts\n4. invalid names", "done", nil},
		"sent":                        {"send_payment_request", "Payment request sent to the customer for bill B1002", "done", nil},
		"a name of an error alone":    {"create_issue", "Argument Validation Error", "failed", nil},
		"only asks":                   {"can_send_mms", "Your messaging app cannot send MMS messages.", "no effect", nil},
		"something happens at reboot": {"reset_apn_settings", "APN settings will reset at reboot.", "done", nil},
	} {
		if got := toldAs(calledTool(c.tool, c.result, c.args...)); got != c.want {
			t.Errorf("%s: %s, want %s: %s", name, got, c.want, calledTool(c.tool, c.result, c.args...).tell())
		}
	}
}

// The line states the reason of the failure, in the most informative words of the result.
func TestFailedEffectQuotesItsReason(t *testing.T) {
	for want, c := range map[string]*Call{
		"`npm publish` failed: npm ERR! 403 403 Forbidden":                                                ranCommand("npm publish", "npm notice package: x@1.0.0\nnpm ERR! code E403\nnpm ERR! 403 403 Forbidden"),
		"`git push` failed: ! [rejected] main -> main (fetch first)":                                      ranCommand("git push", "To x\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs"),
		"`terraform apply` failed: Error: creating S3 Bucket (x)":                                         ranCommand("terraform apply", "╷\n│ Error: creating S3 Bucket (x)\n│\n╵"),
		"`post_message` failed: ok: false, error: channel_not_found":                                      calledTool("post_message", `{"ts":null,"ok":false,"error":"channel_not_found"}`),
		"`send_email` failed: message: quota exceeded":                                                    calledTool("send_email", `{"success":false,"message":"quota exceeded"}`),
		"ran `git commit -m x && git push`, which printed: fatal: no upstream":                            ranCommand("git commit -m x && git push", "[main 1a2b3c4] x\nfatal: no upstream"),
		"`git commit -m x` failed: ⚠️ generated files are not staged!":                                    ranCommand("git commit -m x", "a\n⚠️ generated files are not staged!\n\nRun gen.\n\nhusky - pre-commit script failed (code 1)"),
		"called `create_run`, which returned: status: failed, id: r1":                                     calledTool("create_run", `{"id":"r1","status":"failed"}`),
		"`curl -X POST https://x.org/a` failed: 502 Bad Gateway":                                          ranCommand("curl -X POST https://x.org/a", "<html><title>502 Bad Gateway</title></html>"),
		"`git push` timed out; whether it took effect is unknown: Command timed out after 2m 0s":          ranCommand("git push", "Command timed out after 2m 0s"),
		"`git push` was killed (exit 137); whether it took effect is unknown":                             ranCommand("git push", "Exit code 137"),
		"`git push` was interrupted; whether it took effect is unknown: [Request interrupted by user]":    ranCommand("git push", "[Request interrupted by user]"),
		"`go test ./...` timed out: Command timed out after 2m 0s":                                        ranCommand("go test ./...", "Command timed out after 2m 0s"),
		"`pay_invoice` timed out; whether it took effect is unknown: MCP error -32001: Request timed out": calledTool("pay_invoice", "MCP error -32001: Request timed out"),
		"`git push` was not carried out: The user doesn't want to proceed with this tool use.":            ranCommand("git push", "The user doesn't want to proceed with this tool use."),
		"`git push` failed: ssh: connect to host x port 22: Operation timed out":                          ranCommand("git push", "ssh: connect to host x port 22: Operation timed out"),
	} {
		if got := c.tell(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// An effect that is neither done nor failed has the value of a failure in the log. It is
// never among the effects that must not be repeated.
func TestUnclearEffectIsNotDone(t *testing.T) {
	h := historyOf(run{"git commit -m x && git push", "fatal: no upstream"})
	if effects := h.effects(); len(effects) != 0 {
		t.Errorf("effects that count as done: %+v, want none", effects)
	}
	lines := h.returnedLines(0)
	if len(lines) != 1 || lines[0].Text != "[s1] ran `git commit -m x && git push`, which printed: fatal: no upstream" || lines[0].Value < failedValue/2 {
		t.Errorf("lines %+v, want one with the output of the push", lines)
	}
	text := writtenBy(t, TaskState, long("Push it.", message.Assistant("", message.Call("1", "bash", `{"command":"git commit -m x && git push"}`)), message.ToolResult("1", "fatal: no upstream")))
	if strings.Count(text, "fatal: no upstream") != 1 || strings.Contains(text, "do not repeat") {
		t.Errorf("not stated exactly once:\n%s\nwant text without %q", text, "do not repeat")
	}
}
