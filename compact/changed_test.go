package compact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/recall"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// changedSession is a session after some steps, with the facts to check.
type changedSession struct {
	files     map[string][]byte
	history   []message.Message
	originals map[string]message.Message
	view      string
	summaries map[string]bool // summaries that were ever in a view
}

// live takes a session through the steps of a preset, with a journal, and ends the
// session.
func live(t *testing.T, c compact.Config, rounds int) *changedSession {
	t.Helper()
	dir := t.TempDir()
	a, err := fs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	c.Archive = a
	c.Storage.Transcripts = "all"
	r := newRig(t, c)
	l := &changedSession{originals: map[string]message.Message{}, summaries: map[string]bool{}, files: map[string][]byte{}}
	l.history = loop(0, 0)
	for i := range rounds {
		more := round(i, 150+i%7)
		for _, m := range more {
			l.originals[testkey.Sealed(m.Fingerprint()).String()] = m
		}
		l.history = append(l.history, more...)
		res := r.preflight(l.history)
		l.view = bytesOf(res.Messages)
		l.see(res.Messages)
	}
	if err := r.Archive(context.Background(), "s", l.history); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if l.files[e.Name()], err = os.ReadFile(filepath.Join(dir, "s", e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l *changedSession) see(view []message.Message) {
	for _, m := range view {
		if policy.IsSummary(m) {
			l.summaries[m.Text()] = true
		}
	}
}

// diskOf and inMemory store the files of a changed session.
func diskOf(t *testing.T, files map[string][]byte) storage.Archive {
	dir := t.TempDir()
	for name, data := range files {
		if err := os.MkdirAll(filepath.Join(dir, "s"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "s", name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := fs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func inMemory(t *testing.T, files map[string][]byte) storage.Archive {
	a := memory.New()
	plain, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		k, err := storage.ParseKey("s/" + name)
		if err == nil {
			err = a.Create(t.Context(), k, storage.Redacted(plain.Text(string(data))))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// TestAFlippedBitNeverReachesAPrompt flips one bit of one file of a session at a
// time. A process that continues the session gets either the earlier view or a new
// one, and a recall returns the stored text or nothing.
func TestAFlippedBitNeverReachesAPrompt(t *testing.T) {
	each, rounds := 1, 22
	if os.Getenv("COMPACT_SOAK") != "" {
		each, rounds = 60, 40
	}
	for preset, window := range map[string]int{"graduated": 3_500, "gateway": 8_000} {
		c, err := compact.Preset(preset)
		if err != nil {
			t.Fatal(err)
		}
		c.MaxContextTokens = window
		l := live(t, c, rounds)
		count, used := 0, 0
		for i, name := range slices.Sorted(maps.Keys(l.files)) {
			if each == 1 && i%2 == 1 {
				continue // make soak tests all of them
			}
			for seed := range each {
				r := rand.New(rand.NewPCG(uint64(seed), uint64(count)))
				files := maps.Clone(l.files)
				at := r.IntN(8 * max(len(files[name]), 1))
				files[name] = flip(files[name], at)
				a := diskOf
				if count%2 == 1 {
					a = inMemory
				}
				what := fmt.Sprintf("%s: %s: bit %d", preset, name, at)
				if l.goesOn(t, what, c, a(t, files), r) {
					used++
				}
				count++
			}
		}
		t.Logf("%s: %d flips, after %d of them the view was the same", preset, count, used)
	}
}

func flip(b []byte, bit int) []byte {
	b = bytes.Clone(b)
	if len(b) > 0 {
		b[bit/8] ^= 1 << (bit % 8)
	}
	return b
}

// goesOn continues a changed session, and reports whether the view is the earlier
// one.
func (l *changedSession) goesOn(t *testing.T, what string, c compact.Config, a storage.Archive, r *rand.Rand) bool {
	t.Helper()
	c.Archive = a
	m := newRig(t, c)
	ctx := context.Background()
	res, err := m.Preflight(ctx, "s", l.history)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	same := bytesOf(res.Messages) == l.view
	if res.Step > 0 {
		l.see(res.Messages) // the session was compacted again
	}
	for _, msg := range res.Messages {
		if policy.IsSummary(msg) && !l.summaries[msg.Text()] {
			t.Fatalf("%s: a forged summary is sent: %s", what, msg.Text())
		}
	}
	if !same && res.Step == 0 && res.Replayed > 0 && len(res.Warnings) == 0 && !strings.Contains(what, "gateway") {
		t.Errorf("%s: the view differs, without a reported reason", what)
	}
	fps := slices.Sorted(maps.Keys(l.originals))
	for range 3 {
		msg := l.originals[fps[r.IntN(len(fps))]]
		p := msg.Parts[len(msg.Parts)-1]
		text, err := m.Recall(ctx, "s", testkey.Ref(p))
		want := p.Text
		if p.Kind == message.KindToolCall {
			want = p.Name + " " + string(p.Args)
		}
		if err == nil && text != want {
			t.Fatalf("%s: recalled %q, want %q", what, text, want)
		}
		if err != nil && !errors.Is(err, compact.ErrNotFound) && !errors.Is(err, storage.ErrChanged) {
			t.Fatalf("%s: %v, want none, ErrNotFound or ErrChanged", what, err)
		}
	}
	if _, err := m.ManualCompact(ctx, "s", append(slices.Clone(l.history), round(99, 300)...), "on"); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return same
}

// A forged summary is not used, whether in a ledger whose other fields were made to
// match, or in the file to which a ledger refers. The session is compacted again;
// warning and event name the file and its hash, and the file stays.
func TestAForgedSummaryIsEvidence(t *testing.T) {
	for repeat, kind := range map[string]string{"reference": "summary-", "full": "ledger-"} {
		t.Run(repeat, func(t *testing.T) { forgedSummary(t, repeat, kind) })
	}
}

func forgedSummary(t *testing.T, repeat, kind string) {
	c := compact.Config{MaxContextTokens: 5_000}
	c.Storage.Repeat = repeat
	l := live(t, c, 40)
	files := maps.Clone(l.files)
	last := ""
	for name, data := range files {
		if strings.HasPrefix(name, kind) && bytes.Contains(data, []byte("COMPACT-SUMMARY")) && name > last {
			last = name
		}
	}
	forged := bytes.ReplaceAll(files[last], []byte("file_"), []byte("evil_"))
	if last == "" || bytes.Equal(forged, files[last]) {
		t.Fatalf("no %s holds a summary", kind)
	}
	files[last] = forged
	a := diskOf(t, files)
	c.Archive = a
	m := newRig(t, c)
	if plan, err := m.Plan(t.Context(), "s", l.history); err != nil || !strings.Contains(strings.Join(plan.Warnings, "\n"), last) {
		t.Errorf("a plan says %q, %v", plan.Warnings, err)
	}
	res := m.preflight(l.history)
	if view := bytesOf(res.Messages); strings.Contains(view, "evil_") {
		t.Errorf("the forged summary is sent: %s", view)
	}
	if res.Step == 0 {
		t.Error("the session was not compacted again")
	}
	if w := strings.Join(res.Warnings, "\n"); !strings.Contains(w, last) || !strings.Contains(w, "SHA-256 now ") || strings.Contains(w, "REDACTED") {
		t.Errorf("the warning does not say file and hash: %q", w)
	}
	found := false
	for _, e := range m.named(trace.NameError) {
		if !strings.Contains(string(e.AppendJSON(nil)), last) {
			continue
		}
		found = true
		if p := dataOf[trace.Error](t, e); p.Fallback != "new epoch" || e.Severity != trace.SeverityWarning {
			t.Errorf("the fallback is %q, the severity %q; want %q and %q", p.Fallback, e.Severity, "new epoch", trace.SeverityWarning)
		}
	}
	if !found {
		t.Error("no event names the file")
	}
	if again := m.preflight(l.history); len(again.Warnings) > 0 || bytesOf(again.Messages) != bytesOf(res.Messages) {
		t.Errorf("the next call: warnings %q", again.Warnings)
	}
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Open(t.Context(), last, 0, -1); err != nil {
		t.Error(err)
	} else if data, _ := io.ReadAll(r); !bytes.Equal(data, forged) {
		t.Error("the evidence was changed")
	}
	report, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Refs: recall.Refs})
	if err != nil || !slices.ContainsFunc(report.Problems, func(p record.Problem) bool { return p.File == last }) {
		t.Errorf("verify: %v %v", report.Problems, err)
	}
}

// A removed message that was changed everywhere in the archive is not recalled,
// and the error names the file; a search does not find it either.
func TestAChangedPieceIsNotRecalled(t *testing.T) {
	c := compact.Config{MaxContextTokens: 5_000}
	l := live(t, c, 40)
	files := maps.Clone(l.files)
	for name, data := range files {
		if strings.HasSuffix(name, ".jsonl") && name != "manifest.jsonl" && name != "events.jsonl" {
			files[name] = bytes.ReplaceAll(data, []byte("word word"), []byte("word evil"))
		}
	}
	c.Archive = diskOf(t, files)
	m := newRig(t, c)
	refused := 0
	for i := range 38 { // nothing proves the end of a log
		p := round(i, 150+i%7)[1].Parts[0]
		text, err := m.Recall(t.Context(), "s", testkey.Ref(p))
		var changed *storage.ChangedError
		switch {
		case err == nil && text != p.Text:
			t.Fatalf("result %d: %.80q is recalled", i, text)
		case errors.As(err, &changed) && errors.Is(err, compact.ErrArchiveFailed) && changed.File != "":
			refused++
		}
	}
	if refused < 30 {
		t.Errorf("%d of 38 results are refused as changed", refused)
	}
	if text, err := m.Recall(t.Context(), "s", "turn:3"); err == nil {
		t.Errorf("turn 3: %.80q is recalled", text)
	}
	found, err := m.Search(t.Context(), "s", regexp.MustCompile("evil"), 0)
	if err != nil || len(found.Matches) > 0 || found.Changed < 20 {
		t.Errorf("search: %+v, %v", found, err)
	}
}

// A plan reports a changed file, and leaves the report to the next call, which reports it once.
func TestPlanLeavesTheReportOfAChange(t *testing.T) {
	a, history := memory.New(), loop(60, 200)
	if res := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a}).preflight(history); res.Step != 1 {
		t.Fatalf("step %d, want 1", res.Step)
	}
	replace(t, a, "ledger-001.json", func(data []byte) []byte { return bytes.Replace(data, []byte(`"step":1`), []byte(`"step":7`), 1) })
	r, short := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a}), loop(2, 20)
	plan, err := r.Plan(t.Context(), "s", short)
	if err != nil {
		t.Fatal(err)
	}
	for n, res := range []*compact.Result{plan, r.preflight(short), r.preflight(short)} {
		if told := strings.Contains(strings.Join(res.Warnings, "\n"), "the archive was changed: ledger-001.json"); told != (n < 2) {
			t.Errorf("call %d reports the change: %v", n, told)
		}
	}
	if n := len(r.named(trace.NameError)); n != 1 {
		t.Errorf("%d events report the change, want 1", n)
	}
}

// If the newest transcript with a turn was changed, the turn is read from an older one.
func TestATurnOfAChangedTranscriptIsReadFromAnOlderOne(t *testing.T) {
	a, older := memory.New(), memory.New()
	c := compact.Config{MaxContextTokens: 8_000, Archive: a}
	c.Storage.Repeat = "full" // each transcript has all lines
	r, history, copied := newRig(t, c), loop(0, 0), false
	for i, step := 0, 0; step < 3; i++ {
		history = append(history, round(i, 150+i%7)...)
		if step = max(step, r.preflight(history).Step); step == 2 && !copied {
			copied = true
			if _, err := record.Copy(t.Context(), older, a, record.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	replace(t, a, "transcript-pre-compact-003.jsonl", func(data []byte) []byte {
		return bytes.ReplaceAll(data, []byte("word word"), []byte("word evil"))
	})
	before, now := newRig(t, compact.Config{Archive: older}), newRig(t, compact.Config{Archive: a})
	read := 0
	for turn := range 60 {
		ref := fmt.Sprintf("turn:%d:observation", turn)
		want, err := before.Recall(t.Context(), "s", ref)
		if err != nil {
			continue
		}
		if got, err := now.Recall(t.Context(), "s", ref); err != nil || got != want {
			t.Errorf("%s: %.80q, %v; before the last step it was %.80q", ref, got, err, want)
		}
		read++
	}
	if read < 5 {
		t.Errorf("only %d turns were read, want at least 5", read)
	}
}

// A ledger names only the lines that steps removed. So the whole file of a final
// transcript is compared with the manifest, and each line with its stored state.
func TestAFinalTranscriptThatChangesIsNotRecalled(t *testing.T) {
	dir := t.TempDir()
	a, err := fs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	m := newRig(t, compact.Config{Archive: a})
	history := loop(3, 20)
	if err := m.Archive(t.Context(), "s", history); err != nil {
		t.Fatal(err)
	}
	ref := testkey.Ref(history[3].Parts[0])
	other := newRig(t, compact.Config{Archive: a})
	if text, err := m.Recall(t.Context(), "s", ref); err != nil || text != history[3].Parts[0].Text {
		t.Fatalf("%q, %v, want the text of the result and no error", text, err)
	}
	name := filepath.Join(dir, "s", "transcript-final-001.jsonl")
	data, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, bytes.ReplaceAll(data, []byte("word word"), []byte("word evil")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*rig{m, other} {
		if text, err := r.Recall(t.Context(), "s", ref); !errors.Is(err, storage.ErrChanged) {
			t.Errorf("%q, %v, want ErrChanged", text, err)
		}
	}
}
