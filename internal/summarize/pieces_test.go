package summarize_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// defaultParallel is the default of Writer.Parallel.
const defaultParallel = 4

func TestWriterRefusesAnswerAsLongAsItsSource(t *testing.T) {
	source := strings.Repeat("The importer skips rows. ", 8)
	for shorter, want := range map[int]error{0: summarize.ErrNotSmaller, 4: nil} {
		w := summarize.Writer{Summarizer: scribe{"- " + source[:len(source)-2-shorter]}, Retries: -1}
		_, err := w.Write(t.Context(), summarize.Input{Messages: []message.Message{message.User(source)}, Count: count4})
		if !errors.Is(err, want) {
			t.Errorf("%d characters shorter: error %v, want %v", shorter, err, want)
		}
	}
}

// A model simulates a remote model: it has a window, records the requests and refuses a
// request that does not fit.
type model struct {
	window int
	answer func(r strategy.Request) (strategy.Draft, error) // default: one line
	delay  time.Duration

	mu      sync.Mutex
	asked   []strategy.Request
	running int
	most    int // maximum number of concurrent requests
}

func (m *model) Describe() strategy.Info {
	return strategy.Info{Name: "model", Model: "m-1", Window: m.window, Remote: true}
}

func (m *model) Summarize(ctx context.Context, r strategy.Request) (strategy.Draft, error) {
	m.mu.Lock()
	m.asked = append(m.asked, r)
	m.running++
	m.most = max(m.most, m.running)
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		m.running--
		m.mu.Unlock()
	}()
	if m.delay > 0 {
		select {
		case <-ctx.Done():
			return strategy.Draft{}, ctx.Err()
		case <-time.After(m.delay):
		}
	}
	p := r.Prompt()
	if n := count4(p.System) + count4(p.User) + r.MaxTokens; m.window > 0 && n > m.window {
		return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrContextLength, Detail: fmt.Errorf("%d tokens", n)}
	}
	if m.answer != nil {
		return m.answer(r)
	}
	return strategy.Draft{Text: "## Decisions\n- something was decided"}, nil
}

// long returns a history of about n tokens. share is the share of the observations in it.
func long(n int, share float64) []message.Message {
	var out []message.Message
	for i := 0; n > 0; i++ {
		id := fmt.Sprintf("c%d", i)
		text := fmt.Sprintf("Step %d. ", i) + strings.Repeat("I think about the loader and say so. ", int(4000*(1-share)/37)+1)
		result := strings.Repeat("a row of the table\n", int(4000*share/19)+1)
		out = append(out, message.Assistant(text, message.Call(id, "bash", `{"command":"go test ./..."}`)), message.ToolResult(id, result+"exit code: 1"))
		n -= count4(text) + count4(result) + 20
	}
	return out
}

func TestObservationsAreShortenedBeforeSplitting(t *testing.T) {
	m := &model{window: 32_000}
	sum, err := summarize.Writer{Summarizer: m}.Write(t.Context(), summarize.Input{Messages: long(155_000, 0.9), Count: count4})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Calls != 1 || sum.Pieces != 1 {
		t.Errorf("%d calls, %d pieces; want 1 and 1", sum.Calls, sum.Pieces)
	}
	if user := m.asked[0].Prompt().User; !strings.Contains(user, `bash "go test ./..." → exit 1, 191 lines`) {
		t.Errorf("no observation is one line in %.600s", user)
	}
}

