package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// driven runs an agent call by call under a preset, with results of a given number of
// lines, and returns the result of the last call.
func driven(t *testing.T, preset string, window, calls, lines int) (*Account, storage.Archive, *compact.Result) {
	t.Helper()
	return drivenIn(t, memory.New(), preset, window, calls, lines)
}

func drivenIn(t *testing.T, archive storage.Archive, preset string, window, calls, lines int) (*Account, storage.Archive, *compact.Result) {
	t.Helper()
	c, err := compact.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.Archive, c.MaxContextTokens = "gpt-4o", archive, window
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	history := []message.Message{message.User("go on")}
	var last *compact.Result
	for k := range calls {
		if last, err = m.Preflight(t.Context(), "s", history); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("c%d", k)
		var text strings.Builder
		for i := range lines {
			fmt.Fprintf(&text, "line %d of %s says this and that\n", i*i, id)
		}
		history = append(history, message.Assistant(strings.Repeat("so I look at "+id+" first. ", 12), message.Call(id, "bash", `{"command":"cat `+id+`.txt"}`)), message.ToolResult(id, text.String()))
	}
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return accountOf(t, archive, "s"), archive, last
}

// stepCounts counts the messages that each step edited or removed, by the events.
// Messages edited between steps have the number 0.
func stepCounts(t *testing.T, a storage.Archive) map[int]int {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]int{}
	for line, err := range s.EventLines(t.Context()) {
		var e struct {
			Name string `json:"name"`
			Data struct {
				Step      int `json:"step"`
				Pruned    int `json:"pruned_count"`
				Masked    int `json:"masked_count"`
				Truncated int `json:"truncated_count"`
			} `json:"data"`
		}
		if err != nil || json.Unmarshal(line, &e) != nil {
			t.Fatal(err)
		}
		if d := e.Data; e.Name == "compact.pruned_messages" {
			out[d.Step] += d.Pruned + d.Masked + d.Truncated
		}
	}
	return out
}

func TestStepExcludesEditsBetweenSteps(t *testing.T) {
	x, archive, last := driven(t, "masking", 100_000, 60, 40)
	want := stepCounts(t, archive)
	if len(x.Steps) == 0 || want[0] == 0 {
		t.Fatalf("%d steps, %d edits between them", len(x.Steps), want[0])
	}
	for _, s := range x.Steps {
		if n := len(s.Gone) + s.Missing; n != want[s.Step] {
			t.Errorf("step %d edited %d messages, and its event has %d", s.Step, n, want[s.Step])
		}
	}
	between := 0
	for _, e := range x.Between {
		between += len(e.Gone)
		if e.At.IsZero() || e.Kind != "always" || len(e.Stages) != 1 || e.Before <= e.After || e.Missing > 0 {
			t.Errorf("between steps: %+v", e)
		}
		for _, g := range e.Gone {
			if g.Tool != "bash" || g.Is != "masked" || len(g.Ref) != 12 || g.Words == "" {
				t.Fatalf("between steps: %+v", g)
			}
		}
	}
	if between != want[0] {
		t.Errorf("%d messages between steps, and events say %d", between, want[0])
	}
	if x.Edited != last.MaskedCount || x.Lost != 0 {
		t.Errorf("%d different messages, %d of them lost; %d are masked", x.Edited, x.Lost, last.MaskedCount)
	}
}

func TestSessionThatOnlyTidiedReportsIt(t *testing.T) {
	x, archive, last := driven(t, "economy", 200_000, 8, 700)
	if want := stepCounts(t, archive); len(x.Steps) != 0 || len(x.Between) == 0 || want[0] != last.TruncatedCount || x.Edited != want[0] {
		t.Fatalf("%d steps, %d calls between, %d messages; %d edits, %d truncated", len(x.Steps), len(x.Between), x.Edited, want[0], last.TruncatedCount)
	}
	if said := x.BetweenSteps(); !strings.HasPrefix(said, fmt.Sprintf("%d messages: %d truncated; ", x.Edited, x.Edited)) || !strings.HasSuffix(said, " tokens less") {
		t.Error(said)
	}
	if s := statsOf(t, archive); s.Compactions != 0 || s.Between != len(x.Between) {
		t.Errorf("stats: %+v", s)
	}
	var b strings.Builder
	if err := x.WriteHTML(&b, ""); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Between the steps") || !strings.Contains(b.String(), x.Between[0].Gone[0].Ref) {
		t.Error("the page does not show the edits between steps")
	}
}

