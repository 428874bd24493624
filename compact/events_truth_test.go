package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

// thinking is a model that needs time, by the clock of the bubble.
type thinking struct{ billing }

const thought = 3 * time.Second

func (m thinking) Summarize(ctx context.Context, r strategy.Request) (strategy.Draft, error) {
	select {
	case <-time.After(thought):
	case <-ctx.Done():
		return strategy.Draft{}, ctx.Err()
	}
	return m.billing.Summarize(ctx, r)
}

// storing is an archive that needs time for transcripts, and then may fail.
type storing struct {
	*memory.Archive
	takes time.Duration
	err   error
}

func (a *storing) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if strings.Contains(k.String(), "transcript-") {
		time.Sleep(a.takes)
		if a.err != nil {
			return a.err
		}
	}
	return a.Archive.Create(ctx, k, b)
}

// viewCounts holds the counts of a view, found by reading it.
type viewCounts struct {
	tokens int
	there  map[string]string // identity of a message → its text
	masked int
}

// countView reads a view as a model would get it: by call ids and texts.
func countView(t *testing.T, view []message.Message) viewCounts {
	t.Helper()
	enc, err := token.ForEncoding("cl100k_base")
	if err != nil {
		t.Fatal(err)
	}
	c := viewCounts{tokens: 3, there: map[string]string{}}
	for _, m := range view {
		name, all := string(m.Role), string(m.Role)
		for _, p := range m.Parts {
			all += p.Text + p.Name + string(p.Args)
			switch {
			case p.CallID != "":
				name += " " + p.CallID
			default:
				name += " " + p.Text
			}
			c.tokens += enc.Count(p.Text) + enc.Count(p.Name) + enc.Count(string(p.Args))
			if strings.HasPrefix(p.Text, "[observation masked") {
				c.masked++
			}
		}
		c.there[name] = all
	}
	return c
}

// gone counts the messages of one view that a later view lacks.
func (c viewCounts) gone(later viewCounts) (n int) {
	for name := range c.there {
		if _, ok := later.there[name]; !ok && !strings.Contains(name, "<COMPACT-SUMMARY") {
			n++
		}
	}
	return n
}

func dataOf[T any](t *testing.T, e trace.Event) (p T) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.Data.String()), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func last(t *testing.T, r *rig, name string) trace.Event {
	t.Helper()
	events := r.named(name)
	if len(events) == 0 {
		t.Fatalf("no %s", name)
	}
	return events[len(events)-1]
}

// The view of a call has the summary of an earlier call. The call itself only masked
// results, and its event reports that.
func TestCallReportsItsOwnStage(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	all := loop(60, 200)
	if _, err := r.ManualCompact(t.Context(), "s", all[:40], ""); err != nil {
		t.Fatal(err)
	}
	for n := 42; ; n += 2 {
		res := r.preflight(all[:n:n])
		if !res.Triggered {
			continue
		}
		p := dataOf[trace.Preflight](t, last(t, r, trace.NameBeforeModelCall))
		if p.SummarizedCount > 0 || p.MaskedCount == 0 || p.ReductionStage != "summarization" {
			t.Fatalf("%d summarized, %d masked, in a view of %s", p.SummarizedCount, p.MaskedCount, p.ReductionStage)
		}
		name := r.traces()[len(r.traces())-1]
		if res.CallStage != compact.ReductionMasking || p.CallStage != "masking" || !strings.HasPrefix(name, "#2 masking: ") {
			t.Errorf("the result says %q, the event %q, the trace %q", res.CallStage, p.CallStage, name)
		}
		return
	}
}