func TestLargeRemainderIsSummarizedInPieces(t *testing.T) {
	m := &model{window: 128_000, delay: 10 * time.Millisecond}
	var infos []summarize.CallInfo
	msgs := long(620_000, 0.2)
	sum, err := summarize.Writer{Summarizer: m, Observe: func(i summarize.CallInfo) { infos = append(infos, i) }}.
		Write(t.Context(), summarize.Input{Previous: "## Decisions\n- the old one", Messages: msgs, Count: count4})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Pieces < 4 || sum.Calls != sum.Pieces+1 || sum.Attempts != len(m.asked) {
		t.Errorf("%d pieces, %d calls, %d attempts of %d", sum.Pieces, sum.Calls, sum.Attempts, len(m.asked))
	}
	if m.most > defaultParallel || m.most < 2 {
		t.Errorf("%d requests at once, want 2 to %d", m.most, defaultParallel)
	}
	covered := 0
	var merge *strategy.Request
	for i, r := range m.asked {
		covered += len(r.Messages)
		if len(r.Partial) > 0 {
			merge = &m.asked[i]
		}
		if n := len(r.Messages); n > 0 && (r.Messages[0].Role != message.RoleAssistant || r.Messages[n-1].Role != message.RoleTool) {
			t.Errorf("piece %d splits a round", i)
		}
		if n := len(r.Messages); n > 0 && r.Shorten != 1 {
			t.Errorf("piece %d shows observations whole up to %d characters, instead of one line each", i, r.Shorten)
		}
	}
	if covered != len(msgs) {
		t.Errorf("%d of %d messages were summarized", covered, len(msgs))
	}
	if merge == nil || len(merge.Partial) != sum.Pieces || merge.Previous == "" || merge.Notes == "" {
		t.Errorf("merge of %+v", merge)
	}
	done := 0
	for _, i := range infos {
		if i.Phase == summarize.Answered && i.Piece > 0 && i.Pieces == sum.Pieces {
			done++
		}
	}
	if done < sum.Pieces {
		t.Errorf("progress reported %d of %d pieces", done, sum.Pieces)
	}
}

// A refusal of one piece changes the strategy of that piece alone. If the merge is refused,
// the whole summary has the strategy of its last request.
func TestStrategyOfASummaryIsThatOfItsMerge(t *testing.T) {
	for name, refuses := range map[string]func(r strategy.Request) bool{
		"a piece":   func(r strategy.Request) bool { return len(r.Partial) == 0 },
		"the merge": func(r strategy.Request) bool { return len(r.Partial) > 0 },
	} {
		m := &model{window: 16_000}
		m.answer = func(r strategy.Request) (strategy.Draft, error) {
			if refuses(r) && r.Strategy.Name != "brief" {
				return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrRefused}
			}
			return strategy.Draft{Text: "## Decisions\n- something was decided"}, nil
		}
		sum, err := summarize.Writer{Summarizer: m}.Write(t.Context(), summarize.Input{Messages: long(40_000, 0.2), Count: count4})
		if err != nil || sum.Pieces < 2 {
			t.Fatalf("%s: %d pieces, %v", name, sum.Pieces, err)
		}
		if brief := name == "the merge"; (sum.Strategy == "brief") != brief || (sum.Fallback == summarize.FallbackBrief) != brief {
			t.Errorf("%s is refused: the summary has the strategy %q and the fallback %q", name, sum.Strategy, sum.Fallback)
		}
	}
}

func TestRoundLargerThanWindowLosesItsMiddle(t *testing.T) {
	m := &model{window: 8000}
	text := "the beginning " + strings.Repeat("of a very long message ", 40_000) + " the end"
	if _, err := (summarize.Writer{Summarizer: m, MaxTokens: 500}).Write(t.Context(), summarize.Input{Messages: []message.Message{message.User(text)}, Count: count4}); err != nil {
		t.Fatal(err)
	}
	user := m.asked[0].Prompt().User
	if !strings.Contains(user, "the beginning") || !strings.Contains(user, "the end") || !strings.Contains(user, "[…]") {
		t.Errorf("prompt of %d characters: %.200s", len(user), user)
	}
}

func TestRoundOfManyMessagesIsSplit(t *testing.T) {
	var calls []message.Part
	var results []message.Message
	for i := range 3000 {
		id := fmt.Sprintf("c%d", i)
		calls = append(calls, message.Call(id, "fetch", fmt.Sprintf(`{"url":"https://example.com/page/%d"}`, i)))
		results = append(results, message.ToolResult(id, strings.Repeat("text of the page ", 50)))
	}
	msgs := append([]message.Message{message.Assistant("all at once", calls...)}, results...)
	m := &model{window: 16_000}
	if _, err := (summarize.Writer{Summarizer: m, MaxTokens: 500}).Write(t.Context(), summarize.Input{Messages: msgs, Count: count4}); err != nil {
		t.Fatal(err)
	}
}

