package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/replay"
	"github.com/agentcompact/compact/serve"
	"github.com/agentcompact/compact/storage/record"
)

// Each number of a table stands under its own name. All numbers differ, so that none can
// stand for another.
func TestTablesHaveEachNumberInItsPlace(t *testing.T) {
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	stats := replay.SessionStats{
		Session: "all", Calls: 1001, In: 1002, Sent: 1003, Compactions: 1004, Stages: map[string]int{"mask": 1005, "drop": 1013}, Between: 1006, Fallbacks: 1007, Failed: 1008, Refused: 1009,
		Recalls: 1010, SentUSD: 1.5, RawUSD: 2.5, Unpriced: 1011, Measured: 1012, MeasuredUSD: 3.5, SummaryUSD: 4.5,
	}
	account := &replay.Account{
		Session: "s", Location: "dir/s", Errors: []replay.AccountProblem{{Type: "E", Message: "m", At: at}, {Type: "F", Fallback: "f", Message: "n", At: at}, {Type: "F", Fallback: "f", Message: "n", At: at.Add(time.Minute)}},
		Recalls: make([]replay.AccountRecall, 3), Money: replay.AccountMoney{Priced: true, Card: "card", Sent: 1.5, Raw: 2.5, Unpriced: 4, Summaries: 3.5, Estimated: 0.5},
		Calls: []replay.AccountCall{{Agent: "a", In: 1001, Sent: 1002}, {Agent: "b", In: 2000, Sent: 1000}, {Failed: "E", In: 1}, {Refused: true, In: 1}, {Refused: true, In: 1}},
		Steps: []replay.AccountStep{{Step: 7, Agent: "a", Before: 1003, After: 1004, Stages: []string{"mask", "drop"}, Reason: "manual", Gone: make([]replay.GoneLine, 2), Missing: 3}},
	}
	held := holdRow{Held: true, Since: &at, Who: "w", Reason: "r"}
	bill := sheetBill{SessionBill: &replay.SessionBill{Calls: 1001, CallsMeasured: 1002, AccountMoney: replay.AccountMoney{Priced: true, Sent: 1.5, Raw: 2.5, Unpriced: 1003, Measured: 3.5, Summaries: 4.5}}}
	scrub := &compact.ScrubReport{Scrubbed: record.Scrubbed{Files: []record.ScrubbedFile{{Name: "f", Places: 1001}, {Name: "g", Places: 2}, {Name: "h"}}, At: at}, Steps: []int{1, 2}}
	for name, c := range map[string]struct {
		print func(a *app) error
		want  string
	}{
		"stats": {func(a *app) error { return a.printStats(&replay.Stats{Total: stats}) }, `session  calls  tokens in  tokens sent  comp.  fallb.  recalls  estimated
all      1,001      1,002        1,003  1,004   1,007    1,010    $1.5000

session  projected raw
all            $2.5000

compactions with a part of: drop 1,013, mask 1,005
between compactions: edits of 1,006 calls
measured: $3.5000 billed by the provider for 1,012 calls, answers included
summaries: $4.5000
1,008 calls failed: the number of sent tokens is unknown, and no sum includes it
1,009 requests got an error from the provider, which billed nothing: no sum includes them
1,011 calls without a price: add --prices MODEL or --prices FILE
`},
		"report": {func(a *app) error { return a.printAccount(account, "p.html") }, `session s
dir/s

2 calls, 3,001 tokens of history, 2,002 tokens sent; 1 call failed; 2 requests got an error from the provider; 1 compaction, 3 recalls in archived messages, 1 error, 2 recovered
prompts: $1.5000 estimated, $2.5000 projected for whole histories
prices: card
4 calls without a price: add --prices MODEL or --prices FILE
summaries: $3.5000, $0.5000 of it estimated

step  agent      before → after       stages, removed messages, reason
   7  a           1,003 → 1,004       mask+drop, 5 messages  it was requested
error: 1 × E
  2026-01-02 15:04 UTC: m
recovered (f): 2 × F
  2026-01-02 15:04 UTC, 2 ×: n
written     p.html
`},
		"ls": {func(a *app) error {
			return a.list([]listed{{Session: "s", Folder: "f", Steps: 1001, Files: 1002, Bytes: 1003, Modified: at, Problem: "p", holdRow: held}})
		}, `session  steps  files       size  last written
s         1001   1002    1,003 B  2026-01-02 15:04 UTC  held since 2026-01-02 15:04 UTC by w · r  p
`},
		"bill": {func(a *app) error { return a.say("%s", bill) }, `bill of 1,001 calls: prompts estimated at $1.5000, projected with the whole history $2.5000; 1,003 calls without a price; measured $3.5000 for 1,002 calls, answers included; summaries $4.5000

`},
		"no bill": {func(a *app) error {
			return a.say("%s|%s", sheetBill{SessionBill: &replay.SessionBill{}}, sheetBill{err: errors.New("torn")})
		}, "|bill: torn\n\n"},
		"scrub": {func(a *app) error { return a.printScrub("s", scrub) }, ` 1,001  f
     2  g
        h (holds no secret; its hashes of other files or lines change)
scrubbed s: 1,003 places in 3 files
2 steps had a secret in the view: the next call of the session compacts again from the first of these steps on
`},
		"plan of a scrub": {func(a *app) error {
			return a.printScrub("s", &compact.ScrubReport{Scrubbed: record.Scrubbed{Files: scrub.Files[:1]}})
		}, " 1,001  f\nwould scrub s: 1,001 places in 1 file; --yes does it\n"},
		"matches": {func(a *app) error {
			a.matches([]recall.Match{{Ref: "r", Role: "tool", Tool: "Read", Turn: 3, Number: 12, Line: 7, Text: "a"}, {Ref: "r", Line: 8, Near: true, Text: "b"}, {Ref: "r", Line: 11, Text: "c"}, {Ref: "q", Role: "user", Line: 1, Text: "d"}})
			return nil
		}, `s12 tool Read, turn 3, recall r
     7  a
     8- b
    --
    11  c
user, recall q
     1  d
`},
		"verify": {func(a *app) error {
			a.printVerified(verified{"s", true, record.Report{Steps: 1001, Files: make([]record.FileReport, 1002), Bytes: 1003, TailProven: true, Proof: record.ProofCopy, Notes: []string{"n"}}, false})
			a.printVerified(verified{"(heads)", false, record.Report{Files: make([]record.FileReport, 2), Problems: make([]record.Problem, mostProblems+2)}, true})
			return nil
		}, `ok  s: 1,001 steps, 1,002 files, 1,003 B
    n
    the end is proven by heads that were kept elsewhere
BROKEN  (heads): 2 files, 0 B
` + strings.Repeat("    : :\n", 10) + "    … and 2 problems more; --json has them all\n"},
		"conversation": {func(a *app) error {
			return a.printConversation(&conversation{File: "f", Said: []readableMessage{
				{Number: 1, Cited: 4, Role: "user", Parts: []piece{{Kind: "text"}, {Kind: "text", Text: "a  b"}}}, {Number: 1001, Role: "assistant", Parts: []piece{{Kind: "tool_call", Name: "read", Text: "{}"}}}, {Number: 3, Role: "tool"},
			}})
		}, `
conversation, from f
    1  user       [s4] a b
 1001  assistant  → read {}
    3  tool       

summaries cite a message by the [s12] in front of it; to read all of it: compactctl archive recall SESSION s12
`},
		"uncited": {func(a *app) error {
			return a.printConversation(&conversation{File: "f", Said: []readableMessage{{Number: 1, Role: "user", Parts: []piece{{Kind: "text", Text: "a"}}}}})
		}, "\nconversation, from f\n    1  user       a\n"},
		"probes": {func(a *app) error {
			return a.printProbes([]probe{probeOf(configs.Probe{What: "bucket", Where: "w", Did: "d"}), probeOf(configs.Probe{What: "spool", Where: "v", Err: errors.New("e"), Advice: "f"}), probeOf(configs.Probe{What: "KMS key", Where: "k", Not: "n"})})
		}, `
what works
bucket       ok         w: d
spool        failed     v: e
                        → f
KMS key      not tried  k: n
`},
	} {
		var b strings.Builder
		a := newApp(nil, &b, io.Discard)
		if err := c.print(a); err != nil || b.String() != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, b.String(), c.want)
		}
	}
}

