package planted

import (
	"os"
	"testing"

	"github.com/agentcompact/compact/internal/samples"
)

// ruleFaults are mistakes in single rules, each with the package and the tests
// that see it.
var ruleFaults = []struct {
	fault
	pkg, tests string
}{
	{fault{"a result may take half of the budget", "policy/truncate.go", `v.Budget.Most() / 4; !t`, `v.Budget.Most() / 2; !t`, nil}, "./policy", "TestTruncateLimitsAResultToAQuarterOfTheBudget"},
	{fault{"edits that raise the floor above the budget are made", "internal/reduce/apply.go", `	if e.raisesFloor(o.View, view) {`, `	if false && e.raisesFloor(o.View, view) {`, nil}, "./internal/reduce", "TestEngineDiscardsEditsThatRaise"},
	{fault{"a boundary behind the view is taken as it is", "policy/mask.go", `return min(max(m.Since(v), 0), len(v.Messages))`, `return max(m.Since(v), 0)`, nil}, "./policy", "TestStagesClampTheBoundary"},
	{fault{"a boundary before the view is taken as it is", "policy/mask.go", `return min(max(m.Since(v), 0), len(v.Messages))`, `return min(m.Since(v), len(v.Messages))`, nil}, "./policy", "TestStagesClampTheBoundary"},
	{fault{"a round counts as one pair", "policy/partition.go", `pairs -= v.Rounds[r].Pairs`, `pairs--`, nil}, "./policy", "TestKeepCountsPairs"},
	{fault{"instructions stay before a question", "internal/reduce/apply.go", `if behind.Recent = at; at > from {`, `if behind.Recent = at; at < 0 && from < 0 {`, nil}, "./internal/reduce", "TestEnginePutsInstructions"},
	{fault{"no notice comes in front where the user has to speak", "internal/reduce/apply.go", `range []bool{false, true} {`, `range []bool{false} {`, nil}, "./internal/reduce", "TestEnginePutsInstructions"},
	{fault{"system messages stay two in a row", "message/internal/splice/joiner.go", `return ok && (before.Joined`, `return false && ok && (before.Joined`, nil}, "./message/anthropic", "TestSystemMessages"},
	{fault{"a system message that says more loses it in one with others", "message/anthropic/join.go", `|| members != 2 ||`, `||`, nil}, "./message/anthropic", "TestSystemMessages"},
	{fault{"hysteresis goes by the estimate", "compact/look.go", `c.last = max(l.After, l.Bound)`, `c.last = l.After`, nil}, "./compact", "TestHysteresisUsesTheUpperBound"},
	{fault{"a lane in use is forgotten", "compact/session.go", `other.users == 0 && (!found`, `(!found`, nil}, "./compact", "TestBranchInUseIsNotForgotten"},
	{fault{"a lane in use forgets", "compact/retire.go", `		if l.users == 0 {`, `		if true {`, nil}, "./compact", "TestBranchInUseIsNotForgotten"},
	{fault{"a session in use is forgotten", "compact/retire.go", `s.users == 0 && s != newest`, `s != newest`, nil}, "./compact", "TestSessionInUseIsNotForgotten"},
	{fault{"a wait for the audit log has no end", "compact/audit.go", `a.writing.Lock(ctx)`, `a.writing.Lock(context.WithoutCancel(ctx))`, nil}, "./compact", "TestWaitForTheAuditLog"},
	{fault{"a wait for the client of S3 has no end", "storage/s3/s3.go", `a.connecting.Lock(ctx)`, `a.connecting.Lock(context.WithoutCancel(ctx))`, nil}, "./storage/s3", "TestWaitForTheConnection"},
	{fault{"a session may be a secret in its own files", "compact/opening.go", `m.redactor.Session(name), m.now()`, `m.redactor.Session(), m.now()`, nil}, "./compact", "TestSessionIDsAre"},
	{fault{"four thousand tokens stay free for an answer", "compact/epoch.go", `leastAnswer       = 1024`, `leastAnswer       = 4096`, nil}, "./compact", "TestReserveShrinks"},
	{fault{"a refusal names more than it adds up to", "policy/errors.go", `out.Tokens = v.least(gone)`, `out.Tokens = v.least(gone) + 1`, nil}, "./compact", "TestBudgetErrorOfTheFloor"},
	{fault{"calls before an answer are no branch", "hook/transport/session.go", "	return branch\n}", "	return \"\"\n}", nil}, "./hook/transport", "TestCallsBeforeTheFirstAnswer"},
	{fault{"the stack of a stage is not logged", "compact/env.go", `"stack", string(p.Stack))`, `"stack", "")`, nil}, "./compact", "TestPanicOfASummarizer"},
	{fault{"a stage's error is warned of with its secrets", "compact/report.go", `c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text(failedStage(p)).String())`, `c.res.Warnings = append(c.res.Warnings, failedStage(p))`, nil},
		"./compact", "TestWarningsAreFreeOfSecrets"},
	{fault{"an observed call's error is warned of with its secrets", "compact/shadow.go", `"observe: "+m.Redact(err.Error())`, `"observe: "+err.Error()`, nil}, "./compact", "TestWarningsOfObservedCalls"},
	{fault{"a shadow's steps are looked for in the archive", "compact/opening.go", `s.shadow, s.volatile = true, true`, `s.shadow, s.volatile = true, false`, nil}, "./compact", "TestShadowsAreNotWritten"},
	{fault{"no turn goes for a summary above its limit", "internal/summarize/stage.go", `		c.shrunk(c.tokens, c.tokens) // the`, `		c.shrunk(c.tokens-c.tokens, 0) // the`, nil}, "./internal/summarize", "TestStageRemovesTurnsForSummary"},
	{fault{"what still fails is one of many", "strategy/worklog.go", `		if e.open {`, `		if false && e.open {`, nil}, "./strategy", "TestSummaryKeepsFailingCommand|TestFailingCommandPrecedesOthers"},
	{fault{"a refused edit is an edit", "strategy/eval/claims.go", `|refused|rejected|`, `|rejected|`, nil}, "./strategy/eval", "TestRefusedEditIsNotAChange"},
	{fault{"an index waits for a place with the commit lock", "compact/index.go", `c.m.computeNow(func() error {`, `c.m.compute(ctx, func() error {`, nil}, "./compact", "TestHolderOfTheCommitLock"},
	{fault{"a ledger waits for a place with the commit lock", "compact/commit.go", `err = c.m.computeNow(func() error {`, `err = c.m.compute(ctx, func() error {`, nil}, "./compact", "TestEveryCallStepsWait"},
	{fault{"a call that panics keeps its place", "compact/store.go", "	r.desk.give()\n	r.cancel()", `	r.cancel()`, nil}, "./compact", "TestSlotsAreReleased"},
	{fault{"edits that others appended before are not seen", "compact/edits_store.go", `gap := w.Off > c.s.edits.End`, `gap := w.Off < 0`, nil}, "./compact", "TestAppendAfterOthers"},
	{fault{"a call forgets what it appended", "compact/step.go", "		m.edits = own\n", ``, nil}, "./compact", "TestEditsOfACallAreRemembered"},
	{fault{"the first message is room that a stage counts on", "policy/duplicates.go", `func(i int) bool { return i == 0 })`, `func(i int) bool { return i < 0 })`, nil}, "./policy", "TestSpareExcludesTheFirst"},
	{fault{"who waits above the trigger hears the estimate alone", "compact/report.go", `most > total {`, `most > 2*total {`, nil}, "./compact", "TestWaitNamesTheUpperBound"},
	{fault{"a reduction suffices by its estimate", "compact/tidy.go", `return c.upperBound(out.View.Messages, out.View.Total()) < due`, `return out.View.Total() < due`, nil}, "./compact", "TestAReductionSufficesOnly"},
	{fault{"a history that grows again keeps its room", "compact/memo.go", "	m.now.room -= more\n", ``, nil}, "./compact", "TestAHistoryThatGrowsAgain"},
	{fault{"a text to summarize is searched for once", "compact/prepare.go", "float64(a.at) / tries\n", "float64(a.at)\n", nil}, "./compact", "TestATextToSummarizeIsSearched"},
	{fault{"a notice takes from the limit of the history", "policy/compat/history.go", `h.limit(room - widest)`, `h.limit(room) - widest`, nil}, "./policy/compat", "TestTheNoticeDoesNotCount"},
	{fault{"a failed command shows a newer state", "strategy/newest.go", `!c.Answered || c.Outcome == Failed {
				continue`, `!c.Answered {
				continue`, nil}, "./strategy", "TestAFailedCommandShows"},
	{fault{"a commit can be reverted twice", "strategy/takenback.go", "		delete(c.made, hash)\n", ``, nil}, "./strategy", "TestFilesOfARevertedCommitAreMarked"},
	{fault{"the order of losses is that of a map", "replay/where.go", `cmp.Compare(a.Age, b.Age), cmp.Compare(a.Form, b.Form))`, `cmp.Compare(a.Age, b.Age))`, nil}, "./replay", "TestLossesHaveAFixedOrder"},
	{fault{"a notice of before counts as a message", "policy/compat/history.go", `policy.NewNotice(p.earlier + len(removed) - len(p.notices))`, `policy.NewNotice(p.earlier + len(removed))`, nil}, "./policy/compat", "TestNoticeCountsTheMessagesOfEarlierCuts"},
	{fault{"a head that is given up is written later", "storage/record/heads.go", "		h.queue = slices.DeleteFunc(h.queue, func(q *queuedHead) bool { return q == mine })\n", "		h.queue = slices.Clip(h.queue)\n", nil}, "./storage/record", "TestAHeadThatIsGivenUp"},
	{fault{"a session of the limit itself is pruned", "storage/record/prune.go", `case !t.facts.last.Before(opts.Before):`, `case t.facts.last.After(opts.Before):`, nil}, "./storage/record", "TestPruneLeavesASession"},
	{fault{"a chain forgets an answer that was cut off", "hook/transport/recall_responses.go", `kind == "response.completed" || kind == "response.incomplete"`, `kind == "response.completed"`, nil}, "./hook/transport", "TestAChainContinuesAnAnswer"},
	{fault{"a turn's parts are mixed", "internal/lookup/turn.go", `cmp.Or(cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Ord, b.Ord))`, `cmp.Or(cmp.Compare(a.Ord, b.Ord), cmp.Compare(a.Slot, b.Slot))`, nil}, "./compact", "TestTheMessagesOfATurn"},
	{fault{"a bill gets a margin", "token/calibrate.go", `Upper: billed + round(guess*(1+c.state.Margin))`, `Upper: round((float64(billed) + guess) * (1 + c.state.Margin))`, nil}, "./token", "TestCalibratorUsesTheBill"},
	{fault{"an outage is a difference of a roll-up", "storage/s3/rollups.go", "	case errors.Is(err, ErrUnreachable), ctx.Err() != nil:\n		return false, err\n	case err != nil: // such", "	case ctx.Err() != nil:\n		return false, err\n	case err != nil: // such", nil}, "./storage/s3", "TestAnOutage"},
	{fault{"locks of deleted files count in one folder only", "storage/s3/remove.go", `return a.hiddenKept(ctx, keys)`, `return a.hiddenKept(ctx, keys[:1])`, nil}, "./storage/s3", "TestLocksOfDeletedFiles"},
	{fault{"one of several flushes ends", "trace/queue.go", "func (q *queue) notify() {\n", "func (q *queue) notify() {\n	q.waiters = q.waiters[:min(len(q.waiters), 1)]\n", nil}, "./trace", "TestEveryFlush"},
	{fault{"an output answers the oldest call with its id", "message/responses/check.go", `		c.older[c.calls[c.known].id] = c.known`, "		if _, ok := c.older[c.calls[c.known].id]; !ok {\n			c.older[c.calls[c.known].id] = c.known\n		}", nil}, "./message/responses", "TestAnOutputAnswersTheNewest"},
	{fault{"a broken stream shows a recall call", "hook/transport/recall_live.go", `case !ok && !l.ends(held):`, `case false:`, nil}, "./hook/transport", "TestABrokenStreamLeaves"},
}

func TestEveryFaultOfARuleIsCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("each fault is a build of its own; run it without -short")
	}
	found := 0
	for i, f := range ruleFaults {
		if os.Getenv("COMPACT_SOAK") != "1" && i%samples.Every(32) != 0 {
			continue // the full set is make soak
		}
		t.Run(f.name, func(t *testing.T) {
			if caught(t, f.name, f.pkg, f.tests, f.fault) {
				found++
			}
		})
	}
	t.Logf("%d faults of %d planted and caught", found, len(ruleFaults))
}
