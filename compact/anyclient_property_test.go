package compact_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/flaky"
	"github.com/agentcompact/compact/internal/histgen"
	"github.com/agentcompact/compact/internal/invariant"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
	"github.com/agentcompact/compact/strategy"
)

// Clients do arbitrary things with their histories: they keep the view or not, drop the oldest messages,
// go back and continue from there, change an old message, compact by hand, change preset and window,
// cancel calls, and call from two processes, one after the other or at once. Operators scrub, also
// during calls and until the scrub dies, and erase. A process dies now and then, and the archive, the
// model for summaries and the memory for sessions fail. Every message that a view lacks can be recalled
// and is found by a search, in this process and in others. Other processes make the same view, and the
// archive verifies.
func TestPropertyWhateverClientsDoIsRecalled(t *testing.T) {
	n := 12
	switch {
	case soak():
		n = 4_000
	case testing.Short():
		n = 6
	case samples.All():
		n = 80
	}
	out, did := 0, calls{}
	seeds := samples.Seeds(n)
	for _, seed := range seeds {
		// Each session is a test of its own that closes its managers, which would otherwise hold
		// gigabytes.
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			run := func(t *testing.T) {
				c := newClients(t, seed)
				for range 2 + c.rng.IntN(14) {
					c.nextCalls()
				}
				c.end()
				out, did = out+len(c.gone), did.plus(c.calls)
			}
			if operated(seed) { // waiting for a dead scrub takes seconds
				synctest.Test(t, run)
				return
			}
			run(t)
		})
		if t.Failed() && !soak() {
			break
		}
	}
	t.Logf("%d sessions: %d messages were taken out; %+v", len(seeds), out, did)
	if !samples.Chosen() && (out < 10*n || did.steps < n || did.insufficient > did.all/4 || did.unarchived > did.all/4 || did.earlier > did.insufficient/50) {
		t.Errorf("%d sessions had %d messages taken out; %+v", n, out, did)
	}
}

// calls counts the calls of clients, and how they ended.
type calls struct {
	all, steps, insufficient, unarchived int
	earlier                              int // insufficient because another preset worked on the session before
}

func (c calls) plus(o calls) calls {
	return calls{c.all + o.all, c.steps + o.steps, c.insufficient + o.insufficient, c.unarchived + o.unarchived, c.earlier + o.earlier}
}

// clients are the agents of one session and the processes that they call.
type clients struct {
	t         *testing.T
	seed      uint64
	rng       *rand.Rand
	archive   storage.Archive // without the wrappers
	faulty    *flaky.Archive  // as the calls of clients see it
	redacts   bool
	ahead     atomic.Int64 // of the clock, ns
	config    compact.Config
	processes [2]*rig
	agents    []*client
	presets   int     // number of configured presets
	unaware   [2]bool // processes that have the erased session in memory, and don't know that it was erased
	spools    string  // folder of the spool before the archive, if any
	operated  bool    // operators scrub and erase
	// a scrub changed a summary, or died, so the view of a process can differ from the views of later
	// processes
	edited bool
	gone   map[string]lostMessage       // by fingerprint
	ours   map[message.Fingerprint]bool // placeholders and other texts that are only in views
	calls  calls
	mu     sync.Mutex
	did    []string // guarded by mu
}

// lostMessage is a message that a view lacked, with its call.
type lostMessage struct {
	message.Message
	by string
}

// client is one agent and its history.
type client struct {
	name     string
	history  []message.Message
	previous []message.Message // history before the last change
	keeps    bool              // the client continues with the returned view
	raced    bool              // the call was one of two concurrent ones
}

