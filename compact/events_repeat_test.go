package compact_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// audited is a line of the audit log.
type audited struct {
	Name string          `json:"name"`
	Span string          `json:"span_id"`
	Data json.RawMessage `json:"data"`
	size int
}

func auditOf(t *testing.T, a *memory.Archive, session string) (lines []audited) {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, session)
	if err != nil {
		t.Fatal(err)
	}
	for line, err := range s.EventLines(t.Context()) {
		l := audited{size: len(line)}
		if err == nil {
			err = json.Unmarshal(line, &l)
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

func preflightIn(t *testing.T, l audited) (p trace.Preflight) {
	t.Helper()
	if err := json.Unmarshal(l.Data, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// The estimate and the decision of a call that changes nothing are in the audit log once. Later
// calls refer to them, and have the figures that differ. Exporters get every event.
func TestUnchangedCallsReferToEarlierLines(t *testing.T) {
	a, seen := memory.New(), &tracetest.Recorder{}
	m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4", MaxContextTokens: 128_000, Archive: a, Exporters: []trace.Exporter{seen}})
	if err != nil {
		t.Fatal(err)
	}
	history := []message.Message{message.User("Begin.")}
	const calls = 6
	for i := range calls {
		if _, err := m.Preflight(t.Context(), "s", history); err != nil {
			t.Fatal(err)
		}
		history = append(history, message.Assistant(fmt.Sprint("Done ", i)), message.User("Go on."))
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := auditOf(t, a, "s")
	if len(lines) != calls+2 {
		t.Fatalf("%d lines of %d calls, want one more estimate and one more decision", len(lines), calls)
	}
	first := preflightIn(t, lines[2])
	for _, l := range lines[3:] {
		p := preflightIn(t, l)
		as := p.AsBefore
		if l.Name != trace.NameBeforeModelCall || as == nil || as.Estimate != lines[0].Span || as.Decision != lines[1].Span || as.TEst < p.TokensBefore {
			t.Fatalf("%s refers to %+v", l.Data, as)
		}
		if p.Before == nil || p.After != nil || p.Bill == nil || p.TokensBefore <= first.TokensBefore || p.OutputText == "" || l.size > 1500 {
			t.Errorf("%d bytes: %s", l.size, l.Data)
		}
	}
	t.Logf("the first call has %d bytes, later ones %d", lines[0].size+lines[1].size+lines[2].size, lines[3].size)
	if first.AsBefore != nil || first.After == nil {
		t.Errorf("the first call: %+v", first)
	}
	for _, name := range []string{trace.NameTokenEstimate, trace.NameTriggerDecision, trace.NameBeforeModelCall} {
		events := seen.Named(name)
		if len(events) != calls || strings.Contains(events[calls-1].Data.String(), "as_before") {
			t.Errorf("the exporters got %d events %s: %s", len(events), name, events[calls-1].Data)
		}
	}
}

// The candidates of the economic trigger differ in every call. A decision that differs in nothing
// else is left out, and the call has its candidates.
func TestCandidatesAreNoReasonForALine(t *testing.T) {
	a, seen := memory.New(), &tracetest.Recorder{}
	c := economical(t, a)
	c.Exporters = []trace.Exporter{seen}
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	history := longSession(400, 800)
	const calls = 8
	for i := calls - 1; i >= 0; i-- {
		if _, err := m.Preflight(t.Context(), "s", history[:400-2*i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	told, decisions, n := seen.Named(trace.NameTriggerDecision), 0, 0
	for _, l := range auditOf(t, a, "s") {
		switch l.Name {
		case trace.NameTriggerDecision:
			decisions++
		case trace.NameBeforeModelCall:
			var d trace.TriggerDecision
			if err := json.Unmarshal([]byte(told[n].Data.String()), &d); err != nil {
				t.Fatal(err)
			}
			if as := preflightIn(t, l).AsBefore; n > 0 && (as == nil || len(d.Candidates) == 0 || !slices.Equal(as.Candidates, d.Candidates)) {
				t.Errorf("call %d refers to %+v; its decision has %+v", n, as, d.Candidates)
			}
			n++
		}
	}
	if n != calls || decisions != 1 {
		t.Errorf("%d decisions of %d calls, want 1 of %d", decisions, n, calls)
	}
}

// A statement that differs is written again, each in its own line.
func TestADifferentDecisionIsWritten(t *testing.T) {
	a := memory.New()
	m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4", MaxContextTokens: 128_000, Archive: a})
	if err != nil {
		t.Fatal(err)
	}
	history := []message.Message{message.User("Begin.")}
	for _, model := range []string{"gpt-4", "gpt-4o", "gpt-4", "gpt-4o"} {
		if _, err := m.Preflight(t.Context(), "s", history, compact.WithModel(model)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := auditOf(t, a, "s")
	var names []string
	for _, l := range lines {
		names = append(names, l.Name)
	}
	call := []string{trace.NameTokenEstimate, trace.NameTriggerDecision, trace.NameBeforeModelCall}
	if want := slices.Concat(call, call, call[2:], call[2:]); !slices.Equal(names, want) {
		t.Fatalf("the lines are %q, want %q", names, want)
	}
	for i, l := range lines[6:] {
		if as := preflightIn(t, l).AsBefore; as.Estimate != lines[3*i].Span || as.Decision != lines[3*i+1].Span {
			t.Errorf("line %d refers to %+v", 6+i, as)
		}
	}
}

// A recall or a search of an unknown session leaves no folder in the archive.
func TestReadsOfUnknownSessionsMakeNoFolder(t *testing.T) {
	a, seen := memory.New(), &tracetest.Recorder{}
	c := compact.Config{Model: "gpt-4", Archive: a, Exporters: []trace.Exporter{seen}}
	c.Storage.AccessLog = true
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Recall(t.Context(), "unknown", "s1"); err == nil {
		t.Fatal("an unknown session has a text")
	}
	if _, err := m.Search(t.Context(), "unknown", regexp.MustCompile("."), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Preflight(t.Context(), "known", []message.Message{message.User("Begin.")}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Recall(t.Context(), "known", "s1"); err == nil {
		t.Fatal("the session has a removed text")
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var dirs, accesses []string
	for s, err := range record.Sessions(t.Context(), a) {
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, s.Dir)
	}
	for x, err := range record.Accesses(t.Context(), a) {
		if err != nil {
			t.Fatal(err)
		}
		accesses = append(accesses, x.Op)
	}
	if !slices.Equal(dirs, []string{"known"}) || !slices.Equal(accesses, []string{"recall", "search", "recall"}) {
		t.Errorf("folders %q, access records %q", dirs, accesses)
	}
	if n := len(seen.Named(trace.NameRecall)); n != 3 {
		t.Errorf("the exporters got %d events of recalls, want 3", n)
	}
	if lines := auditOf(t, a, "known"); lines[len(lines)-1].Name != trace.NameRecall {
		t.Errorf("the audit log of the known session ends with %s", lines[len(lines)-1].Name)
	}
}

// After a compaction, a decision compares the size with its result: it keeps its line, and the
// estimate alone is left out.
func TestADecisionKeepsItsLineWithoutTheEstimate(t *testing.T) {
	a := memory.New()
	m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4o", MaxContextTokens: 128_000, Archive: a})
	if err != nil {
		t.Fatal(err)
	}
	history := longSession(60, 800)
	for _, n := range []int{50, 54} {
		if _, err := m.Preflight(t.Context(), "s", history[:n]); err != nil {
			t.Fatal(err)
		}
	}
	if res, err := m.ManualCompact(t.Context(), "s", history[:56], ""); err != nil || !res.Triggered {
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := m.Preflight(t.Context(), "s", history[:58]); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	own, decisions := 0, map[string]bool{}
	var before string
	for _, l := range auditOf(t, a, "s") {
		switch l.Name {
		case trace.NameTriggerDecision:
			decisions[l.Span] = true
		case trace.NameBeforeModelCall:
			as := preflightIn(t, l).AsBefore
			if as != nil && as.Decision != "" && !decisions[as.Decision] {
				t.Errorf("%s refers to a decision that is not in the log", l.Data)
			}
			if as != nil && as.Decision == "" && as.Estimate != "" && before == trace.NameTriggerDecision {
				own++
			}
		}
		before = l.Name
	}
	if own == 0 {
		t.Error("no call has a decision of its own and the estimate of an earlier call")
	}
}
