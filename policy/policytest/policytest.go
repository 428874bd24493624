// Package policytest checks stages against the contract of [policy.Stage].
//
//	func TestStage(t *testing.T) { policytest.Run(t, MyStage{}) }
//
// Each promise has its own subtest, which checks conversations of many shapes. A failure
// quotes the promise. Run the test with -race, because it calls stages concurrently.
package policytest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// Patience is the longest time that one call of a stage may take.
const Patience = 30 * time.Second

// Pins are the pinned roles in this suite, the same as in the presets.
var Pins = policy.Pins{message.RoleSystem, message.RoleDeveloper}

type testCase struct {
	name    string
	promise string
	check   func(s policy.Stage, v *policy.View) error // checks the promise on one conversation
}

var cases = []testCase{
	{"KeepsItsName", "Name never changes, and is not empty.", keepsName},
	{"DoesNotModifyTheView", "Propose must not modify the view.", leavesView},
	{"ProposesTheSame", "Propose proposes the same for the same view.", proposesSame},
	{"ServesManyAtOnce", "The methods may be called concurrently, for different views.", servesMany},
	{"ComesBack", "Propose returns soon, also when its context has ended.", comesBack},
	{"KeepsThePromises", "No edit breaks a promise of the view: pinned messages, the last user message, the open round and pairs stay, and no message grows.", keepsPromises},
	{"CanBeReplayed", "The recipes of applied edits can be replayed on the history, and lead to the same view.", replays},
	{"ComesToRest", "After some runs on its own output, a stage proposes no more changes.", comesToRest},
	{"AlternativesFreeNoFewer", "Each alternative frees at least as many tokens as the one before.", alternatives},
	{"TakesWhatItSays", "A Taker removes only messages that it names, and names only messages of the view.", takes},
}

// Run tests a stage. The stage must propose something for at least one of the
// conversations; otherwise Run fails, because nothing was tested.
func Run(t *testing.T, s policy.Stage) {
	t.Helper()
	if !t.Run("DoesNotPanic", func(t *testing.T) {
		if err := panics(s); err != nil {
			t.Errorf("Propose does not panic.\n%v", err)
		}
	}) {
		return // the panic would be reported for each promise and each conversation
	}
	offers := 0
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for name, v := range views() {
				p, err := ask(context.Background(), s, v.Copy())
				if err == nil {
					offers += len(p.Groups)
				}
				if err := c.check(s, v); err != nil {
					t.Errorf("%s\n%s: %v", c.promise, name, err)
				}
			}
		})
	}
	if offers == 0 {
		t.Errorf("stage %s proposed nothing for any of %d conversations, so it was not tested", s.Name(), len(conversations()))
	}
}

// panics returns the first panic of a stage, with its stack.
func panics(s policy.Stage) error {
	for name, v := range views() {
		var p *policy.PanicError
		if _, err := ask(context.Background(), s, v.Copy()); errors.As(err, &p) {
			return fmt.Errorf("%s: %w\n%s", name, err, p.Stack)
		}
	}
	return nil
}

// ask calls Propose of a stage that may panic or hang.
func ask(ctx context.Context, s policy.Stage, v *policy.View) (p policy.Proposal, err error) {
	type answer struct {
		p   policy.Proposal
		err error
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("the stage ended its goroutine")}
		defer func() {
			if r := recover(); r != nil {
				a.err = &policy.PanicError{Stage: s.Name(), Value: r, Stack: debug.Stack()}
			}
			done <- a
		}()
		a.p, a.err = s.Propose(ctx, v)
	}()
	select {
	case a := <-done:
		return a.p, a.err
	case <-time.After(Patience):
		return p, fmt.Errorf("no answer within %s", Patience)
	}
}

func keepsName(s policy.Stage, v *policy.View) error {
	before := s.Name()
	if _, err := ask(context.Background(), s, v.Copy()); err != nil {
		return err
	}
	if before == "" || s.Name() != before {
		return fmt.Errorf("the name is %q, then %q", before, s.Name())
	}
	return nil
}

func leavesView(s policy.Stage, v *policy.View) error {
	given, want := v.Copy(), v.Copy()
	if _, err := ask(context.Background(), s, given); err != nil {
		return err
	}
	for i := range want.Messages {
		if i >= len(given.Messages) || !reflect.DeepEqual(partsOf(given.Messages[i]), partsOf(want.Messages[i])) {
			return fmt.Errorf("message %d differs", i)
		}
	}
	for name, pair := range map[string][2]any{
		"Tokens": {given.Tokens, want.Tokens}, "Pinned": {given.Pinned, want.Pinned}, "Rounds": {given.Rounds, want.Rounds},
		"Turns": {given.Turns, want.Turns}, "Keep": {given.Keep, want.Keep}, "Goal": {given.Goal, want.Goal},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			return fmt.Errorf("%s differs", name)
		}
	}
	return nil
}

// partsOf returns all fields of a message that can be read.
func partsOf(m message.Message) []any {
	return []any{m.Role, m.Name, m.Protected, m.Parts, string(m.Raw())}
}

func proposesSame(s policy.Stage, v *policy.View) error {
	a, err := ask(context.Background(), s, v.Copy())
	if err != nil {
		return err
	}
	b, err := ask(context.Background(), s, v.Copy())
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(a.Groups, b.Groups) || a.Alternatives != b.Alternatives {
		return fmt.Errorf("two calls with the same view returned different proposals, of %d and %d groups", len(a.Groups), len(b.Groups))
	}
	return nil
}

func servesMany(s policy.Stage, v *policy.View) error {
	want, err := ask(context.Background(), s, v.Copy())
	if err != nil {
		return err
	}
	const many = 4
	errs := make([]error, many)
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			got, err := ask(context.Background(), s, v.Copy())
			if err == nil && len(got.Groups) != len(want.Groups) {
				err = fmt.Errorf("%d groups in one of several concurrent calls, %d in a single call", len(got.Groups), len(want.Groups))
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func comesBack(s policy.Stage, v *policy.View) error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ask(ctx, s, v.Copy()); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("with a context that has ended: %w", err)
	}
	return nil
}
