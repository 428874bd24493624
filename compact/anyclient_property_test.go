package compact_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
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
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// Clients do what they want with their histories: they keep the view or not, give up
// the oldest messages, go back and on from there, change an old message, compact by hand,
// change preset and window, and call from two processes of which one dies now and then.
// Whatever a view lacked is recalled, in the process and elsewhere, the other process
// makes the same view, and the archive verifies.
func TestPropertyWhateverClientsDoIsRecalled(t *testing.T) {
	n := samples.Of(120)
	switch {
	case soak():
		n = 4_000
	case testing.Short():
		n = 10
	}
	out, steps := 0, 0
	only, one := os.LookupEnv("COMPACT_SEED") // one session alone, to look into a failure
	for seed := range uint64(n) {
		if one && only != fmt.Sprint(seed) {
			continue
		}
		// A test of its own closes its managers, which would hold gigabytes together.
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newClients(t, seed)
			for range 2 + c.rng.IntN(14) {
				c.call()
			}
			c.end()
			out, steps = out+len(c.gone), steps+c.steps
		})
		if t.Failed() && !soak() {
			break
		}
	}
	t.Logf("%d sessions: %d messages were taken out in %d steps", n, out, steps)
	if out < 10*n || steps < n {
		t.Errorf("%d sessions had %d messages taken out in %d steps", n, out, steps)
	}
}

// clients are the agents of one session and the processes that they call.
type clients struct {
	t         *testing.T
	seed      uint64
	rng       *rand.Rand
	archive   storage.Archive
	config    compact.Config
	processes [2]*rig
	agents    []*client
	gone      map[string]message.Message // by fingerprint
	steps     int
	did       []string
}

// client is one agent and its history.
type client struct {
	name    string
	history []message.Message
	keeps   bool // it goes on with the view that it gets
}

func newClients(t *testing.T, seed uint64) *clients {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 12))
	c := &clients{t: t, seed: seed, rng: rng, archive: memory.New(), gone: map[string]message.Message{}}
	for i := range 1 + rng.IntN(2) {
		c.agents = append(c.agents, &client{name: []string{"", "second"}[i], history: histgen.Random(rng).History(rng), keeps: rng.IntN(3) == 0})
	}
	c.configure()
	c.start(0)
	c.start(1)
	return c
}

// configure picks a preset and a window.
func (c *clients) configure() {
	preset := compact.Presets()[c.rng.IntN(len(compact.Presets()))]
	config, err := compact.Preset(preset)
	if err != nil {
		c.t.Fatal(err)
	}
	config.Model, config.MaxContextTokens, config.Archive, config.Redaction.Enabled = "gpt-4", 5_000+c.rng.IntN(20_000), c.archive, false
	c.config = config
	c.note("%s at %d", preset, config.MaxContextTokens)
}

func (c *clients) start(i int) { c.processes[i] = newRig(c.t, c.config) }

func (c *clients) note(format string, args ...any) {
	c.did = append(c.did, fmt.Sprintf(format, args...))
}

func (c *clients) fail(format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("seed %d: %s\n  after: %s", c.seed, fmt.Sprintf(format, args...), strings.Join(c.did, ", "))
}

// call lets one agent call one process, after it did something to its history.
func (c *clients) call() {
	c.t.Helper()
	a := c.agents[c.rng.IntN(len(c.agents))]
	c.change(a)
	i := c.rng.IntN(2)
	m := c.processes[i]
	with := compact.WithAgent(a.name)
	before := slices.Clone(a.history)
	var res *compact.Result
	var err error
	if c.rng.IntN(8) == 0 {
		c.note("%q by hand in %d", a.name, i)
		res, err = m.ManualCompact(context.Background(), "s", a.history, "", with)
	} else {
		c.note("%q calls %d", a.name, i)
		res, err = m.Preflight(context.Background(), "s", a.history, with)
	}
	if err != nil {
		if !errors.Is(err, compact.ErrInsufficientBudget) {
			c.fail("%v", err)
		}
		return
	}
	c.note("step %d of %d messages", res.Step, len(a.history))
	if !identical(a.history, before) {
		c.fail("the history was modified")
	}
	if res.Step > 0 {
		c.steps++
	}
	for _, d := range res.Decisions {
		if d.Decision != policy.Kept && !policy.IsSummary(a.history[d.Index]) { // an earlier summary is in its ledger
			c.gone[testkey.Sealed(a.history[d.Index].Fingerprint()).String()] = a.history[d.Index]
		}
	}
	mine, err := m.Preflight(context.Background(), "s", a.history, with)
	if err != nil || !identical(mine.Messages, res.Messages) {
		c.fail("the same process makes another view: %v; %v %v then %v %v", err, res.Triggered, res.Reason, mine.Triggered, mine.Reason)
	}
	// A process that has the session open looks for the steps of others when it makes one,
	// and beside its other calls.
	other := newRig(c.t, c.config)
	again, err := other.Preflight(context.Background(), "s", a.history, with)
	if err == nil && res.Step == 0 {
		res, err = newRig(c.t, c.config).Preflight(context.Background(), "s", a.history, with)
	}
	if err != nil || !identical(again.Messages, res.Messages) {
		c.fail("the other process makes another view: %v; %d messages, %v %v, there %d, %v %v", err, len(res.Messages), res.Triggered, res.Reason, len(again.Messages), again.Triggered, again.Reason)
	}
	if c.rng.IntN(6) == 0 {
		c.recallSome(m, 3)
	}
	if a.keeps {
		a.history = res.Messages
	}
}

