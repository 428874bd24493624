package replay

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// numbersOf returns the numbers in the JSON of a value, by their paths.
func numbersOf(t *testing.T, v any) map[string]float64 {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var in any
	if err := json.Unmarshal(data, &in); err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case float64:
			out[path] = v
		case map[string]any:
			for k, e := range v {
				walk(strings.TrimPrefix(path+"."+k, "."), e)
			}
		}
	}
	walk("", in)
	return out
}

// Each column of a CSV has the number that JSON has under the same name, so no two columns
// are exchanged. Columns with another name than in JSON are listed here.
func TestEachColumnHasTheNumberOfItsName(t *testing.T) {
	n := 1
	row, one := Row{Recalls: true}, SessionStats{Stages: map[string]int{"mask": 901, "summarize": 902, "of-the-caller": 903}}
	filled(reflect.ValueOf(&row).Elem(), &n)
	filled(reflect.ValueOf(&one).Elem(), &n)
	for name, c := range map[string]struct {
		write func(*strings.Builder) error
		value any
		named map[string]string
		text  []string // columns without a number
	}{
		"report": {func(b *strings.Builder) error { return (&Report{Rows: []Row{row}}).WriteCSV(b) }, row, map[string]string{
			"cached_cost_usd": "cost_by_kind_usd.cached", "written_cost_usd": "cost_by_kind_usd.written", "fresh_cost_usd": "cost_by_kind_usd.fresh", "output_cost_usd": "cost_by_kind_usd.output",
			"cached": "usage.cached", "written": "usage.written", "fresh": "usage.fresh", "output": "usage.output", "one_recall_brings": "identifiers_one_recall_would_bring",
			"user_told": "told_after_compactions.user", "user_of": "told_after_compactions.user_of", "failed_told": "told_after_compactions.failed", "failed_of": "told_after_compactions.failed_of",
			"false_told": "told_after_compactions.false", "outcomes_told": "told_after_compactions.stated",
		}, []string{"session", "policy", "reference"}},
		"stats": {func(b *strings.Builder) error { return (&Stats{Total: one}).WriteCSV(b) }, one, nil, []string{"session"}},
	} {
		var b strings.Builder
		if err := c.write(&b); err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
		if err != nil || len(lines) != 2 {
			t.Fatalf("%s: %q, %v", name, b.String(), err)
		}
		numbers, seen := numbersOf(t, c.value), 0
		for stage := range one.Stages {
			if name == "stats" && !slices.Contains(lines[0], "compactions_"+stage) {
				t.Errorf("there is no column for the stage %s: %s", stage, lines[0])
			}
		}
		for i, column := range lines[0] {
			path := cmp.Or(c.named[column], column)
			stage, ofStage := strings.CutPrefix(column, "compactions_")
			if ofStage {
				path = "compactions_by_stage." + stage
			}
			want, is := numbers[path]
			is = is || ofStage // other stages have 0
			if got, err := strconv.ParseFloat(lines[1][i], 64); is && (err != nil || got != want) {
				t.Errorf("%s: %s is %s, want %v", name, column, lines[1][i], want)
			}
			if seen++; !is && !slices.Contains(c.text, column) {
				t.Errorf("%s: the JSON has no %s", name, path)
			}
		}
		if seen < 15 {
			t.Errorf("%s: %d columns", name, seen)
		}
	}
}

// Each field of an event reaches the account.
func TestAnAccountHasEachFieldOfItsEvents(t *testing.T) {
	a, spans := &Account{}, map[string]int{}
	at := time.Date(2026, 11, 25, 22, 32, 45, 0, time.UTC)
	for _, line := range []string{
		`{"name":"before_model_call","span_id":"c","agent":"a","started_at":"2026-11-25T22:32:45Z","data":{"model":"m","step":3,"tokens_in":50,"tokens_before":40,"tokens_after":30,"max_tokens":90,"reduction_stage":"mask","error_type":"E","triggered":true,
			"bill":{"prices":"p","relative":false,"estimated_prompt_usd":1,"projected_whole_prompt_usd":2,"session_estimated_prompts_usd":3,"summary_usd":4,"summary_prices":"q"}}}`,
		`{"name":"before_model_call","span_id":"d","started_at":"2026-11-25T22:32:45Z","data":{"model":"m","tokens_before":40,"tokens_after":30,"triggered":true,"bill":{"relative":true,"summary_usd":4}}}`,
		`{"name":"compact.usage","span_id":"u","agent":"a","started_at":"2026-11-25T22:32:45Z","data":{"prompt_tokens_measured":7,"cached_tokens_measured":5,"output_tokens_measured":3,"measured_usd":0.5}}`,
		`{"name":"compact.usage","span_id":"v","data":{"prompt_tokens_measured":7,"measured_usd":0.5,"prices_relative":true}}`,
		`{"name":"compact.error","span_id":"e","agent":"a","parent_id":"c","started_at":"2026-11-25T22:32:45Z","data":{"step":3,"error_type":"E","fallback":"f","message":"g"}}`,
		`{"name":"compact.summarize","span_id":"s","agent":"a","started_at":"2026-11-25T22:32:45Z","data":{"prices":"p","summary_usd":2,"summary_estimated_usd":1,"prices_relative":true}}`,
	} {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		a.take(&e, spans)
	}
	want := &Account{
		Calls: []AccountCall{
			{At: at, Agent: "a", Model: "m", Step: 3, Window: 90, In: 50, Sent: 30, Stage: "mask", Failed: "E", Summary: 4, span: "c", apart: true, before: 40, bill: recordedBill{"p", false, 1, 2, 3}},
			{At: at, Model: "m", In: 40, Sent: 30, span: "d", before: 40, between: true, bill: recordedBill{Relative: true}},
		},
		Usages:    []AccountUsage{{At: at, Agent: "a", Prompt: 7, Cached: 5, Output: 3, USD: 0.5}, {Prompt: 7}},
		Errors:    []AccountProblem{{At: at, Agent: "a", Step: 3, Type: "E", Fallback: "f", Message: "g", call: "c"}},
		summaries: []summaryCost{{at: at, agent: "a", prices: "p", usd: 2, estimated: 1, relative: true}},
	}
	for name, of := range map[string][2]any{"calls": {a.Calls, want.Calls}, "usages": {a.Usages, want.Usages}, "errors": {a.Errors, want.Errors}, "summaries": {a.summaries, want.summaries}} {
		if !reflect.DeepEqual(of[0], of[1]) {
			t.Errorf("%s:\n%+v, want\n%+v", name, of[0], of[1])
		}
	}
}