// The headline compares the view with the whole history, not with the view before the call,
// which can be much smaller.
func TestHeadlineIsAboutTheHistory(t *testing.T) {
	res := &compact.Result{TokensIn: 9000, MaxTokens: 20_000, Model: "m", Triggered: true, KeptCount: 4, MaskedCount: 2, DroppedCount: 1, Session: "s"}
	res.Before.Total, res.After.Total = 3000, 1800
	r := &reportWriter{res: res}
	want := "Masked 2 tool results and dropped 1 message.\n9,000 → 1,800 tokens (-80 %), 9 % of m's window of 20,000\ngone: 2 masked, 1 dropped; stays: 4 messages; back: nothing was stored\n\n"
	if r.headline(); r.String() != want {
		t.Errorf("got\n%swant\n%s", r.String(), want)
	}
}

// The receipt of a run has a line for each kind of figure, and none for what did not happen.
func TestReceiptReportsWhatHappened(t *testing.T) {
	const calls, tokens, archive = "compact: 1,001 model calls, 1 compaction, 2 recalls\n", "compact: prompts 500 tokens instead of 1,000 (-50 %)\n", "compact: the removed text is in the archive: compactctl archive ls\n"
	base := serve.Stats{Requests: 1002, Calls: 1001, Compactions: 1, Recalls: 2, History: 1000, Sent: 500, Unpriced: 1001}
	for name, c := range map[string]struct {
		s      serving
		change func(*serve.Stats)
		want   string
	}{
		"a run":         {serving{}, func(*serve.Stats) {}, calls + tokens + archive},
		"in memory":     {serving{inMemory: true}, func(*serve.Stats) {}, calls + tokens + "compact: the removed text is lost: the archive was in memory (storage.adapter)\n"},
		"failures":      {serving{}, func(s *serve.Stats) { s.Failures, s.Unanswered = 3, 1 }, calls + tokens + "compact: 3 requests sent unchanged because of an error in compact\ncompact: 1 request without a complete answer\n" + archive},
		"no compaction": {serving{}, func(s *serve.Stats) { s.Compactions = 0 }, "compact: 1,001 model calls, 0 compactions, 2 recalls\n" + tokens},
		"none removed":  {serving{}, func(s *serve.Stats) { s.Compactions, s.Sent = 0, s.History }, "compact: 1,001 model calls, 0 compactions, 2 recalls\ncompact: prompts 1,000 tokens, none removed\n"},
		"only observed": {serving{c: serve.Config{Observe: true}}, func(*serve.Stats) {}, strings.Replace(calls, "1,001", "no request was changed; with compaction: 1,001", 1) + tokens},
		"no request":    {serving{}, func(s *serve.Stats) { *s = serve.Stats{} }, "compact: no request arrived: the command made none, or it reads none of the variables that 'compactctl run --help' lists\ncompact: 0 model calls, 0 compactions, 0 recalls\n"},
	} {
		st := base
		c.change(&st)
		var errOut strings.Builder
		c.s.app = newApp(nil, io.Discard, &errOut)
		if c.s.receipt(st); errOut.String() != c.want {
			t.Errorf("%s:\n%swant\n%s", name, errOut.String(), c.want)
		}
	}
}

// A session that vanished is found by its id, also if its folder has another name, and is
// left out of the sessions to read.
func TestVanishedSessionIsFoundByItsID(t *testing.T) {
	const id, other = "ticket 47/11", "one"
	vanished := []record.Report{{Dir: record.EscapeSession(id)}, {Dir: other}, {Dir: strings.Repeat("a", 64)}}
	for _, c := range []struct{ names, found, left []string }{
		{nil, []string{id, other, vanished[2].Dir}, nil},
		{[]string{id, "two"}, []string{id}, []string{"two"}},
		{[]string{record.EscapeSession(id)}, []string{record.EscapeSession(id)}, []string{}},
		{[]string{"two"}, nil, []string{"two"}},
	} {
		all, left := pick(vanished, c.names)
		var found []string
		for _, v := range all {
			found = append(found, v.Session)
		}
		if !slices.Equal(found, c.found) || !slices.Equal(left, c.left) {
			t.Errorf("%q: found %q, and left %q; want %q and %q", c.names, found, left, c.found, c.left)
		}
	}
}