func newClients(t *testing.T, seed uint64) *clients {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 12))
	c := &clients{t: t, seed: seed, rng: rng, archive: memory.New(), operated: operated(seed), gone: map[string]lostMessage{}, ours: map[message.Fingerprint]bool{}}
	if rng.IntN(8) == 0 {
		c.archive = folder(t)
	}
	c.faulty = flaky.New(c.archive, rand.New(rand.NewPCG(seed, 13)))
	c.faulty.Reads = rng.IntN(2) == 0
	for i := range 1 + rng.IntN(2) {
		c.agents = append(c.agents, &client{name: []string{"", "second"}[i], history: histgen.Random(rng).History(rng), keeps: rng.IntN(3) == 0})
	}
	c.redacts = rng.IntN(4) == 0
	if seed%4 == 2 {
		c.spools = t.TempDir()
	}
	c.configure()
	c.start(0)
	c.start(1)
	return c
}

func folder(t *testing.T) storage.Archive {
	t.Helper()
	a, err := fs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// configure chooses a preset, a window, a summarizer, and the limits of memory.
func (c *clients) configure() {
	preset := compact.Presets()[c.rng.IntN(len(compact.Presets()))]
	config, err := compact.Preset(preset)
	if err != nil {
		c.t.Fatal(err)
	}
	config.Model, config.MaxContextTokens, config.Archive, config.Redaction.Enabled = propertyModel, 5_000+c.rng.IntN(20_000), c.faulty, c.redacts
	config.Storage.Erased = "new"
	config.Now = func() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }
	writer := ""
	if c.rng.IntN(4) == 0 {
		config.Summarize, writer = &flakySummarizer{}, ", a model writes"
	}
	if c.rng.IntN(4) == 0 {
		config.Sessions.MaxBytes = 1 // each session is read again
	}
	if c.rng.IntN(4) == 0 {
		config.Storage.Repeat = "full"
	}
	c.config = config
	c.presets++
	c.note("%s at %d%s", preset, config.MaxContextTokens, writer)
}

// flakySummarizer is a model that writes summaries, and sometimes fails.
type flakySummarizer struct{ counting }

func (m *flakySummarizer) Summarize(ctx context.Context, r strategy.Request) (strategy.Draft, error) {
	if m.calls.Load()%5 == 3 {
		m.calls.Add(1)
		return strategy.Draft{}, errors.New("model overloaded")
	}
	return m.counting.Summarize(ctx, r)
}

func (c *clients) start(i int) { c.processes[i], c.unaware[i] = c.process(), false }

// process starts a process. The spools of all processes have the same folder.
func (c *clients) process() *rig {
	c.t.Helper()
	config := c.config
	if c.spools != "" {
		s, err := spool.Open(c.spools, c.faulty, &spool.Options{Passive: true, Blind: true})
		if err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(func() { _ = s.Close(context.Background()) })
		config.Archive = s
	}
	return newRig(c.t, config)
}

func (c *clients) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did = append(c.did, fmt.Sprintf(format, args...))
}

func (c *clients) fail(format string, args ...any) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Errorf("seed %d: %s\n  after: %s", c.seed, fmt.Sprintf(format, args...), strings.Join(c.did, ", "))
}

// visit is one call of one agent.
type visit struct {
	a       *client
	process int
	manual  bool
	late    time.Duration
	givesUp time.Duration     // time after which a preceding call is canceled; 0 = there is none
	first   []message.Message // its history

	before []message.Message
	res    *compact.Result
	err    error
}

func (c *clients) visit(a *client) *visit {
	v := &visit{a: a, process: c.rng.IntN(2), manual: c.rng.IntN(8) == 0, late: time.Duration(c.rng.IntN(3_000)) * time.Microsecond}
	if c.rng.IntN(5) == 0 {
		v.givesUp, v.first = time.Duration(c.rng.IntN(8_000))*time.Microsecond, a.history
		if c.rng.IntN(2) == 0 && len(a.previous) > 0 {
			v.first = a.previous
		}
		c.note("%q gives up a call of %d messages", a.name, len(v.first))
	}
	return v
}