func TestPiecesShrinkUntilServerAcceptsThem(t *testing.T) {
	real := &model{window: 20_000}
	// The model reports a window of 128k, but has 20k.
	m := &lyingSummarizer{real, 128_000}
	sum, err := summarize.Writer{Summarizer: m, MaxTokens: 500}.Write(t.Context(), summarize.Input{Messages: long(60_000, 0.1), Count: count4})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Pieces < 2 || sum.Text == "" {
		t.Errorf("%d pieces", sum.Pieces)
	}
}

type lyingSummarizer struct {
	*model
	says int
}

func (l *lyingSummarizer) Describe() strategy.Info {
	return strategy.Info{Name: "liar", Window: l.says, Remote: true}
}

// If the model refuses one piece, only that piece is asked for in brief: the merge writes the
// summary, and it has the sections of its strategy.
func TestRefusedPieceDoesNotMakeTheSummaryBrief(t *testing.T) {
	var once sync.Once
	m := &model{window: 16_000}
	m.answer = func(r strategy.Request) (d strategy.Draft, err error) {
		d.Text = "## Decisions\n- something was decided"
		if len(r.Messages) > 0 {
			once.Do(func() { err = &strategy.Failure{Reason: strategy.ErrRefused} })
		}
		return d, err
	}
	sum, err := summarize.Writer{Summarizer: m, MaxTokens: 500}.Write(t.Context(), summarize.Input{Messages: long(60_000, 0), Count: count4})
	if err != nil {
		t.Fatal(err)
	}
	brief := 0
	for _, r := range m.asked {
		if r.Strategy.Name == "brief" {
			brief++
		}
	}
	if brief != 1 || sum.Pieces < 2 || len(sum.Errors) != 1 {
		t.Fatalf("%d of %d pieces are brief: %v", brief, sum.Pieces, sum.Errors)
	}
	if sum.Strategy != "task_state" || sum.Fallback != "" {
		t.Errorf("the summary is of strategy %s, fallback %q", sum.Strategy, sum.Fallback)
	}
}

// A refusal is followed by one brief request, whatever the answer to that is.
func TestEmptyBriefAnswerEndsTheAttempts(t *testing.T) {
	m := &model{window: 128_000}
	m.answer = func(r strategy.Request) (strategy.Draft, error) {
		if r.Strategy.Name == "brief" {
			return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrEmpty}
		}
		return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrRefused}
	}
	sum, err := summarize.Writer{Summarizer: m}.Write(t.Context(), summarize.Input{Messages: long(10_000, 0.1), Count: count4})
	if !errors.Is(err, strategy.ErrEmpty) || sum.Attempts != 2 || len(m.asked) != 2 {
		t.Errorf("%d attempts, %d requests: %v", sum.Attempts, len(m.asked), err)
	}
}

func TestFailedPieceEndsTheOthers(t *testing.T) {
	m := &model{window: 16_000, delay: time.Millisecond, answer: func(r strategy.Request) (strategy.Draft, error) {
		return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrRejected}
	}}
	sum, err := summarize.Writer{Summarizer: m, MaxTokens: 500}.Write(t.Context(), summarize.Input{Messages: long(300_000, 0), Count: count4})
	if !errors.Is(err, strategy.ErrRejected) || !errors.Is(err, summarize.ErrNoSummary) {
		t.Errorf("error %v", err)
	}
	if sum.Attempts > 2*defaultParallel {
		t.Errorf("%d attempts after the first failure", sum.Attempts)
	}
}

func TestRetriesBackOffAndHonorRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := []time.Duration{0, 20 * time.Second, 0}
		m := &model{window: 128_000}
		m.answer = func(strategy.Request) (strategy.Draft, error) {
			if n := len(m.asked); n <= len(failures) {
				return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrTransient, Status: 503, RetryAfter: failures[n-1]}
			}
			return strategy.Draft{Text: "## Decisions\n- at last"}, nil
		}
		start := time.Now()
		sum, err := summarize.Writer{Summarizer: m}.Write(t.Context(), summarize.Input{Messages: long(5000, 0.5), Count: count4})
		if err != nil || sum.Attempts != 4 {
			t.Fatalf("%d attempts, error %v", sum.Attempts, err)
		}
		if got, want := time.Since(start), 500*time.Millisecond+20*time.Second+2*time.Second; got != want {
			t.Errorf("waited %v, want %v", got, want)
		}
	})
}

func TestDeadlineLimitsAllAttemptsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{window: 128_000, delay: 50 * time.Second, answer: func(strategy.Request) (strategy.Draft, error) {
			return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrTransient}
		}}
		start := time.Now()
		_, err := summarize.Writer{Summarizer: m}.Write(t.Context(), summarize.Input{Messages: long(5000, 0.5), Count: count4})
		if !errors.Is(err, summarize.ErrDeadline) {
			t.Errorf("error %v", err)
		}
		if got := time.Since(start); got != 2*time.Minute {
			t.Errorf("took %v, want %v", got, 2*time.Minute)
		}
	})
}

// The writer does not wait for an attempt that could only begin after the deadline.
func TestWriterSkipsWaitBeyondDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{window: 128_000, answer: func(strategy.Request) (strategy.Draft, error) {
			return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrTransient, Status: 503, RetryAfter: 10 * time.Minute}
		}}
		start := time.Now()
		sum, err := summarize.Writer{Summarizer: m}.Write(t.Context(), summarize.Input{Messages: long(5000, 0.5), Count: count4})
		if !errors.Is(err, strategy.ErrTransient) || sum.Attempts != 1 {
			t.Errorf("%d attempts, error %v", sum.Attempts, err)
		}
		if got := time.Since(start); got != 0 {
			t.Errorf("waited %v for a server that requested ten minutes", got)
		}
	})
}

func TestCanceledBackoffReturnsContextError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{window: 128_000, answer: func(strategy.Request) (strategy.Draft, error) {
			return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrTransient, RetryAfter: time.Minute}
		}}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		start := time.Now()
		_, err := summarize.Writer{Summarizer: m}.Write(ctx, summarize.Input{Messages: long(5000, 0.5), Count: count4})
		if !errors.Is(err, context.Canceled) || time.Since(start) != 5*time.Second {
			t.Errorf("error %v after %v", err, time.Since(start))
		}
	})
}

func count4(s string) int { return (len(s) + 3) / 4 }

// A scribe answers every request with the same text.
type scribe struct{ text string }

func (s scribe) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{Text: s.text}, nil
}

// An answer above the limit is asked for again with half the limit, down to a limit that a
// summary still can keep. The observer is told the limit of each request.
func TestTooLongAnswerIsAskedForWithHalfTheLimit(t *testing.T) {
	for most, want := range map[int][]int{200: {200, 100, 50}, 70: {70}} {
		m := &model{window: 128_000, answer: func(strategy.Request) (strategy.Draft, error) {
			return strategy.Draft{Text: "## Decisions\n- " + strings.Repeat("too many words ", 200)}, nil
		}}
		var asked, told []int
		w := summarize.Writer{Summarizer: m, MaxTokens: most, Retries: -1, Observe: func(c summarize.CallInfo) {
			if c.Phase == summarize.Answered {
				told = append(told, c.MaxTokens)
			}
		}}
		_, err := w.Write(t.Context(), summarize.Input{Messages: long(5000, 0.5), Count: count4})
		for _, r := range m.asked {
			asked = append(asked, r.MaxTokens)
		}
		if !errors.Is(err, summarize.ErrTooLong) || !slices.Equal(asked, want) || !slices.Equal(told, want) {
			t.Errorf("at most %d: asked with %v, told %v, want %v: %v", most, asked, told, want, err)
		}
	}
}
