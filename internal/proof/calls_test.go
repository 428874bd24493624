package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/behavior"
	"github.com/agentcompact/compact/internal/histgen"
	_ "github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace/tracetest"
)

// Every decision, view, ledger, summary and event text of the generated sessions is as it
// was recorded. A line names preset, call and kind.
func TestEveryDecisionIsAsRecorded(t *testing.T) {
	book := behavior.New(t, "testdata/calls.txt")
	sessions := Sessions()
	for i, preset := range compact.Presets() {
		for k, window := range []int{16_000, 48_000} {
			s := sessions[(2*i+3*k)%len(sessions)]
			r := newRecording(t, book, preset, window)
			r.book.Line("%s, %s", r.title, s.Name)
			ends := s.Calls()
			for n, end := range ends[:min(len(ends), 70)] {
				if n%40 == 39 {
					r.now = r.now.Add(time.Hour) // the cache is cold
				}
				r.call(s.Messages[:end])
			}
			r.end()
		}
	}
	for seed := range uint64(30) { // features of hostile sessions, in small windows
		rng := histgen.Rand(seed)
		r := newRecording(t, book, compact.Presets()[seed%6], []int{6_000, 9_000, 16_000}[rng.IntN(3)])
		r.book.Line("%s, seed %d", r.title, seed)
		for h, n := histgen.New(seed), 0; n < 5; n++ {
			r.manual = n == 3
			r.call(h)
			h = histgen.Grow(h, rng)
		}
		r.end()
	}
	book.Check()
}

// recording writes the calls of one session.
type recording struct {
	t       *testing.T
	book    *behavior.Record
	title   string
	m       *compact.CompactManager
	archive *memory.Archive
	events  *tracetest.Recorder
	now     time.Time
	manual  bool // the next call is a manual compaction

	n, quiet, in, sent int
}

func newRecording(t *testing.T, book *behavior.Record, preset string, window int) *recording {
	t.Helper()
	r := &recording{t: t, book: book, archive: memory.New(), events: &tracetest.Recorder{}, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	c := compact.Config{Preset: preset, Model: model, MaxContextTokens: window, Archive: r.archive, Now: func() time.Time { return r.now }}
	c.Exporters = append(c.Exporters, r.events)
	// No result of the sessions has the size that is large by default, and the record must
	// not depend on the time that a reduction takes.
	c.Tidy.LargeTokens, c.Tidy.Wait = 500, time.Hour
	var err error
	if r.m, err = compact.New(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	r.title = fmt.Sprintf("# %s, window %d", preset, window)
	return r
}

// call writes a line if the call changes something, or fails.
func (r *recording) call(history []message.Message) {
	r.t.Helper()
	r.now = r.now.Add(7 * time.Second)
	ask := r.m.Preflight
	if r.manual {
		ask = func(ctx context.Context, id string, history []message.Message, opts ...compact.Option) (*compact.Result, error) {
			return r.m.ManualCompact(ctx, id, history, "", opts...)
		}
	}
	res, err := ask(r.t.Context(), "s", history)
	r.n++
	r.in, r.sent = r.in+res.TokensIn, r.sent+res.After.Total
	switch {
	case err != nil: // presets that only mask can't always fit
		r.book.Line("%d: error %s", r.n, r.book.Hash([]byte(err.Error())))
	case !res.Triggered && len(res.Tidied) == 0:
		r.quiet++
	default:
		r.book.Line("%d: %s %s, %d -> %d -> %d of %d, %s; view %s, why %s", r.n, res.Reason, res.CallStage, res.TokensIn, res.Before.Total, res.After.Total, res.Budget,
			counted(res), r.book.Hash(viewOf(r.t, res)), r.book.Hash(whyOf(res)))
	}
}

// end writes what the session left.
func (r *recording) end() {
	r.t.Helper()
	if err := r.m.Close(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	b := r.m.Bill()
	r.book.Line("end: %d quiet, in %d, sent %d, estimated %.6f of %.6f; files %s; events %s\n", r.quiet, r.in, r.sent, b.EstimatedUSD, b.WholeUSD, r.files(), r.told())
}

func counted(r *compact.Result) string {
	return fmt.Sprintf("kept %d truncated %d masked %d summarized %d dropped %d", r.KeptCount, r.TruncatedCount, r.MaskedCount, r.SummarizedCount, r.DroppedCount)
}

// viewOf returns the bytes of the view.
func viewOf(t *testing.T, r *compact.Result) []byte {
	t.Helper()
	data, err := json.Marshal(r.Messages)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// whyOf returns the decisions with their reasons, and the candidates.
func whyOf(r *compact.Result) []byte {
	var b bytes.Buffer
	for _, d := range r.Decisions {
		fmt.Fprintf(&b, "%d %s %s %d %d\n", d.Index, d.Decision, d.Reason, d.TokensBefore, d.TokensAfter)
	}
	fmt.Fprintf(&b, "%+v %+v %v %v", r.Candidates, r.Tidied, r.Warnings, r.Sources)
	return b.Bytes()
}

// files returns the number of files of the session, and a hash of all but events and
// manifest, which have random ids.
func (r *recording) files() string {
	r.t.Helper()
	var all bytes.Buffer
	n := 0
	for info, err := range r.archive.List(r.t.Context(), storage.Key{}) {
		if err != nil {
			r.t.Fatal(err)
		}
		if info.Key.Dir() != "s" {
			continue
		}
		n++
		if name := info.Key.Base(); name == "events.jsonl" || name == "manifest.jsonl" {
			continue
		}
		f, err := r.archive.Open(r.t.Context(), info.Key, 0, -1)
		if err != nil {
			r.t.Fatal(err)
		}
		fmt.Fprintln(&all, info.Key)
		if _, err := io.Copy(&all, f); err != nil {
			r.t.Fatal(err)
		}
		_ = f.Close()
	}
	return fmt.Sprintf("%d %s", n, r.book.Hash(randomIDs.ReplaceAll(all.Bytes(), nil)))
}

// randomIDs are those of edits.jsonl: of the attempt to store a line, and, because of it,
// of the line before.
var randomIDs = regexp.MustCompile(`"(try|prev)":"[^"]*"`)

var durations = regexp.MustCompile(`\d+(\.\d+)? ?(ns|µs|ms|s)\b`)

// told returns the number of events, and a hash of their texts.
func (r *recording) told() string {
	var b bytes.Buffer
	events := r.events.Events()
	for i := range events {
		var data struct {
			Text string `json:"output_text"`
		}
		_ = json.Unmarshal([]byte(events[i].Data.String()), &data)
		fmt.Fprintln(&b, events[i].Name, events[i].Status, durations.ReplaceAllString(data.Text, "-"))
	}
	return fmt.Sprintf("%d %s", len(events), r.book.Hash(b.Bytes()))
}
