package compact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/flaky"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
)

// The power fails during each change of an agent that stores with a preset, plain or
// encrypted. Another process continues. It sends the views that an agent without a loss
// sends, the provider accepts them, and the archive verifies, both before and after the
// agent continues.
func TestPowerLossChangesNoView(t *testing.T) {
	every := 1
	if !soak() {
		every = samples.Every(20)
	}
	for i, preset := range []string{"masking", "economy", "graduated", "gateway"} {
		for _, sealed := range []bool{false, true} {
			o := outages(t, preset, sealed)
			for j, loss := range []flaky.Loss{flaky.LosesAll, flaky.LosesHalf, flaky.LosesText, flaky.LosesNone} {
				t.Run(fmt.Sprintf("%s/encrypted %v/%s", preset, sealed, loss), func(t *testing.T) {
					o, at := o.with(t, loss), (7*i+3*j)%every
					for (at < o.changes || soak()) && o.at(at) {
						at += every
					}
					if at < every {
						t.Errorf("an agent makes fewer than %d changes, want at least %d", at, every)
					}
				})
			}
		}
	}
}

// outage is an agent of a machine that loses power.
type outage struct {
	t      *testing.T
	preset string
	loss   flaky.Loss
	over   func(storage.Archive) storage.Archive

	// of an agent without a loss
	want    []string // views
	changes int
}

func outages(t *testing.T, preset string, sealed bool) *outage {
	t.Helper()
	o := &outage{t: t, preset: preset, over: func(a storage.Archive) storage.Archive { return a }}
	if sealed {
		_, keys := ageKeys(t)
		o.over = func(a storage.Archive) storage.Archive { return crypt.New(a, keys) }
	}
	const never = 1 << 30
	disk := flaky.NewOutage(memory.New(), never, flaky.LosesNone, anyBlob(t))
	calm := o.agent(disk)
	for n := range outageRounds + 5 {
		o.want = append(o.want, bytesOf(calm.preflight(outageHistory(n)).Messages))
		if n == outageRounds-1 {
			o.changes = never - disk.Left()
		}
	}
	return o
}

// with returns the same agent for a kind of loss.
func (o outage) with(t *testing.T, loss flaky.Loss) *outage {
	o.t, o.loss = t, loss
	return &o
}

func (o *outage) agent(a storage.Archive) *rig {
	c, err := compact.Preset(o.preset)
	if err != nil {
		o.t.Fatal(err)
	}
	c.Archive = o.over(a)
	switch c.MaxContextTokens = 3_000; o.preset {
	case "economy":
		c.Prices = sonnet
	case "masking":
		c.MaxContextTokens = 6_000
	case "gateway":
		c.MaxContextTokens = 12_000
	}
	return newRig(o.t, c)
}

// anyBlob returns a function that makes a blob of any string.
func anyBlob(t *testing.T) func(string) storage.Blob {
	t.Helper()
	plain, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	return func(s string) storage.Blob { return storage.Redacted(plain.Text(s)) }
}

// outageRounds is the number of calls of an agent.
const outageRounds = 26

// at lets the power fail during a change. It returns false if there are fewer changes.
func (o *outage) at(change int) bool {
	o.t.Helper()
	disk := memory.New()
	cut := flaky.NewOutage(disk, change, o.loss, anyBlob(o.t))
	first := o.agent(cut)
	calls := 0
	for n := range outageRounds {
		res, err := first.Preflight(context.Background(), "s", outageHistory(n))
		if err != nil || cut.Over() {
			break
		}
		if bytesOf(res.Messages) != o.want[n] {
			o.t.Fatalf("change %d: call %d has another view without a loss", change, n)
		}
		if calls = n; n%5 == 0 {
			_ = first.Flush(context.Background()) // the power may fail in it
		}
	}
	_ = first.Close(context.Background()) // the machine is off
	o.verified(disk, change, "after the loss")
	next := o.agent(disk)
	if change%2 == 1 { // the provider's answer to the last call was lost, too
		res, err := next.Preflight(context.Background(), "s", outageHistory(calls))
		if err != nil {
			o.t.Fatalf("change %d: call %d again: %v", change, calls, err)
		}
		o.legal(res.Messages, change, calls)
	}
	for n := calls + 1; n < len(o.want); n++ {
		res, err := next.Preflight(context.Background(), "s", outageHistory(n))
		if err != nil {
			o.t.Fatalf("change %d: call %d: %v", change, n, err)
		}
		if bytesOf(res.Messages) != o.want[n] {
			o.t.Errorf("change %d: call %d has another view after the loss, step %d", change, n, res.Step)
		}
		o.legal(res.Messages, change, n)
	}
	if err := next.Close(context.Background()); err != nil {
		o.t.Errorf("change %d: closing: %v", change, err)
	}
	o.verified(disk, change, "after the agent continued")
	return cut.Over()
}

