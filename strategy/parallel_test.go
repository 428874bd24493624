package strategy

import "testing"

// A call that holds several calls is read as these calls. Each has its own result if the result
// lists one for each.
func TestInnerCallsHaveTheirOwnResults(t *testing.T) {
	const args = `{"tool_uses":[{"recipient_name":"functions.write_file","parameters":{"path":"setup.cfg","content":"x = 1\n"}},{"recipient_name":"functions.shell","parameters":{"command":"git push origin main"}}]}`
	for _, result := range []string{
		`[{"recipient_name":"functions.write_file","result":"The file setup.cfg has been written."},{"recipient_name":"functions.shell","result":"error: failed to push some refs to 'origin'"}]`,
		`["The file setup.cfg has been written.", "error: failed to push some refs to 'origin'"]`,
		`{"results":[{"output":"The file setup.cfg has been written."},{"output":"error: failed to push some refs to 'origin'"}]}`,
	} {
		tells(t, long("Write setup.cfg and push it.", ranCalls([3]string{"multi_tool_use.parallel", args, result})...),
			[]string{"`setup.cfg`: created", "`git push origin main` failed: error: failed to push some refs"}, []string{"[done]", "recipient_name"})
	}
}

// If the parts of a result cannot be told apart, no inner call has an outcome.
func TestSharedResultIsNoOutcomeOfAnInnerCall(t *testing.T) {
	const args = `{"tool_uses":[{"recipient_name":"functions.write_file","parameters":{"path":"setup.cfg","content":"x = 1\n"}},{"recipient_name":"functions.shell","parameters":{"command":"git push origin main"}}]}`
	tells(t, long("Write setup.cfg and push it.", ranCalls([3]string{"multi_tool_use.parallel", args, "ok\n\nerror: failed to push some refs to 'origin'"})...),
		[]string{"git push origin main", "failed to push some refs"}, []string{"[done]", "`setup.cfg`: created"})
}