func identical(a, b []message.Message) bool { return slices.EqualFunc(a, b, message.Identical) }

// change is what an agent or an operator does before a call.
func (c *clients) change(a *client) {
	h, rng := a.history, c.rng
	switch rng.IntN(12) {
	case 0:
		a.history = withoutOldest(h, rng)
		c.note("%q gives up %d", a.name, len(h)-len(a.history))
	case 1:
		if len(h) > 2 {
			a.history = slices.Clone(h[:1+rng.IntN(len(h)-1)])
			c.note("%q goes back by %d", a.name, len(h)-len(a.history))
		}
	case 2:
		a.history = c.reword(h)
	case 3:
		c.configure()
		c.start(0)
		c.start(1)
	case 4:
		i := rng.IntN(2)
		if rng.IntN(2) == 0 {
			_ = c.processes[i].Close(context.Background())
		}
		c.start(i)
		c.note("%d starts again", i)
	}
	if rng.IntN(6) > 0 {
		a.history = histgen.Grow(a.history, rng)
	}
}

// reword changes one message of a history.
func (c *clients) reword(h []message.Message) []message.Message {
	if len(h) == 0 {
		return h
	}
	i := c.rng.IntN(len(h))
	if len(h[i].Parts) == 0 || h[i].Parts[0].Kind != message.KindToolResult && h[i].Parts[0].Kind != message.KindText {
		return h
	}
	m, err := h[i].WithPartText(0, h[i].Parts[0].Text+" (reworded)")
	if err != nil {
		return h
	}
	c.note("message %d is another", i)
	out := slices.Clone(h)
	out[i] = m
	return out
}

// recallSome asks for some of what is gone, or with 0 for all.
func (c *clients) recallSome(m *rig, most int) {
	c.t.Helper()
	keys := slices.Sorted(func(yield func(string) bool) {
		for fp := range c.gone {
			if !yield(fp) {
				return
			}
		}
	})
	c.rng.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
	if most > 0 {
		keys = keys[:min(most, len(keys))]
	}
	for _, fp := range keys {
		gone := c.gone[fp]
		texts := make([]string, len(gone.Parts))
		for i, p := range gone.Parts {
			if texts[i] = p.Text; p.Kind == message.KindToolCall {
				texts[i] = p.Name + " " + string(p.Args)
			}
		}
		got, err := m.Recall(context.Background(), "s", fp)
		want := string([]rune(strings.Join(texts, "\n"))) // JSON has no bytes that are no text
		if got = withoutMedia(got); err != nil || got != want {
			c.fail("%s message: %.80q, %v; want %.80q", gone.Role, got, err, want)
			return
		}
	}
}

// end asks for everything elsewhere, and verifies the archive.
func (c *clients) end() {
	c.t.Helper()
	c.recallSome(newRig(c.t, compact.Config{Archive: c.archive}), 0)
	for _, p := range c.processes {
		if err := p.Close(context.Background()); err != nil {
			c.fail("%v", err)
		}
	}
	if len(c.gone) == 0 {
		return
	}
	report, err := record.Verify(c.t.Context(), c.archive, "s", record.VerifyOptions{Refs: recall.Refs, Edits: recall.EditRefs})
	if err != nil || !report.OK() {
		c.fail("%v, %v", err, report.Problems)
	}
}
