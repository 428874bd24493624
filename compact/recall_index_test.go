package compact_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/histgen"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

func TestRecallWorksWithoutItsIndex(t *testing.T) {
	for name, ruin := range map[string]func(data []byte) []byte{
		"missing": nil,
		"damaged": func(data []byte) []byte {
			for at := 100; at < len(data); at += 4096 {
				data[at] ^= 0x40
			}
			return data
		},
		"a damaged page": func(data []byte) []byte {
			data[len(data)-2000] ^= 0x40
			return data
		},
		"cut": func(data []byte) []byte { return data[:len(data)/2] },
	} {
		t.Run(name, func(t *testing.T) {
			a := memory.New()
			r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
			_, originals := grown(t, r, 6, false)
			for step := 1; step <= 6; step++ {
				replace(t, a, fmt.Sprintf("turns-%03d.idx", step), ruin)
			}
			other := newRig(t, compact.Config{Archive: a})
			for _, fp := range evictions(t, a) {
				got, err := other.Recall(t.Context(), "s", fp)
				m, ok := originals[fp]
				if !ok {
					continue // the request
				}
				if err != nil || !strings.Contains(got, m.ResultText()) {
					t.Fatalf("%s: %.60q, %v, want the text of the result and no error", fp, got, err)
				}
			}
			if got, err := other.Recall(t.Context(), "s", "turn:5:observation"); err != nil || !strings.HasPrefix(got, "file_4.go: ") {
				t.Errorf("turn 5: %.60q, %v; want text that begins with %q and no error", got, err, "file_4.go: ")
			}
			if _, err := other.Recall(t.Context(), "s", "ffffffffffff"); !errors.Is(err, compact.ErrNotFound) {
				t.Errorf("a missing reference: %v, want ErrNotFound", err)
			}
			grownOn := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
			res := grownOn.preflight(loop(200, 150)) // the index of this step would cover the previous steps
			if res.Step != 7 && res.Step != 8 {
				t.Errorf("step %d", res.Step)
			}
		})
	}
}

// A turn that is read without its index is the same as with it, also with an older key of
// the archive: its placeholders are no part of it.
func TestTurnsOfAnOlderKeyAreRecalledWithoutTheirIndex(t *testing.T) {
	t.Setenv(compact.ArchiveKeyVariable, "") // keys are in memory, beside the archive
	a := memory.New()
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
	grown(t, r, 6, true)
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := compact.Rekey(t.Context(), compact.Config{}, a); err != nil {
		t.Fatal(err)
	}
	recalled := func() (all []string) {
		other := newRig(t, compact.Config{Archive: a})
		for turn := range 60 {
			text, err := other.Recall(t.Context(), "s", fmt.Sprintf("turn:%d", turn))
			if err != nil && !errors.Is(err, compact.ErrNotFound) {
				t.Fatal(err)
			}
			all = append(all, text)
		}
		return all
	}
	with := recalled()
	for step := 1; step <= 6; step++ {
		replace(t, a, fmt.Sprintf("turns-%03d.idx", step), nil)
	}
	read := 0
	for turn, text := range recalled() {
		if text != with[turn] {
			t.Errorf("turn %d is %.80q, with its index %.80q", turn, text, with[turn])
		}
		if text != "" {
			read++
		}
	}
	if read < 20 {
		t.Errorf("only %d turns were read, want at least 20", read)
	}
}

// replace changes a file of session s without the archive; nil removes the file.
func replace(t *testing.T, a *memory.Archive, name string, change func([]byte) []byte) {
	t.Helper()
	k, err := record.SessionKey("s", name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := a.Open(t.Context(), k, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close(), a.Remove(t.Context(), k)); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		if err := a.Create(t.Context(), k, storage.Redacted(asIs(t, change(data)))); err != nil {
			t.Fatal(err)
		}
	}
}

// asIs makes a redacted text of any bytes.
func asIs(t *testing.T, data []byte) redact.Text {
	t.Helper()
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.Text(string(data))
}