func (v *visit) perform(m *rig) {
	v.before = slices.Clone(v.a.history)
	call := func(ctx context.Context, session string, history []message.Message, with ...compact.Option) (*compact.Result, error) {
		return reusing(history, func(mine []message.Message) (*compact.Result, error) {
			if v.manual {
				return m.ManualCompact(ctx, session, mine, "", with...)
			}
			return m.Preflight(ctx, session, mine, with...)
		})
	}
	if v.givesUp > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), v.givesUp)
		_, _ = call(ctx, "s", v.first, compact.WithAgent(v.a.name))
		cancel()
	}
	v.res, v.err = call(context.Background(), "s", v.a.history, compact.WithAgent(v.a.name))
}

// nextCalls changes the histories of agents and makes their calls: of one agent, or of all at once
// and of each twice, over an archive that sometimes fails.
func (c *clients) nextCalls() {
	c.t.Helper()
	if c.rng.IntN(4) == 0 {
		rate := 2 + c.rng.IntN(20)
		c.faulty.Fails(rate)
		c.note("the archive fails at %d %%", rate)
	}
	if c.operated && c.rng.IntN(6) == 0 {
		c.operation(false)()
	}
	if c.rng.IntN(4) > 0 {
		a := c.agents[c.rng.IntN(len(c.agents))]
		c.prepare(a)
		v := c.visit(a)
		v.perform(c.processes[v.process])
		c.faulty.Fails(0)
		switch made := c.made(v); {
		case made && c.edited:
			c.elsewhere(v.a, v.before, nil)
		case made:
			c.again(v)
		}
		c.goesOn(v)
		return
	}
	var all []*visit
	for _, a := range c.agents {
		c.prepare(a)
		all = append(all, c.visit(a), c.visit(a))
	}
	var done sync.WaitGroup
	for _, v := range all {
		m := c.processes[v.process]
		done.Go(func() { time.Sleep(v.late); v.perform(m) })
	}
	if c.operated && c.rng.IntN(3) == 0 {
		late, operate := time.Duration(c.rng.IntN(3_000))*time.Microsecond, c.operation(true)
		done.Go(func() { time.Sleep(late); operate() })
	}
	done.Wait()
	c.faulty.Fails(0)
	c.note("at once:")
	stepped := func(v *visit) bool { return v.err == nil && v.res.Step > 0 && !v.manual }
	for i, v := range all {
		c.made(v)
		if w := all[i&^1]; !c.edited && stepped(v) && stepped(w) && !identical(v.res.Messages, w.res.Messages) {
			c.fail("%q gets two views at once, of steps %d and %d", v.a.name, w.res.Step, v.res.Step)
		}
	}
	for _, v := range all {
		c.elsewhere(v.a, v.before, nil)
	}
	for _, v := range all {
		v.a.raced = v.a.keeps
		c.goesOn(v)
	}
}

// goesOn ends a call: an agent may keep its view, and may recall missing messages.
func (c *clients) goesOn(v *visit) {
	c.t.Helper()
	if c.rng.IntN(6) == 0 {
		c.recallSome(c.processes[v.process], 3)
	}
	if v.a.keeps && v.err == nil {
		v.a.history = v.res.Messages
	}
}