// The counts of a compaction include the messages without a line of their own. Each line
// has the fields of its decision.
func TestACompactionCountsTheMessagesWithoutALine(t *testing.T) {
	clean, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const most, masked = maxChangedLines, maxChangedLines + 5
	res := &compact.Result{Step: 1, CallStage: "mask"}
	res.Before.Total, res.After.Total = 900, 90
	var history []message.Message
	for i := range masked + 2 {
		d := policy.Masked
		if i >= masked {
			d = policy.Dropped
		}
		history = append(history, message.ToolResult("c", fmt.Sprintf("result  %d", i)))
		res.Decisions = append(res.Decisions, compact.MessageDecision{Index: i, Role: message.RoleTool, Decision: d, TokensBefore: 100 + i, TokensAfter: i})
	}
	res.Messages, res.Sources = []message.Message{message.ToolResult("c", "gone 3")}, []int{3}
	c := changes{clean: clean}
	x := c.of(res, history)
	if x.Before != 900 || x.After != 90 || x.Stage != "mask" || len(x.Lines) != most || x.More != masked+2-most || x.Counts["masked"] != masked || x.Counts["dropped"] != 2 {
		t.Errorf("%d lines and %d more: %+v", len(x.Lines), x.More, x.Counts)
	}
	for i, now := range []string{3: "gone 3", 4: ""} {
		want := ChangedLine{Index: i, Role: "tool", Decision: "masked", Before: 100 + i, After: i, Words: fmt.Sprintf("result %d", i), Now: now}
		if x.Lines[i] != want {
			t.Errorf("%+v, want %+v", x.Lines[i], want)
		}
	}
	if x := c.of(res, history); x.More != 0 || len(x.Lines) != 0 || len(x.Counts) != 0 {
		t.Errorf("the same decisions again: %+v", x)
	}
}

// The rates of needs follow from the counts of the sessions. The figures are computed by
// hand: three sessions of two projects.
func TestNeedRatesAreSumsOverSessions(t *testing.T) {
	of := func(project string, reached, needed int) needCounts {
		return needCounts{project: project, reached: [2][]int{{reached}, {10 * reached}}, needed: [2][]int{{needed}, {0}}}
	}
	n := &Needs{ages: []int{4}, sessions: []needCounts{of("a", 10, 5), of("a", 20, 4), of("b", 10, 1)}}
	// 10 of 40 messages: a quarter. The sessions differ from it by 2.5, -1 and -1.5.
	spread := math.Sqrt((2.5*2.5+1+1.5*1.5)*3/2) / 40
	// Project a is expected to need 30/10, and needs 9; project b 10*9/30, and needs 1.
	out := (6.0 + 2.0) / 10
	got := n.Results()[0]
	if got.Age != 4 || got.Messages != 40 || got.Rate != 0.25 || math.Abs(got.Error-spread) > 1e-12 || math.Abs(got.Out-out) > 1e-12 {
		t.Errorf("%+v, want an error of %v, and of %v for other projects", got, spread, out)
	}
	if said := n.Said()[0]; said != (NeedRate{Age: 4, Messages: 400}) {
		t.Errorf("other messages: %+v", said)
	}
	n.sessions = n.sessions[:1]
	if got := n.Results()[0]; got.Error != 0 || got.Rate != 0.5 {
		t.Errorf("one session: %+v", got)
	}
}