func TestRecallReadsABoundedNumberOfIndexes(t *testing.T) {
	a := &reader{Archive: memory.New()}
	r := newRig(t, compact.Config{MaxContextTokens: 6_000, Archive: a})
	grown(t, r, 31, false)
	other := newRig(t, compact.Config{Archive: a})
	reads := a.during(func() {
		if _, err := other.Recall(t.Context(), "s", "turn:1"); err != nil {
			t.Error(err)
		}
	})
	headers := 0
	for _, read := range reads {
		if ok, _ := path.Match("turns-*.idx 0 *", read); ok {
			headers++
		}
	}
	if headers != 7 { // 31, 30, 29, 28, 24, 20, 16
		t.Errorf("%d headers were read: %v, want 7", headers, reads)
	}
}

// A manager without any state finds every message that chained compactions of any
// preset removed from random histories.
func TestPropertyRemovedTextIsRecalled(t *testing.T) {
	n := samples.Of(40)
	if soak() {
		n = 2_000
	}
	out := 0
	for seed := range uint64(n) {
		out += evictAndRecall(t, seed+1)
	}
	t.Logf("%d sessions, seeds from 1: %d messages were taken out", n, out)
	if out < 10*n {
		t.Errorf("%d sessions had %d messages taken out", n, out)
	}
}

// mediaIn matches the answer of a recall for a picture, a sound or a file, which it
// can't return.
var mediaIn = regexp.MustCompile(`\[(?:image|audio|file)(?:, [^\n]*)?; it can't be returned as text: the archive has it, see compactctl archive export\]`)

func withoutMedia(text string) string { return mediaIn.ReplaceAllString(text, "") }

// withoutOldest returns a history without the messages before some user message.
func withoutOldest(h []message.Message, rng *rand.Rand) []message.Message {
	if len(h) < 4 {
		return h
	}
	from := rng.IntN(len(h) / 2)
	for from < len(h) && h[from].Role != message.RoleUser {
		from++
	}
	first := 0
	for first < from && h[first].Role == message.RoleSystem {
		first++
	}
	return slices.Concat(h[:first], h[from:])
}

func evictAndRecall(t *testing.T, seed uint64) int {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 11))
	c, err := compact.Preset(compact.Presets()[rng.IntN(len(compact.Presets()))])
	if err != nil {
		t.Fatal(err)
	}
	a := memory.New()
	c.Model, c.MaxContextTokens, c.Archive, c.Redaction.Enabled = "gpt-4", 6_000+rng.IntN(20_000), a, false
	r := newRig(t, c)
	gone := map[string]message.Message{}
	history, keep, trims := histgen.Random(rng).History(rng), rng.IntN(2) == 0, seed%3 == 0
	for range 1 + rng.IntN(6) {
		res, err := r.Preflight(t.Context(), "s", history)
		if err != nil && !errors.Is(err, compact.ErrInsufficientBudget) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, d := range res.Decisions {
			if d.Decision != policy.Kept {
				gone[testkey.Sealed(history[d.Index].Fingerprint()).String()] = history[d.Index]
			}
		}
		if keep {
			history = res.Messages
		}
		if trims {
			history = withoutOldest(history, rng)
		}
		history = histgen.Grow(history, rng)
	}
	other := newRig(t, compact.Config{Archive: a})
	for fp, m := range gone {
		texts := make([]string, len(m.Parts))
		for i, p := range m.Parts {
			if texts[i] = p.Text; p.Kind == message.KindToolCall {
				texts[i] = p.Name + " " + string(p.Args)
			}
		}
		got, err := other.Recall(t.Context(), "s", fp)
		got = withoutMedia(got)
		want := string([]rune(strings.Join(texts, "\n"))) // JSON has no bytes that are not text
		if err != nil || got != want {
			t.Errorf("seed %d (%s, keep %v): %s message: %.80q, %v; want %.80q", seed, c.Preset, keep, m.Role, got, err, want)
		}
	}
	if len(gone) > 0 {
		report, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Refs: recall.Refs})
		if err != nil || !report.OK() {
			t.Errorf("seed %d (%s, keep %v): %v, %v; want no error and no problems", seed, c.Preset, keep, err, report.Problems)
		}
	}
	return len(gone)
}