// A message that several steps edit counts once.
func TestAnAccountCountsAMessageOnce(t *testing.T) {
	x, _, last := driven(t, "graduated", 16_000, 90, 40)
	all := 0
	for _, s := range x.Steps {
		all += len(s.Gone)
	}
	want := last.MaskedCount + last.TruncatedCount + last.SummarizedCount + last.DroppedCount
	if x.Edited != want || all <= want {
		t.Errorf("%d different messages of %d that were edited in steps; the last call has %d", x.Edited, all, want)
	}
	if said := strings.Join(x.Sure(), ". "); !strings.Contains(said, fmt.Sprintf("Each of the %d messages that were edited or removed", want)) {
		t.Error(said)
	}
}

// logEvents appends events to the audit log of a session.
func logEvents(t *testing.T, a storage.Archive, lines ...string) {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	clean, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []redact.Text
	for _, l := range lines {
		all = append(all, clean.Record([]byte(l)))
	}
	if err := s.Events(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// A summary that comes too late counts as one failure of its call, even if the log
// reports it under several names.
func TestAnAccountCountsAFailureOfACallOnce(t *testing.T) {
	_, archive, _ := driven(t, "graduated", 100_000, 2, 5)
	for k := range 3 {
		call := fmt.Sprintf(`"started_at":"2026-11-25T22:32:4%dZ","parent_id":"c%d"`, k, k)
		logEvents(t, archive,
			fmt.Sprintf(`{"name":"compact.error","span_id":"a%d",%s,"data":{"error_type":"SummarizerFailed","fallback":"extractive","message":"it is late"}}`, k, call),
			fmt.Sprintf(`{"name":"compact.error","span_id":"b%d",%s,"data":{"error_type":"SummaryLate","fallback":"uncommitted","message":"it is late"}}`, k, call))
	}
	x := accountOf(t, archive, "s")
	if len(x.Errors) != 3 || x.Errors[2].Type != "SummaryLate" || x.Errors[2].Fallback != "uncommitted" {
		t.Errorf("%d errors: %+v", len(x.Errors), x.Errors)
	}
	if n := statsOf(t, archive).Fallbacks; n != 3 {
		t.Errorf("%d fallbacks of three", n)
	}
	logEvents(t, archive, `{"name":"compact.error","span_id":"d","started_at":"2026-11-25T22:32:50Z","parent_id":"c2","data":{"error_type":"Export","fallback":"none","message":"another failure"}}`)
	if x := accountOf(t, archive, "s"); len(x.Errors) != 4 || x.Errors[2].Type != "SummaryLate" || x.Errors[3].Type != "Export" {
		t.Errorf("another failure of the last call: %+v", x.Errors)
	}
}

// A failure that the report finds itself is not counted again if it is in the audit
// log, too.
func TestAnAccountCountsAChangedLedgerOnce(t *testing.T) {
	dir := t.TempDir()
	_, archive, _ := drivenIn(t, openFolder(t, dir), "graduated", 16_000, 30, 40)
	name := filepath.Join(dir, "s", "ledger-001.json")
	if err := os.WriteFile(name, []byte(`{"v":2,"step":1,"session":"s"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	x := accountOf(t, archive, "s")
	if len(x.Errors) != 1 || x.Errors[0].Type != "ArchiveChanged" || x.Errors[0].Step != 1 {
		t.Fatalf("%+v", x.Errors)
	}
	message, err := json.Marshal(x.Errors[0].Message)
	if err != nil {
		t.Fatal(err)
	}
	logEvents(t, archive, `{"name":"compact.error","span_id":"a","parent_id":"c","data":{"error_type":"ArchiveChanged","fallback":"none","message":`+string(message)+`}}`)
	if x = accountOf(t, archive, "s"); len(x.Errors) != 1 || x.Errors[0].Step != 1 || x.Errors[0].Fallback != "none" {
		t.Errorf("%+v", x.Errors)
	}
}

// The page and the text distinguish errors from recovered failures, in the same words.
func TestPageDistinguishesErrorsFromFallbacks(t *testing.T) {
	over := AccountProblem{Type: "CommitLost", Fallback: "next number", Message: "taken"}
	failed := AccountProblem{Type: "InsufficientBudget", Fallback: "none", Message: "too large"}
	call := AccountCall{Window: 9, Sent: 1}
	bad := AccountCall{Window: 9, Sent: 10, Failed: "InsufficientBudget"}
	for _, c := range []struct {
		calls []AccountCall
		all   []AccountProblem
		sure  string
		tiles []string
	}{
		{[]AccountCall{call}, nil, "No call failed, and no fallback was used", []string{"<b>1</b> call<", "<b>0</b> errors<"}},
		{[]AccountCall{call, call}, []AccountProblem{over, over}, "No call failed; below: 2 failures recovered", []string{"<b>2</b> calls<", "<b>0</b> errors<", "<b>2</b> recovered<"}},
		{[]AccountCall{call, bad}, []AccountProblem{over, failed}, "1 call failed; below: 1 error, 1 failure recovered", []string{"<b>1</b> call<", "<b>1</b> error<", "<b>1</b> call failed, "}},
	} {
		a := &Account{Calls: c.calls, Errors: c.all, Steps: make([]AccountStep, 1)}
		if sure := a.Sure(); sure[0] != c.sure || sure[1] != "Every prompt was within the window" {
			t.Errorf("%q, want %q", sure, c.sure)
		}
		var b strings.Builder
		if err := a.WriteHTML(&b, ""); err != nil {
			t.Fatal(err)
		}
		for _, tile := range append(c.tiles, "<b>1</b> compaction<") {
			if !strings.Contains(b.String(), tile) {
				t.Errorf("the page lacks %q", tile)
			}
		}
	}
}

func TestReasonsOfACompactionHaveWords(t *testing.T) {
	for _, reason := range []string{trace.ReasonUsage, trace.ReasonBudget, trace.ReasonBytes, trace.ReasonEconomic, trace.ReasonManual, trace.ReasonArrival, trace.ReasonEveryCall} {
		if said := why(reason); said == reason || !strings.Contains(said, " ") {
			t.Errorf("%s: %q", reason, said)
		}
	}
}

// The cost of summaries comes from their own events, even for summaries that no call
// used. Older programs recorded it only in the bill of the call.
func TestAnAccountHasTheCostOfSummaries(t *testing.T) {
	_, archive, _ := driven(t, "graduated", 100_000, 2, 5)
	const at = `"started_at":"2026-11-25T22:32:45Z"`
	logEvents(t, archive,
		`{"name":"compact.summarize","span_id":"a",`+at+`,"data":{"summary_usd":0.5,"summary_estimated_usd":0.25,"prices":"m (list)"}}`,
		`{"name":"compact.summarize","span_id":"b","agent":"x",`+at+`,"data":{"summary_usd":1,"prices":"m (list)","unused":true}}`,
		`{"name":"compact.summarize","span_id":"b","agent":"x",`+at+`,"data":{"summary_usd":1,"prices":"m (list)","unused":true}}`,
		`{"name":"compact.summarize","span_id":"c",`+at+`,"data":{"backend":"openai","prompt_tokens":5}}`,
		`{"name":"compact.summarize","span_id":"d",`+at+`,"data":{"summary_usd":7,"prices":"m","prices_relative":true}}`,
		`{"name":"before_model_call","span_id":"e",`+at+`,"data":{"model":"gpt-4o","tokens_in":1,"bill":{"summary_usd":0.5,"summary_prices":"m (list)"}}}`,
		`{"name":"before_model_call","span_id":"f",`+at+`,"data":{"model":"gpt-4o","tokens_in":1,"bill":{"summary_usd":2}}}`)
	if m := accountOf(t, archive, "s").Money; m.Summaries != 3.5 || m.Estimated != 0.25 {
		t.Errorf("$%v for summaries, $%v of it estimated", m.Summaries, m.Estimated)
	}
	s, err := ReadStats(t.Context(), archive, Filter{Agent: "x"}, price.Card{})
	if err != nil || s.Total.SummaryUSD != 1 { // although the agent has no call
		t.Errorf("%+v, %v", s.Total, err)
	}
	if usd := statsOf(t, archive).SummaryUSD; usd != 3.5 {
		t.Errorf("$%v in all", usd)
	}
}

// Two calls of one agent can edit equal sizes, as two reads of one file do. Each edit has
// the time of its own call.
func TestEqualEditsHaveTheTimesOfTheirOwnCalls(t *testing.T) {
	made := func(agent string, minute int) AccountCall {
		return AccountCall{At: beginning.Add(time.Duration(minute) * time.Minute), Agent: agent, before: 900, Sent: 500, between: true}
	}
	edit := func(agent string) AccountEdit { return AccountEdit{Agent: agent, Before: 900, After: 500} }
	a := &Account{Calls: []AccountCall{made("one", 1), made("two", 2), made("one", 3)}}
	for i, e := range a.dated([]AccountEdit{edit("one"), edit("one"), edit("two"), edit("two")}) {
		want := time.Time{} // the audit log lacks the call
		if minute := []int{1, 3, 2, 0}[i]; minute > 0 {
			want = beginning.Add(time.Duration(minute) * time.Minute)
		}
		if !e.At.Equal(want) {
			t.Errorf("edit %d of agent %s is of %s, want %s", i+1, e.Agent, e.At, want)
		}
	}
}

// Statistics of one agent, or of a time, have the summaries of that agent and time.
func TestAFilterTakesTheSummariesOfItsAgentAndTime(t *testing.T) {
	a := &Account{summaries: []summaryCost{
		{at: beginning, agent: "one", usd: 1}, {at: beginning.Add(time.Hour), agent: "one", usd: 2}, {at: beginning.Add(time.Hour), agent: "two", usd: 4},
	}}
	for f, want := range map[Filter]float64{
		{}: 7, {Agent: "one"}: 3, {Agent: "two"}: 4, {Since: beginning.Add(time.Minute)}: 6, {Agent: "one", Since: beginning.Add(time.Minute)}: 2, {Agent: "three"}: 0,
	} {
		if got := a.stats(f).SummaryUSD; got != want {
			t.Errorf("%+v: $%v of summaries, want $%v", f, got, want)
		}
	}
}

// Two processes can make the same edits. If one of them was too late and voids its own, the
// edits of the other one stay. A void line can also come before its edits.
func TestAVoidLineTakesBackTheEditsOfItsTryAlone(t *testing.T) {
	line := func(kind, try, agent string) string {
		return fmt.Sprintf(`{"edit":{"v":2,"kind":%q,"try":%q,"agent":%q,"out":{"n":3,"hash":%q},"tokens_before":900,"tokens_after":300}}`, kind, try, agent, strings.Repeat("ab", 16))
	}
	for name, c := range map[string]struct {
		lines []string
		want  int
	}{
		"of another process": {[]string{line("tidy", "mine", ""), line("tidy", "theirs", ""), line("void", "mine", "")}, 1},
		"of both processes":  {[]string{line("tidy", "mine", ""), line("tidy", "theirs", ""), line("void", "mine", ""), line("void", "theirs", "")}, 0},
		"before its edits":   {[]string{line("void", "mine", ""), line("tidy", "mine", ""), line("tidy", "theirs", "")}, 1},
		"of another agent":   {[]string{line("tidy", "mine", "one"), line("void", "mine", "two")}, 1},
		"before the field":   {[]string{line("tidy", "", ""), line("void", "", "")}, 0},
	} {
		clean, err := redact.New(redact.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a := memory.New()
		s, err := record.OpenSession(t.Context(), a, "s")
		for _, l := range c.lines {
			if err == nil {
				_, err = s.Edits(t.Context(), []redact.Text{clean.Record([]byte(l))})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if x := accountOf(t, a, "s"); len(x.Between) != c.want {
			t.Errorf("%s: %d edits between steps, want %d", name, len(x.Between), c.want)
		}
	}
}

// Statistics of one agent, or of a time, have the fallbacks of that agent and time.
func TestAFilterTakesTheFallbacksOfItsAgentAndTime(t *testing.T) {
	a := &Account{Errors: []AccountProblem{
		{At: beginning, Agent: "one", Type: "SummarizerFailed", Fallback: "extract"}, {At: beginning.Add(time.Hour), Agent: "one", Type: "SummarizerFailed", Fallback: "extract"},
		{At: beginning.Add(time.Hour), Agent: "two", Type: "SummarizerFailed", Fallback: "extract"}, {At: beginning, Agent: "one", Type: "CommitLost", Fallback: "next number"},
	}}
	for f, want := range map[Filter]int{{}: 3, {Agent: "one"}: 2, {Agent: "two"}: 1, {Since: beginning.Add(time.Minute)}: 2, {Agent: "three"}: 0} {
		if got := a.stats(f).Fallbacks; got != want {
			t.Errorf("%+v: %d fallbacks, want %d", f, got, want)
		}
	}
}