// made compares a call with the promises, and reports whether it made a view.
func (c *clients) made(v *visit) bool {
	c.t.Helper()
	res := v.res
	c.note("%q calls %d, by hand %v", v.a.name, v.process, v.manual)
	if !identical(v.before, v.a.history) {
		c.fail("the history was modified")
	}
	c.calls.all++
	switch err := v.err; {
	case errors.Is(err, compact.ErrInsufficientBudget):
		c.calls.insufficient++
		c.refused(v)
		return false
	case errors.Is(err, compact.ErrArchiveFailed) && errors.Is(err, flaky.Err):
		c.calls.unarchived++
		if c.note("%v", err); !identical(res.Messages, v.before) {
			c.fail("a call that failed returned a view other than the history")
		}
		return false
	case err != nil:
		c.fail("%v", err)
		return false
	}
	c.note("step %d of %d messages", res.Step, len(v.before))
	if res.Step > 0 {
		c.calls.steps++
		c.unaware[v.process] = false
	}
	if c.unaware[v.process] {
		return false // the process may still use the view from before the erase
	}
	for _, d := range res.Decisions {
		was := v.before[d.Index]
		// An earlier summary is in its ledger. A step that another process made of the whole
		// history contains the original of a placeholder in an earlier view, but that process
		// never saw the placeholder.
		if d.Decision == policy.Kept || policy.IsSummary(was) || (res.Step == 0 || v.a.raced) && c.ours[was.Fingerprint()] {
			continue
		}
		c.gone[testkey.Sealed(was.Fingerprint()).String()] =
			lostMessage{was, fmt.Sprintf("%v by call %d of %q, step %d", d.Decision, len(c.did), v.a.name, res.Step)}
	}
	theirs := map[message.Fingerprint]bool{}
	for _, m := range v.before {
		theirs[m.Fingerprint()] = true
	}
	for _, m := range res.Messages {
		if !theirs[m.Fingerprint()] {
			c.ours[m.Fingerprint()] = true
		}
	}
	return true
}

// refused judges a refusal with the independent floor. If a model fails, less can be removed,
// and the next call may succeed.
func (c *clients) refused(v *visit) {
	c.t.Helper()
	var b *compact.BudgetError
	if !errors.As(v.err, &b) {
		c.fail("%v", v.err)
		return
	}
	if c.config.Summarize != nil {
		return
	}
	cost := costOf(c.t, c.config)
	r := invariant.Refusal{
		In: v.before, Out: v.res.Messages, Pinned: pinnedByRole, Cost: cost.Message, Fixed: cost.Reply(), Budget: v.res.Budget, Tokens: b.Tokens, Plan: planOf(c.config),
	}
	r.Named, r.Parts = namedBy(b)
	found := invariant.CheckRefusal(r)
	if len(found) > 0 && c.presets > 1 && c.fits(v.before) {
		c.calls.earlier++
		return
	}
	for _, broken := range found {
		c.fail("refused without need: %v", broken)
	}
}

// fits reports whether a history fits in a session of its own. If another preset worked on
// the session before, its summary can be larger than the messages that this preset would
// leave.
func (c *clients) fits(history []message.Message) bool {
	c.t.Helper()
	fresh := c.config
	fresh.Archive = memory.New()
	_, err := newRig(c.t, fresh).Preflight(context.Background(), "s", history)
	return err == nil
}

// again repeats the call, in the process that made it and in new ones.
func (c *clients) again(v *visit) {
	c.t.Helper()
	m, res, with := c.processes[v.process], v.res, compact.WithAgent(v.a.name)
	mine, err := m.Preflight(context.Background(), "s", v.before, with)
	same := err == nil && identical(mine.Messages, res.Messages)
	if !same && (err != nil || res.Step > 0) {
		c.fail("the same process makes another view: %v; %v %v then %v %v", err, res.Triggered, res.Reason, mine.Triggered, mine.Reason)
		return
	}
	// A process with an open session checks for the steps of others when it makes a step, and
	// in the background during its other calls. So the second view may include the steps of
	// others while the first does not; then it equals the view of a process that has just
	// opened the session.
	if res.Step == 0 && same {
		res = nil
	} else if !same {
		res = mine
	}
	c.elsewhere(v.a, v.before, res)
}