// Results that an earlier call masked are not visible, and a message can have several
// results.
func TestVisibleResultsAreThoseInFull(t *testing.T) {
	c, err := compact.Preset("masking")
	if err != nil {
		t.Fatal(err)
	}
	c.MaxContextTokens, c.Model = 200_000, "gpt-4"
	r := newRig(t, c)
	var history []message.Message
	for _, m := range loop(40, 60) {
		if m.Role == message.RoleTool {
			m.Parts = append(m.Parts, m.Parts[0]) // two results of one call
		}
		history = append(history, m)
	}
	var res *compact.Result
	for n := 42; n <= len(history); n += 4 {
		res = r.preflight(history[:n:n])
	}
	full := 0
	for _, m := range res.Messages {
		for _, p := range m.Parts {
			if p.Kind == message.KindToolResult && !strings.HasPrefix(p.Text, "[observation masked") {
				full++
			}
		}
	}
	if p := dataOf[trace.MaskedObservations](t, last(t, r, trace.NameMaskedObservations)); p.VisibleCount != full || p.MaskedCount != 4 {
		t.Errorf("%d masked and %d visible, want 4 and %d", p.MaskedCount, p.VisibleCount, full)
	}
}

// A call above the trigger is not reported as below it, even if a stage works on every
// call.
func TestReasonAgreesWithTheTrigger(t *testing.T) {
	for _, preset := range []string{"graduated", "economy"} {
		c, err := compact.Preset(preset)
		if err != nil {
			t.Fatal(err)
		}
		c.Model, c.MaxContextTokens = "gpt-4", 32_000
		r, reasons := newRig(t, c), map[string]int{}
		for n := range 20 { // of 32,000 tokens 25,000 are pinned, the target is 19,200
			r.preflight(append([]message.Message{message.System(text(25_000))}, loop(30+n, 50)...))
			p := dataOf[trace.TriggerDecision](t, last(t, r, trace.NameTriggerDecision))
			reasons[p.Reason]++
			if above := p.Checks[0].Met; above == (p.Reason == trace.ReasonBelow) {
				t.Errorf("reason and trigger contradict each other: %s: %s, %s", preset, p.Checks[0].Check, p.OutputText)
			}
		}
		if reasons[trace.ReasonFloor] == 0 {
			t.Errorf("%s: no call was above its floor: %v", preset, reasons)
		}
	}
}

// A call that masks the second result of a message counts as a change, although the message
// already has a masked result.
func TestSecondResultOfAMessageIsCounted(t *testing.T) {
	c, err := compact.Preset("gateway") // leaves the last five results
	if err != nil {
		t.Fatal(err)
	}
	c.MaxContextTokens, c.Model = 200_000, "gpt-4"
	r := newRig(t, c)
	var history []message.Message
	for _, m := range loop(14, 60) {
		if m.Role == message.RoleTool {
			m.Parts = append(m.Parts, m.Parts[0])
		}
		history = append(history, m)
	}
	again := 0
	for n := 12; n <= len(history); n++ {
		r.preflight(history[:n:n])
		p := dataOf[trace.Preflight](t, last(t, r, trace.NameBeforeModelCall))
		if !p.Triggered {
			continue
		}
		pruned, traces := dataOf[trace.PrunedMessages](t, last(t, r, trace.NamePrunedMessages)), r.traces()
		freed := 0
		for _, row := range pruned.Taken {
			freed += row.Tokens - row.Left
		}
		if p.MaskedCount == 0 || p.CallStage != "masking" || pruned.MaskedCount != p.MaskedCount || len(pruned.Taken) != p.MaskedCount || freed != p.TokensBefore-p.TokensAfter {
			t.Errorf("%d tokens were freed of %d; %s, %d masked in %d rows; %s", freed, p.TokensBefore-p.TokensAfter, p.CallStage, p.MaskedCount, len(pruned.Taken), traces[len(traces)-1])
		}
		again += p.MaskedCount
	}
	if masked := dataOf[trace.Preflight](t, last(t, r, trace.NameBeforeModelCall)).SessionMasked; again <= masked {
		t.Errorf("the event has %d masked messages, the results %d", masked, again)
	}
}