func outageHistory(rounds int) []message.Message { return loop(rounds, 150) }

func (o *outage) legal(view []message.Message, change, call int) {
	o.t.Helper()
	messages := strings.ReplaceAll(strings.TrimSuffix(bytesOf(view), "\n"), "\n", ",")
	for _, refused := range provider.NewJudge(provider.Chat).Judge([]byte(`{"model":"gpt-4","messages":[` + messages + `]}`)) {
		o.t.Errorf("change %d: the provider refuses call %d: %v", change, call, refused)
	}
}

func (o *outage) verified(disk *memory.Archive, change int, when string) {
	o.t.Helper()
	sound(o.t, o.over(disk), change, when)
}

// The power fails during each change of a scrub or an erase, plain or encrypted. The agent
// continues, the operation is called again, and the archive verifies.
func TestPowerLossDuringAnOperation(t *testing.T) {
	every := 1
	if !soak() {
		every = samples.Every(3)
	}
	for i, op := range []string{"scrub", "erase"} {
		for _, sealed := range []bool{false, true} {
			for j, loss := range []flaky.Loss{flaky.LosesAll, flaky.LosesHalf, flaky.LosesText, flaky.LosesNone} {
				for at := (i + j) % every; !t.Failed(); at += every {
					reached := false
					synctest.Test(t, func(t *testing.T) { reached = lossDuring(t, op, sealed, loss, at) })
					if !reached {
						break
					}
				}
			}
		}
	}
}

func lossDuring(t *testing.T, op string, sealed bool, loss flaky.Loss, at int) bool {
	ctx, disk := context.Background(), memory.New()
	over := func(a storage.Archive) storage.Archive { return a }
	if sealed {
		_, keys := ageKeys(t)
		over = func(a storage.Archive) storage.Archive { return crypt.New(a, keys) }
	}
	history := leakyLoop()
	work := func(r *rig) string {
		t.Helper()
		for range 6 {
			history = append(history, round(20+len(history), 200)...)
		}
		res, err := r.ManualCompact(ctx, "s", history, "test")
		if err != nil || res.Step == 0 {
			t.Fatalf("%s, encrypted %v, %s, change %d: the agent: step %d, %v", op, sealed, loss, at, res.Step, err)
		}
		return bytesOf(res.Messages)
	}
	first := newRig(t, compact.Config{Archive: over(disk)})
	work(first)
	work(first)
	if err := first.Close(ctx); err != nil {
		t.Fatal(err)
	}
	cut := flaky.NewOutage(disk, at, loss, anyBlob(t))
	_ = operations[op](ctx, over(cut)) // any outcome
	if err := operations[op](ctx, over(disk)); err != nil && !(op == "erase" && errors.Is(err, storage.ErrNotExist)) {
		t.Errorf("%s, encrypted %v, %s, change %d: called again: %v", op, sealed, loss, at, err)
	}
	sound(t, over(disk), at, "then")
	next := newRig(t, compact.Config{Archive: over(disk)})
	view := work(next)
	if err := next.Close(ctx); err != nil {
		t.Fatal(err)
	}
	res, err := newRig(t, compact.Config{Archive: over(disk)}).Preflight(ctx, "s", history)
	if err != nil || bytesOf(res.Messages) != view {
		t.Errorf("%s, encrypted %v, %s, change %d: another process has another view, %v", op, sealed, loss, at, err)
	}
	sound(t, over(disk), at, "after the agent continued")
	return cut.Over()
}