// elsewhere compares the views that new processes make of a history with each other, and with
// the client's view.
func (c *clients) elsewhere(a *client, history []message.Message, res *compact.Result) {
	c.t.Helper()
	for _, m := range c.processes { // the flush makes it known to others that a reduction was stored too late for its call
		_ = m.Flush(context.Background())
	}
	var err error
	for range 2 {
		m := c.process()
		got, failed := m.Preflight(context.Background(), "s", history, compact.WithAgent(a.name))
		_ = m.Close(context.Background())
		if err != nil && (errors.Is(failed, compact.ErrInsufficientBudget) || c.config.Summarize != nil) {
			return // a failed model may now succeed
		}
		if failed != nil && !errors.Is(failed, compact.ErrInsufficientBudget) {
			c.fail("another process: %q: %v", a.name, failed)
			return
		}
		if res != nil && !identical(got.Messages, res.Messages) {
			c.fail("another process makes another view: of %q %d messages, %v %v, there %d, %v %v",
				a.name, len(res.Messages), res.Triggered, res.Reason, len(got.Messages), got.Triggered, got.Reason)
			return
		}
		res, err = got, failed
	}
}

func identical(a, b []message.Message) bool { return slices.EqualFunc(a, b, message.Identical) }

// prepare acts as an agent or an operator before a call.
func (c *clients) prepare(a *client) {
	h, rng := a.history, c.rng
	a.previous = h
	switch rng.IntN(14) {
	case 13:
		c.ahead.Add(int64(rng.IntN(120)) * int64(time.Minute)) // the cache may have expired
		c.note("%v later", time.Duration(c.ahead.Load()))
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
	with := " (reworded)"
	if c.operated && c.rng.IntN(3) > 0 {
		with = "\nthe word is " + leaked
	}
	m, err := h[i].WithPartText(0, h[i].Parts[0].Text+with)
	if err != nil {
		return h
	}
	c.note("message %d is another, %q", i, with)
	out := slices.Clone(h)
	out[i] = m
	return out
}

// recallSome recalls some of the removed messages, or all of them for 0.
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
	var found []lostMessage
	for _, fp := range keys {
		gone := c.gone[fp]
		texts := make([]string, len(gone.Parts))
		for i, p := range gone.Parts {
			if texts[i] = p.Text; p.Kind == message.KindToolCall {
				texts[i] = p.Name + " " + string(p.Args)
			}
		}
		got, err := m.Recall(context.Background(), "s", fp)
		want := string([]rune(strings.Join(texts, "\n"))) // JSON has no bytes that are not text
		got, want = withoutLeak(withoutMedia(got)), withoutLeak(want)
		if c.redacts && redactedOf(got, want) { // random text can look like a secret
			got = want
		}
		if err != nil || got != want {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			c.fail("%s message, %s: %v; from byte %d on %.80q, want %.80q", gone.Role, gone.by, err, at, got[at:], want[at:])
			return
		}
		found = append(found, gone)
	}
	c.searchFor(m, found)
}

// redactedOf reports whether got is want with some of its words replaced.
func redactedOf(got, want string) bool {
	for i, piece := range strings.Split(got, redact.Placeholder) {
		before, after, found := strings.Cut(want, piece)
		if !found || i == 0 && before != "" || len(before) > 200 {
			return false
		}
		want = after
	}
	return want == "" || strings.HasSuffix(got, redact.Placeholder)
}

// end recalls everything in new processes, and verifies the archive.
func (c *clients) end() {
	c.t.Helper()
	for _, p := range c.processes {
		if err := p.Flush(context.Background()); err != nil {
			c.fail("%v", err)
		}
	}
	c.recallSome(newRig(c.t, compact.Config{Archive: c.archive}), 0)
	for _, p := range c.processes {
		if err := p.Close(context.Background()); err != nil {
			c.fail("%v", err)
		}
	}
	if len(c.gone) == 0 {
		return
	}
	for _, name := range c.lives() {
		report, err := record.Verify(context.Background(), c.archive, name, record.VerifyOptions{Refs: recall.Refs, Edits: recall.EditRefs})
		if err != nil || !report.OK() {
			c.fail("%s: %v, %v", name, err, report.Problems)
		}
	}
}