// The figures of a session with two compactions are compared with its views.
func TestEventsCountTheMessagesInTheViews(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	history := loop(100, 200)
	first := r.preflight(history)
	before := countView(t, append(first.Messages, loop(160, 200)[len(history):]...))
	size := len(first.Messages) + len(loop(160, 200)) - len(history)
	history = loop(160, 200)
	res := r.preflight(history)
	after := countView(t, res.Messages)

	call := dataOf[trace.Preflight](t, last(t, r, trace.NameBeforeModelCall))
	pruned := dataOf[trace.PrunedMessages](t, last(t, r, trace.NamePrunedMessages))
	decision := dataOf[struct {
		Pruned   int        `json:"pruned_count"`
		Prunable int        `json:"prunable_count"`
		Kept     trace.Kept `json:"kept"`
	}](t, last(t, r, trace.NameTriggerDecision))
	estimate := dataOf[trace.TokenEstimate](t, last(t, r, trace.NameTokenEstimate))

	out := before.gone(after)
	if out == 0 || call.PrunedCount != out || pruned.PrunedCount != out || decision.Pruned != out || len(pruned.PrunedIDs) != out {
		t.Errorf("%d messages left the view; before_model_call has %d, pruned_messages %d with %d ids, the decision %d",
			out, call.PrunedCount, pruned.PrunedCount, len(pruned.PrunedIDs), decision.Pruned)
	}
	if pruned.SummarizedCount+pruned.DroppedCount != out || decision.Prunable < out {
		t.Errorf("%d + %d of %d, prunable %d", pruned.SummarizedCount, pruned.DroppedCount, out, decision.Prunable)
	}
	if all := countView(t, history).gone(after); call.SessionPruned != all || all <= out {
		t.Errorf("%d messages of the history are removed in total, the event has %d", all, call.SessionPruned)
	}
	if call.SessionMasked != after.masked {
		t.Errorf("%d masked in the view, the event has %d", after.masked, call.SessionMasked)
	}
	if call.MessagesIn != len(history) || call.MessagesBefore != size || call.MessagesAfter != len(res.Messages) || estimate.Messages != size ||
		estimate.HistoryIn != len(history) || pruned.TotalMessages != size {
		t.Errorf("messages %d, %d, %d in %+v, %d and %d in the estimate, %d", len(history), size, len(res.Messages), call, estimate.Messages, estimate.HistoryIn, pruned.TotalMessages)
	}
	// In addition to its texts, a message costs at most 8 tokens for its frame.
	for what, pair := range map[string][2]int{"before": {call.TokensBefore, before.tokens}, "after": {call.TokensAfter, after.tokens}} {
		if over := pair[0] - pair[1]; over < 0 || over > 8*size {
			t.Errorf("%s: %d tokens, by hand %d and %d frames", what, pair[0], pair[1], size)
		}
	}
	if decision.Kept != pruned.Kept {
		t.Errorf("kept %+v in the decision, %+v in the event of pruned messages", decision.Kept, pruned.Kept)
	}
}

// A step never removes more messages than the decision allows, even with reduced keep
// counts. Messages that this program wrote do not count.
func TestCompactionRemovesAtMostThePrunableMessages(t *testing.T) {
	type plan struct {
		Prunable int `json:"prunable_count"`
		Pruned   int `json:"pruned_count"`
	}
	for name, history := range map[string][]message.Message{"large turns": turns(7, 1_000), "many": loop(200, 200), "few and large": loop(6, 2_000)} {
		r := newRig(t, compact.Config{MaxContextTokens: 8_000})
		for range 2 {
			r.preflight(history)
			history = append(history, turns(3, 700)[1:]...)
		}
		went := 0
		for _, e := range r.named(trace.NameTriggerDecision) {
			p := dataOf[plan](t, e)
			went += p.Pruned
			if p.Pruned > p.Prunable {
				t.Errorf("%s: %d of %d messages were removed", name, p.Pruned, p.Prunable)
			}
		}
		if went == 0 {
			t.Errorf("%s: no message was removed", name)
		}
	}
	masking, err := compact.Preset("masking")
	if err != nil {
		t.Fatal(err)
	}
	masking.Model, masking.MaxContextTokens = "gpt-4", 16_000
	r := newRig(t, masking)
	r.preflight(loop(60, 300))
	if p := dataOf[plan](t, last(t, r, trace.NameTriggerDecision)); p.Prunable != 0 {
		t.Errorf("%d messages count as prunable without a stage that removes messages, want 0", p.Prunable)
	}
}

func TestSpansLastAsLongAsTheirWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const stored = 500 * time.Millisecond
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: thinking{}, Archive: &storing{Archive: memory.New(), takes: stored}})
		r.preflight(loop(100, 200))
		for name, want := range map[string]time.Duration{
			trace.NameMaskedObservations: 0, trace.NameTokenEstimate: 0, trace.NameSummarize: thought, trace.NameSummaryCreated: 0,
			trace.NameArchival: stored, trace.NamePrunedMessages: 0, trace.NameBeforeModelCall: thought,
		} {
			if got := last(t, r, name).Duration(); got != want {
				t.Errorf("%s lasts %s, its work took %s", name, got, want)
			}
		}
		ms := dataOf[trace.Preflight](t, last(t, r, trace.NameBeforeModelCall)).Timings
		want := map[string]float64{"summarize": 3000, "archive": 500}
		for k, v := range ms {
			if math.Abs(v-want[k]) > 0.001 {
				t.Errorf("timings_ms.%s is %v, want %v", k, v, want[k])
			}
		}
		if made, done := last(t, r, trace.NameSummaryCreated).Start, last(t, r, trace.NameSummarize).End; made.Before(done) {
			t.Error("the event reports the summary before it was written")
		}
	})
}

func TestWaitingIsNotCountedAsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: thinking{}, Archive: &storing{Archive: memory.New(), takes: 5 * time.Second}})
		done := make(chan *compact.Result)
		go func() { done <- r.preflight(loop(100, 200)) }()
		time.Sleep(time.Second)
		second := r.preflight(loop(101, 200))
		one, two := (<-done).Timing, second.Timing
		if one.Archive != 5*time.Second || one.ArchiveWait != 2*time.Second || one.Summarize != thought || one.Total != 5*time.Second {
			t.Errorf("the first: %+v", one)
		}
		if two.LaneWait != 4*time.Second || two.Archive != 0 || two.Total != 4*time.Second {
			t.Errorf("the second waited for the first: %+v", two)
		}
	})
}

func TestArchiveFailureIsReportedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("no space left")
		archive := &storing{Archive: memory.New(), takes: time.Second, err: broken}
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: thinking{}, Archive: archive})
		start := time.Now()
		res, err := r.Preflight(t.Context(), "s", loop(100, 200))
		if !errors.Is(err, compact.ErrArchiveFailed) || time.Since(start) != time.Second {
			t.Fatalf("%v after %s, want ErrArchiveFailed and %s", err, time.Since(start), time.Second)
		}
		e := last(t, r, trace.NameArchival)
		if !e.Failed() || e.End.Sub(start) != time.Second || strings.Contains(e.Data.String(), "_path") {
			t.Errorf("%s %s: %s, want %s", e.Status, e.End.Sub(start), e.Data, time.Second)
		}
		failed := last(t, r, trace.NameError)
		if failed.Start.Sub(start) != 0 || failed.End.Sub(start) != time.Second {
			t.Errorf("the error lasts from %s to %s, want 0 and %s", failed.Start.Sub(start), failed.End.Sub(start), time.Second)
		}
		for _, name := range []string{trace.NameSummaryCreated, trace.NamePrunedMessages, trace.NameMaskedObservations} {
			if len(r.named(name)) > 0 {
				t.Errorf("%s of a missing step", name)
			}
		}
		call := dataOf[trace.Preflight](t, last(t, r, trace.NameBeforeModelCall))
		if call.PrunedCount+call.MaskedCount+call.SessionPruned != 0 || call.MessagesAfter != len(res.Messages) {
			t.Errorf("the event of the failed call has %+v", call)
		}
	})
}

// A failed compaction is an error in each event of its call, and no event
// reports an archived file.
func TestFailedCompactionWasTriggered(t *testing.T) {
	tooMuch := []message.Message{message.User(text(9_000))}
	for name, test := range map[string]struct {
		history []message.Message
		archive storage.Archive
		want    error
	}{
		"the archive, beside a model": {loop(100, 200), &failing{Archive: memory.New(), word: "transcript-"}, compact.ErrArchiveFailed},
		"the ledger":                  {loop(100, 200), &failing{Archive: memory.New(), word: "ledger"}, compact.ErrArchiveFailed},
		"the messages that must stay exceed the budget": {tooMuch, memory.New(), compact.ErrInsufficientBudget},
	} {
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: test.archive, Summarize: billing{}})
		res, err := r.Preflight(t.Context(), "s", test.history)
		if !errors.Is(err, test.want) || res.Triggered {
			t.Fatalf("%s: triggered %v, %v; want false and want", name, res.Triggered, err)
		}
		_ = r.Flush(t.Context())
		decision, call := r.events.Named(trace.NameTriggerDecision)[0], r.events.Named(trace.NameBeforeModelCall)[0]
		d, p := dataOf[trace.TriggerDecision](t, decision), dataOf[trace.Preflight](t, call)
		if !d.Triggered || !p.Triggered || p.ErrorType == "" || call.Severity != "" || !strings.HasPrefix(d.OutputText, "triggered: ") {
			t.Errorf("%s: the decision has %v (%s), the call %v, %s, %q", name, d.Triggered, d.OutputText, p.Triggered, p.ErrorType, call.Severity)
		}
		for _, e := range r.events.Named(trace.NameArchival) {
			if a := dataOf[trace.Archival](t, e); a.ErrorType != "" && (a.ArchivedCount != 0 || !strings.Contains(a.OutputText, "202 messages")) {
				t.Errorf("%s: %d messages are archived: %s", name, a.ArchivedCount, a.OutputText)
			}
		}
	}
}

// The notice for messages that were removed without a summary does not count as
// a system prompt.
func TestNoticeDoesNotCountAsSystemPrompt(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: billing{err: errors.New("answer 400")}})
	res := r.preflight(loop(100, 200))
	call := dataOf[trace.Preflight](t, last(t, r, trace.NameBeforeModelCall))
	pruned := dataOf[trace.PrunedMessages](t, last(t, r, trace.NamePrunedMessages))
	if res.DroppedCount == 0 || call.After.System != call.Before.System || call.After.Summary == 0 || pruned.Layers.Summary.Tokens != call.After.Summary || pruned.Kept.Summary != 0 {
		t.Errorf("dropped %d, system %d and then %d, summary %d, layers %+v, kept %+v", res.DroppedCount, call.Before.System, call.After.System, call.After.Summary, pruned.Layers, pruned.Kept)
	}
	if said := newRig(t, compact.Config{}).preflight([]message.Message{message.System(message.NoticeText(7)), message.User("go on")}); said.After.Summary != 0 || said.After.System == 0 {
		t.Errorf("the caller's own text is mistaken for a notice: %+v", said.After)
	}
}

// Only the first of many calls pays for a summary that can't be kept.
func TestSummaryIsNotPaidWhileTheArchiveFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &askedOften{}
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: m, Archive: &storing{Archive: memory.New(), err: errors.New("no space left")}})
		for i := range 4 { // conversations that can't use each other's summaries
			history := append(turns(1, 10+i), loop(100, 200)...)
			if _, err := r.Preflight(t.Context(), "s", history); !errors.Is(err, compact.ErrArchiveFailed) {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		if asked := m.asked.Load(); asked > 1 {
			t.Errorf("%d summaries were paid for, want at most 1", asked)
		}
	})
}

type askedOften struct {
	thinking
	asked atomic.Int32
}

func (m *askedOften) Summarize(ctx context.Context, r strategy.Request) (strategy.Draft, error) {
	m.asked.Add(1)
	return m.thinking.Summarize(ctx, r)
}

// A step that fails after all of its stages have worked reports no removed message.
func TestUncommittedStepReportsNothing(t *testing.T) {
	for _, word := range []string{"ledger", "summary-", "events"} {
		a := &failing{Archive: memory.New(), word: word}
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
		if _, err := r.Preflight(context.Background(), "s", loop(100, 200)); err == nil {
			t.Fatalf("the write of %s failed, but the step did not", word)
		}
		a.word = ""
		for _, name := range []string{trace.NameSummaryCreated, trace.NamePrunedMessages, trace.NameMaskedObservations} {
			if len(r.named(name)) > 0 {
				t.Errorf("%s fails: the event reports %s", word, name)
			}
		}
	}
}

func TestMissingFileIsNotNamed(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	r.preflight(loop(100, 200))
	for _, e := range everything(t, r) {
		if strings.Contains(e.Data.String(), `"file_path"`) {
			t.Errorf("%s names a file of an archive in memory: %s", e.Name, e.Data)
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	r = newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: mustOpen(t, "relative")})
	r.preflight(loop(100, 200))
	for _, name := range []string{trace.NameArchival, trace.NameSummaryCreated} {
		path := dataOf[trace.Archival](t, last(t, r, name)).FilePath
		if !filepath.IsAbs(path) || !strings.HasPrefix(path, dir) {
			t.Errorf("%s names %q, want text that begins with %q", name, path, dir)
		}
	}
}

func TestChainNamesEachFailureOnce(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: billing{err: &strategy.Failure{Reason: strategy.ErrTransient}}})
	r.preflight(loop(100, 200))
	for _, e := range r.named(trace.NameError) {
		seen := map[string]bool{}
		for _, line := range dataOf[trace.Error](t, e).Chain {
			if seen[line] {
				t.Errorf("an error occurs twice in the chain of %s", e.Data)
			}
			seen[line] = true
		}
	}
}

func TestDocumentOfASummaryHasTitledSections(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Summarize: billing{}})
	r.preflight(loop(100, 200))
	type section struct {
		Name, Title string
		Lines       []string
	}
	p := dataOf[struct {
		Payload struct{ Document map[string]json.RawMessage }
	}](t, last(t, r, trace.NameSummaryCreated))
	var sections []section
	if err := json.Unmarshal(p.Payload.Document["sections"], &sections); err != nil {
		t.Fatal(err)
	}
	if len(sections) != 1 || sections[0].Name != "goals_and_success_criteria" || sections[0].Title != "Goals and success criteria" || len(sections[0].Lines) != 1 {
		t.Errorf("sections %+v", sections)
	}
	for k := range p.Payload.Document {
		if k != strings.ToLower(k) {
			t.Errorf("key %q", k)
		}
	}
}

// seconds is an archive that takes a second for files with a word in their name.
type seconds struct {
	*memory.Archive
	word string
}

func (a *seconds) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if strings.Contains(k.String(), a.word) {
		time.Sleep(time.Second)
	}
	return a.Archive.Create(ctx, k, b)
}

func (a *seconds) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if strings.Contains(k.String(), a.word) {
		time.Sleep(time.Second)
	}
	return a.Archive.Append(ctx, k, seq, b)
}

// The log is written before a step is committed: it omits facts that are not known
// yet, and exporters get them.
func TestTimingsIncludeKnownParts(t *testing.T) {
	masking, err := compact.Preset("masking")
	if err != nil {
		t.Fatal(err)
	}
	masking.Model, masking.MaxContextTokens = "gpt-4", 128_000
	for name, test := range map[string]struct {
		word            string
		config          compact.Config
		archive, commit float64
	}{
		"a step":              {"ledger", compact.Config{MaxContextTokens: 8_000}, 0, 1000},
		"edits between steps": {"edits", masking, 1000, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &seconds{memory.New(), test.word}
				test.config.Archive = a
				r := newRig(t, test.config)
				res := r.preflight(loop(60, 300))
				told := dataOf[trace.Preflight](t, last(t, r, trace.NameBeforeModelCall)).Timings
				if told["archive"] != test.archive || told["commit"] != test.commit || res.Timing.Commit != time.Second {
					t.Errorf("exporters get %v, the result has %+v", told, res.Timing)
				}
				for name, ms := range loggedTimings(t, a) {
					if want := told[name]; math.Abs(ms-want) > 0.001 || name == "commit" {
						t.Errorf("%s took %v by the log, %v by exporters", name, ms, want)
					}
				}
			})
		})
	}
}

// loggedTimings returns the timings of the last call in the audit log.
func loggedTimings(t *testing.T, a storage.Archive) (ms map[string]float64) {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	for line, err := range s.EventLines(t.Context()) {
		var e struct {
			Name string
			Data trace.Preflight
		}
		if err != nil || json.Unmarshal(line, &e) != nil && e.Name == trace.NameBeforeModelCall {
			t.Fatal(err)
		}
		if e.Name == trace.NameBeforeModelCall {
			ms = e.Data.Timings
		}
	}
	if len(ms) == 0 {
		t.Error("the log has no timings")
	}
	return ms
}
